"""Names of functions: functions that need no sparse kernel, and PyTorch's names of the operators that others call."""

from __future__ import annotations

from typing import Any

from ..state.base import TensorBase

# Functions that look only at facts about a tensor, or are written with other functions.
AS_THEY_ARE = frozenset((
    "__len__", "__hash__", "__invert__", "__bool__", "__index__", "__int__", "__float__", "__complex__",
    "__torch_function__", "__format__", "_is_view", "backward", "cpu", "cuda", "dim", "element_size", "get_device",
    "grad_fn", "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_leaf", "is_neg",
    "is_same_size", "is_shared", "is_signed", "is_tensor", "ndimension", "nelement", "numel", "register_hook",
    "register_post_accumulate_grad_hook", "requires_grad_", "result_type", "retain_grad", "size", "share_memory_",
    "type_as", "typename", "pin_memory", "is_pinned", "can_cast", "promote_types", "as_subclass", "float", "double",
    "half", "int", "long", "short", "char", "byte", "bool", "cfloat", "cdouble", "unflatten",
    "softmin", "grad", "bfloat16", "atleast_1d", "atleast_2d", "atleast_3d", "hstack", "vstack", "dstack",
    "column_stack", "row_stack", "chain_matmul", "__dlpack__", "__dlpack_device__"))

_OF_TENSORS = ("eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor")
_DUNDERS = {f"__{name}__": name for name in ("eq", "ne", "lt", "le", "gt", "ge")}
# The operator that PyTorch names in its error, where the name is not that of the function.
_ATEN = {
    "clip": "clamp", "clip_": "clamp_",
    "softmax": "_softmax", "log_softmax": "_log_softmax", "mean": "mean.dim", "unique": "_unique2",
    "flatten": "view", "view_as": "view", "narrow": "as_strided", "__getitem__": "as_strided", "squeeze": "as_strided",
    "allclose": "eq.Tensor", "isclose": "eq.Tensor", "where": "where.self", "fill_": "fill_.Scalar",
    "new_ones": "fill_.Scalar", "new_full": "fill_.Scalar", "masked_fill": "masked_fill.Scalar",
    "masked_fill_": "masked_fill_.Scalar", "vector_norm": "linalg_vector_norm", "split": "as_strided",
    "chunk": "as_strided", "tensor_split": "as_strided", "unbind": "as_strided", "diagonal": "as_strided",
    "std": "std.correction", "var": "var.correction", "sort": "sort.stable",
    "count_nonzero": "count_nonzero.dim_IntList", "logical_not": "logical_not.out", "isfinite": "ne.Scalar",
    "diag": "diagonal_copy", "rand_like": "uniform_", "randn_like": "normal_", "inverse": "linalg_inv_ex",
    "svd": "_linalg_svd", "dropout": "bernoulli_.float",
}


def aten_name(name: str, args: tuple[Any, ...]) -> str:
    """PyTorch's name of the operator that a function calls with these arguments."""
    name = _DUNDERS.get(name, name)
    if name in _OF_TENSORS:
        return f"{name}.Tensor" if len(args) > 1 and isinstance(args[1], TensorBase) else f"{name}.Scalar"
    return _ATEN.get(name, name)
