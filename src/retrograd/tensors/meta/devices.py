"""What functions refuse of tensors with and without memory together, in the order in which PyTorch compares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from ...foundations.errors import noted
from ...kernels.meta import MetaArray
from ..functions.networks.normalization import verify_batch_size
from ..state.base import TensorBase

# Functions that take tensors with and without memory together: products, indices, copies, and facts. The memo of a deep
# copy has the tensors that were copied before.
_MIXED = frozenset((
    "mm", "bmm", "matmul", "__matmul__", "__rmatmul__", "baddbmm", "addbmm", "copy_", "__deepcopy__",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "__setitem__",
    "to", "type_as", "expand_as", "view_as", "reshape_as",
    "is_same_size", "result_type", "can_cast", "swap_tensors",
    "index_put_", "index_put", "broadcast_tensors"))
# Functions that read a tensor at places: the tensor may be without memory, and the numbers of the places are not used.
_INDEXING = frozenset((
    "__getitem__", "index_select", "embedding", "__setitem__", "gather", "take", "scatter", "scatter_add",
    "scatter_reduce", "index_reduce", "index_put_", "index_put", "embedding_bag", "repeat_interleave"))
# The arguments that PyTorch compares, as pairs: the tensor whose device is expected, and the tensor that is checked.
_PAIRS = {
    "linear": (("input", "bias"),),
    "addmm": (("mat1", "input"),),
    "mv": (("input", "vec"),),
    "addmv": (("mat", "input"), ("mat", "vec")),
    "nll_loss": (("input", "weight"), ("target", "input")),
    "cross_entropy": (("input", "weight"), ("target", "input")),
    "kl_div": (("target", "input"),),
    "binary_cross_entropy": (("target", "input"),),
    "binary_cross_entropy_with_logits": (("target", "input"),),
    "masked_fill": (("mask", "input"),),
    "normal": (("std", "mean"),),
    "prelu": (("weight", "input"),),
}
_RECURRENT = frozenset(("gru", "lstm", "rnn_tanh", "rnn_relu"))
_OWN_WORDS = {
    "meshgrid": "meshgrid expects all tensors to have the same device",
    "cartesian_prod": "meshgrid expects all tensors to have the same device",
    "quantile": "quantile() q tensor must be on the same device as the input tensor",
    "nanquantile": "quantile() q tensor must be on the same device as the input tensor",
}


def is_meta(value: Any) -> bool:
    """Whether a value is a tensor without memory."""
    array: Any = value._array if isinstance(value, TensorBase) else None
    return type(array) is MetaArray


def refuse_devices(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any],
                   given: Sequence[TensorBase]) -> None:
    """Raises PyTorch's error if the function does not take tensors with and without memory together, as it was given.

    A 0-d tensor on the CPU fits to all.
    """
    if name == "__set__" or len({is_meta(x) for x in given}) < 2:
        return
    named = signature(function).bind(*args, **kwargs).arguments
    if "out" in kwargs:
        _refuse_out(kwargs["out"], [x for x in given if x is not kwargs["out"]])
    elif name in ("backward", "grad"):
        _refuse_gradients(*[_listed(list(named.values())[place]) for place in (0, 1 if name == "backward" else 2)])
    elif name in _RECURRENT:
        _refuse_states(args)
    elif name in _PAIRS and not (name == "cross_entropy" and named["target"].is_floating_point()):
        for pair in _PAIRS[name]:
            _refuse_mixture([named[key] for key in pair if isinstance(named.get(key), TensorBase)])
        if name == "masked_fill" and is_meta(named["value"]) != is_meta(named["input"]):
            raise RuntimeError("Expected `value` to be on same device as `a`")
        if name == "linear" and named["weight"].ndim == 1:
            _refuse_mixture([named["input"], named["weight"]])
    elif name in ("matmul", "__matmul__") and given[-1].ndim == 1:
        _refuse_mixture(given)
    elif name == "repeat_interleave" and named.get("output_size") is None:
        return                                               # without a size, the counts must have numbers
    elif name in _INDEXING and not is_meta(given[name in ("embedding", "embedding_bag")]):
        raise noted(_on(given[-1], given[0]), because="indices into a tensor with memory must have numbers")
    elif name not in _MIXED and name not in _INDEXING and not (is_meta(given[0]) and _writes(name)):
        _refuse_in_own_words(name, given)
        if name == "batch_norm" and named.get("training"):
            verify_batch_size(named["input"].shape)
        _refuse_mixture(given)


def _writes(name: str) -> bool:
    return (name.endswith("_") and not name.endswith("__")) or name.startswith("__i")


def _device(tensor: TensorBase) -> str:
    return "meta" if is_meta(tensor) else "cpu"


def _on(tensor: TensorBase, other: Any) -> RuntimeError:
    """The error for a tensor that is not on the device of the other."""
    return noted(
        RuntimeError(f"Tensor on device {_device(tensor)} is not on the expected device {_device(other)}!"),
        instead="move one of the tensors with .to()")


def _refuse_mixture(given: Sequence[Any]) -> None:
    """Raises RuntimeError for the first tensor with dimensions that is not on the device of the first one."""
    meant = [x for x in given if is_meta(x) or x._array.ndim]
    for x in meant:
        if is_meta(x) != is_meta(meant[0]):
            raise _on(x, meant[0])


def _refuse_out(out: Any, given: Sequence[Any]) -> None:
    _refuse_mixture(given)
    if given and is_meta(given[0]) != is_meta(out):
        raise RuntimeError(f"Attempting to copy from device {_device(given[0])} to device {_device(out)}, but "
                           "cross-device copies are not allowed!")


def _refuse_gradients(outputs: Sequence[Any], gradients: Sequence[Any]) -> None:
    for place, (output, gradient) in enumerate(zip(outputs, gradients)):
        if isinstance(gradient, TensorBase) and is_meta(output) != is_meta(gradient):
            raise RuntimeError(f"invalid gradient at index {place} - expected device {_device(output)} but got "
                               f"{_device(gradient)}")


def _refuse_states(args: Sequence[Any]) -> None:
    """Raises RuntimeError for a state or a parameter of a recurrent network on another device than the input."""
    place = next(i for i, arg in enumerate(args) if isinstance(arg, bool))
    hidden, parameters = _listed(args[place - 2]), _listed(args[place - 1])
    for what, tensors in (("hidden", hidden), ("parameter", parameters)):
        for x in tensors:
            if is_meta(x) != is_meta(args[0]):
                raise RuntimeError(f"Input and {what} tensors are not at the same device, found input tensor at "
                                   f"{_device(args[0])} and {what} tensor at {_device(x)}")


def _refuse_in_own_words(name: str, given: Sequence[Any]) -> None:
    """Raises RuntimeError for functions that have a message of their own."""
    first, *others = [_device(x) for x in given]
    if name in _OWN_WORDS:
        raise RuntimeError(_OWN_WORDS[name])
    if name in ("index_add", "index_copy", "index_fill"):
        said = "index_copy" if name == "index_fill" else name
        raise RuntimeError(f"{said}(): self, index and source expected to be in the same device, but got (self) "
                           f"{first}, (index) {others[0]}, and (source) {[*others, first][1]}")
    if name == "tensor_split" and first == "cpu":
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta")
    if name == "take_along_dim":
        raise RuntimeError(f"Expected tensor to have {first} Device, but got tensor with {others[0]} Device (while "
                           "checking arguments for torch.take_along_dim():)")
    if name == "scaled_dot_product_attention":
        raise RuntimeError("Expected query, key, and value to have the same device type, but got query.device: "
                           f"{first} key.device: {others[0]} and value.device: {others[1]} instead.")


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]
