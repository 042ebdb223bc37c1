"""The sentences about what cannot be batched: numbers for Python, shapes that depend on numbers, writes.

Each is PyTorch's sentence. `unbatched` adds what a program can do as a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.errors import noted
from ...ops.tables import table

_ISSUES = "https://github.com/pytorch/pytorch/issues"
_LOOP = 'call vmap(..., fallback="loop"), which calls the function once for each sample, with tensors that have numbers'

ITEM = ("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
        "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere inside "
        "PyTorch internals, please file a bug report.")
BOOL = ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
        f"that yet, please file an issue at {_ISSUES} .")
DATA = "Cannot access data pointer of Tensor that doesn't have storage"
ESCAPED = ("Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
           "https://pytorch.org/functorch/stable/ux_limitations.html), or what was called cannot be computed for a "
           "batch.")
STORAGE = "Cannot access storage of BatchedTensorImpl"
MASK = ("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
        "with a boolean mask.")
SELECTED = ("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
            f"each batch this would return a differently shaped Tensor. Please file an issue at {_ISSUES} if you need "
            "this feature.")
_CHOSEN = (BOOL, MASK, SELECTED)


def unbatched(sentence: str, kind: type[Exception] = RuntimeError) -> Exception:
    """The error with this sentence, and what a program can do instead."""
    instead = f"{'choose with torch.where, or ' if sentence in _CHOSEN else ''}{_LOOP}"
    return noted(kind(sentence), because="a tensor inside of vmap is a batch", instead=instead)


def of_any_shape(name: str) -> str:
    """The sentence about an operator whose result has a shape that depends on the numbers."""
    return (f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            f"aten::{name}. Please file an issue at {_ISSUES} if you need this feature.")


def check_reach(x: Any, size: tuple[int, ...], stride: tuple[int, ...], start: int) -> None:
    """Raise RuntimeError if a sample's `as_strided` can read memory in which the sample has no element."""
    low, high = x.offset, x.offset + _span(x.shape, [step // x.itemsize for step in x.strides])
    first = low + start
    last = first + _span(size, stride)
    if 0 not in size and not low <= first <= last <= high:
        raise RuntimeError(
            f"result = tensor.as_strided({[*size]}, {[*stride]}, {first}) can access memory outside of `tensor`. "
            f"`result` can access some memory in range [{first}, {last}], but `tensor` can only access some memory in "
            f"range [{low}, {high}]. This is not supported inside of vmap, please try to rewrite the `as_strided` call "
            "as a sequence of PyTorch view operations")


def _span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """How many elements lie between the first element of a geometry and the end of its last."""
    return 0 if 0 in shape else 1 + sum([(n - 1) * step for n, step in zip(shape, strides, strict=True)])


_LEGACY_NAMES = {"channels_last": "ChannelsLast", "channels_last_3d": "ChannelsLast3d"}


def check_copied_format(name: str) -> None:
    """Raise RuntimeError if samples cannot be copied into the memory format of this name."""
    if name in _LEGACY_NAMES:
        raise RuntimeError("NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format "
                           f"torch.preserve_format or torch.contiguous_format (got {_LEGACY_NAMES[name]})")


def check_queried_format(name: str) -> None:
    """Raise RuntimeError if samples do not tell whether they lie in the memory format of this name."""
    if name != "contiguous_format":
        raise RuntimeError("NYI: querying is_contiguous inside of vmap for memory_format other than "
                           "torch.contiguous_format")


STATISTICS = ("Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
              "in place, were not batched.\nIf you are using a module and do not need eval mode, please set "
              "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, "
              "please see the functorch website for resources on how to patch your module to work with vmap")

_NAMED = "PyTorch's messages depend on the name alone"
_BROADCAST = table(
    "vmap refuses to write different samples over what all samples share; it says that their shape does not fit",
    dict.fromkeys(("add", "atan2", "copysign", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
                   "bitwise_right_shift"), True), because=_NAMED)
# Other writes have the name of the operator.
_WRITES = table("vmap refuses to write different samples over what all samples share; it names the write {}", {
    **dict.fromkeys(("sub", "mul", "div", "copy", "masked_fill", "clamp_min", "clamp_max", "logical_and", "logical_or",
                     "logical_xor"), "inplace arithmetic"),
    **{name: f"{name}_" for name in ("fill", "index_put", "index_add", "index_fill", "scatter_reduce")},
    "bernoulli": "inplace bernoulli"}, because=_NAMED)


def unwritable(name: str, size: int, shapes: Sequence[tuple[int, ...]]) -> RuntimeError:
    """The error for a write of what differs by sample over what does not."""
    return noted(
        RuntimeError(_unwritable(name, size, shapes)), instead="compute out of place",
        because="the written tensor is the same for all samples, so that it cannot hold what differs")


def _unwritable(name: str, size: int, shapes: Sequence[tuple[int, ...]]) -> str:
    if name == "blend":
        return STATISTICS
    if name in _BROADCAST:
        broadcast = [size, *np.broadcast_shapes(*shapes)]
        return f"output with shape {list(shapes[0])} doesn't match the broadcast shape {broadcast}"
    what = _WRITES.get(name, f"aten::{name}_")
    return (f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
            "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
            f"vmapped over in a vmap. Please try to use out-of-place operators instead of {what}. If said operator is "
            "being called inside the PyTorch framework, please file a bug report instead.")
