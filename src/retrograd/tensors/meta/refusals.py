"""What functions refuse of meta tensors: operands with and without memory, and shapes that numbers would decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...foundations.dtypes import BOOL_
from ...kernels.meta import MetaArray
from ..state.base import TensorBase

NO_DATA = ("Cannot copy out of meta tensor; no data! Make a tensor of this shape with torch.empty_like(x, "
           "device='cpu'), or give a module memory with module.to_empty(device='cpu').")
_NO_ITEM = "Tensor.item() cannot be called on meta tensors. Only shapes and dtypes are known here."
_NONZERO = ("The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
            "data-independent implementation does not exist. The shape of the result depends on numbers, which a meta "
            "tensor has not.")
# Functions whose result depends on numbers, and PyTorch's names of the operators that they call.
_OF_NUMBERS = {
    "equal": "equal", "unique": "_unique2", "unique_consecutive": "unique_consecutive", "bincount": "bincount",
    "masked_select": "masked_select", "lstsq": "linalg_lstsq.out"}
# Functions that take tensors with and without memory together: products, indices, copies, and facts.
_MIXED = frozenset((
    "mm", "bmm", "matmul", "__matmul__", "__rmatmul__", "linear", "mv", "addmm", "baddbmm", "addmv", "addbmm", "copy_",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "__getitem__", "__setitem__", "index_select", "embedding", "to", "type_as", "expand_as", "view_as", "reshape_as",
    "is_same_size", "result_type", "can_cast", "swap_tensors", "backward", "grad", "index_put_", "index_put",
    "is_set_to"))
# Functions that take the first operand with memory and others without, and then leave the first as it is.
LEAVING = frozenset(("add_", "sub_", "mul_", "div_", "logical_and_", "logical_or_", "logical_xor_"))
_INDEXING = frozenset(("__getitem__", "index_select", "embedding", "__setitem__"))


def refuse(function: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any],
           given: Sequence[TensorBase]) -> None:
    """Raises PyTorch's error for a call that cannot be answered without numbers."""
    if name == "__set__":
        _refuse_assignment(function, *given)
    elif name == "copy_" and _is_meta(args[1]) and not _is_meta(args[0]):
        raise NotImplementedError(NO_DATA)
    elif name not in _MIXED and not (name.endswith("_") and _is_meta(given[0])):
        _refuse_mixture(given)
    elif not _is_meta(given[name == "embedding"]) and name in _INDEXING:
        raise RuntimeError("Tensor on device meta is not on the expected device cpu! Indices into a tensor with memory "
                           "must have numbers.")
    _refuse_numbers(name, args, kwargs)


def _refuse_numbers(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raises PyTorch's error for a function whose result, or its shape, depends on numbers."""
    if name in _OF_NUMBERS:
        raise NotImplementedError(
            f"aten::{_OF_NUMBERS[name]}: attempted to run this operator with Meta tensors, but there was no fake impl "
            "or Meta kernel registered. Its result depends on numbers, which a meta tensor has not.")
    if name == "nonzero" or name == "argwhere" or (name == "where" and len(args) + len(kwargs) == 1):
        raise NotImplementedError(_NONZERO)
    if name == "__getitem__":
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        if any([_is_meta(part) and part._array.dtype == BOOL_ for part in index]):
            raise NotImplementedError(_NONZERO)
    if name == "allclose" or (name == "one_hot" and len(args) + len(kwargs) == 1):
        raise RuntimeError(_NO_ITEM)
    if name == "repeat_interleave" and "output_size" not in kwargs and _is_meta((*args, None)[1]):
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")


def _is_meta(value: Any) -> bool:
    array: Any = value._array if isinstance(value, TensorBase) else None
    return type(array) is MetaArray


def _refuse_mixture(given: Sequence[TensorBase]) -> None:
    """Raises RuntimeError if tensors with dimensions are on different devices. 0-d tensors on the CPU fit to all."""
    meant = [x for x in given if _is_meta(x) or x._array.ndim]
    for x in meant:
        if _is_meta(x) != _is_meta(meant[0]):
            here, there = ("meta", "cpu") if _is_meta(x) else ("cpu", "meta")
            raise RuntimeError(f"Tensor on device {here} is not on the expected device {there}! Expected all tensors "
                               "to be on the same device: move one of them with .to().")


def _refuse_assignment(function: Any, tensor: TensorBase, *values: Any) -> None:
    """Raises RuntimeError for `.data` or `.grad` on another device than the tensor."""
    for value in values:
        if _is_meta(value) == _is_meta(tensor):
            continue
        if getattr(function.__self__.fget, "body", function).__name__ == "grad":
            here, there = ("meta", "cpu") if _is_meta(value) else ("cpu", "meta")
            raise RuntimeError(f"attempting to assign a gradient with device type '{here}' to a tensor with device "
                               f"type '{there}'. Please ensure that the gradient and the tensor are on the same device")
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                           "incompatible tensor type. One of them is on the device meta.")
