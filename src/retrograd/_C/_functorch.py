"""torch._C._functorch: questions about tensors inside transforms of functions, and about the transforms in effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..modes import local
from ..names import missing
from ..tensors.state.base import plain
from ..tensors.transforms.batched import parts, shown

__all__ = ["get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor",
           "maybe_current_level", "maybe_get_bdim", "maybe_get_level"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor is the sample of a `vmap` that is in effect."""
    return bool(parts(tensor._array)[1])


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Whether a transform that is in effect differentiates a tensor."""
    thread = local.thread
    return thread.functions > 0 and (tensor.requires_grad or any([level.moves(tensor._array)
                                                                   for level in thread.levels]))


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Whether a tensor is inside of a transform that is in effect."""
    return is_batchedtensor(tensor) or is_gradtrackingtensor(tensor)


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension of the batch, which is the first one; -1 if the tensor is in no batch."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Any) -> int:
    """Which of the levels in effect is the innermost one of a tensor, counted from 1; -1 if there is none."""
    levels = parts(tensor._array)[1]
    found = [place for place, level in enumerate(local.thread.levels, 1)
             if level in levels or level.moves(tensor._array)]
    return found[-1] if found else -1


def maybe_current_level() -> int | None:
    """How many levels are in effect; None if there are none."""
    return len(local.thread.levels) or None


def get_unwrapped(tensor: Any) -> Any:
    """The tensor of all samples behind a sample of a `vmap`, with the batch as the first dim; else the tensor."""
    levels = parts(tensor._array)[1]
    return plain(shown(tensor._array, levels[-1])) if levels else tensor
