"""How PyTorch's errors show a function: a method or a function of C++, or a function of Python."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor

__all__ = ["implementation"]

# Methods of tensors that Python looks up by itself, and methods that are written in Python in PyTorch.
_SLOTS = frozenset(("__delitem__", "__getitem__", "__setitem__"))
_METHODS_OF_PYTHON = frozenset((
    "__array__", "__contains__", "__deepcopy__", "__dir__", "__dlpack__", "__dlpack_device__", "__floordiv__",
    "__format__", "__hash__", "__ipow__", "__iter__", "__len__", "__pow__", "__rdiv__", "__reduce_ex__", "__repr__",
    "__reversed__", "__rfloordiv__", "__rlshift__", "__rmatmul__", "__rmod__", "__rpow__", "__rrshift__",
    "__rsub__", "__rtruediv__", "backward", "dim_order", "eig", "index", "is_shared", "istft", "lstsq", "lu",
    "module_load", "norm", "register_hook", "register_post_accumulate_grad_hook", "reinforce", "resize",
    "resize_as", "share_memory_", "solve", "split", "stft", "storage", "storage_type", "symeig", "to_sparse_coo",
    "unflatten", "unique", "unique_consecutive"))
# Functions of torch that are written in Python in PyTorch, and functions of torch.nn.functional that are not.
_FUNCTIONS_OF_PYTHON = frozenset((
    "lobpcg", "split", "unravel_index", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "einsum", "meshgrid", "norm", "stft", "tensordot", "unique",
    "unique_consecutive"))
_BUILT_IN = frozenset((
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity",
    "gelu", "hardshrink", "linear", "log_sigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance",
    "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "scaled_dot_product_attention", "softplus", "softshrink"))


def implementation(function: Any) -> str:
    """The text that stands for a public function in PyTorch's errors."""
    name, place = getattr(function, "__name__", ""), f"{id(function):#x}"
    if getattr(Tensor, name, None) is function:
        if name in _METHODS_OF_PYTHON:
            return f"<function Tensor.{name} at {place}>"
        kind = "slot wrapper" if name in _SLOTS else "method"
        return f"<{kind} '{name}' of 'torch._C.TensorBase' objects>"
    if ".nn." in getattr(function, "__module__", ""):
        return f"<built-in function {name}>" if name in _BUILT_IN else f"<function {name} at {place}>"
    if getattr(function, "__module__", "").partition(".")[0] == __name__.partition(".")[0] and (
            name not in _FUNCTIONS_OF_PYTHON):
        return f"<built-in method {name} of type object at {place}>"
    return str(function)
