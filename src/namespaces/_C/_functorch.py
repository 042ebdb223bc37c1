"""torch._C._functorch: questions about tensors inside transforms of functions, and about the transforms in effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ..foundations.modes import local
from ..foundations.names import missing
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from ..tensors.transforms.aliases import entering, leaving
from ..tensors.transforms.batched import parts, shown
from ..tensors.transforms.batching import BatchLevel
from ..tensors.transforms.levels import Level, outer

__all__ = ["_add_batch_dim", "_remove_batch_dim", "get_unwrapped", "is_batchedtensor", "is_functorch_wrapped_tensor",
           "is_gradtrackingtensor", "maybe_current_level", "maybe_get_bdim", "maybe_get_level"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Place(int):
    """The place of the innermost level in effect, counted from 1, as the steps of a call of `vmap` are told it.

    The places of two calls are not equal, so a package that keeps samples by their place does not take samples of a
    call that is over for those of another call.
    """

    level: Level

    def __new__(cls) -> Self:
        levels = local.thread.levels
        found = super().__new__(cls, len(levels))
        found.level = levels[-1]
        return found

    def __eq__(self, other: object) -> bool:
        return self.level is other.level if isinstance(other, Place) else int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.level.number)


def _add_batch_dim(tensor: Tensor, batch_dim: int, level: int) -> Any:
    """The samples of a tensor along a dim, as one tensor inside of a `vmap`. `level` is its place, counted from 1."""
    return entering(_level_at(level), tensor, batch_dim % tensor._array.ndim)


def _level_at(place: int) -> BatchLevel:
    level = local.thread.levels[place - 1]
    assert isinstance(level, BatchLevel)
    return level


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Any:
    """The tensor of all samples, along the dim `out_dim`. The opposite of `_add_batch_dim`.

    Raises IndexError if the result has no such dim.
    """
    rank = tensor._array.ndim + 1
    if not -rank <= out_dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
                         f"but got {out_dim})")
    return leaving(_level_at(level), tensor, out_dim % rank)


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor is the sample of a `vmap` that is in effect."""
    return bool(parts(tensor._array)[1])


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether a transform that is in effect differentiates a tensor."""
    thread = local.thread
    return thread.functions > 0 and (tensor.requires_grad or any([level.moves(tensor._array)
                                                                   for level in thread.levels]))


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Whether a tensor is inside of a transform that is in effect."""
    return is_batchedtensor(tensor) or is_gradtrackingtensor(tensor)


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of the batch, which is the first one; -1 if the tensor is in no batch."""
    return 0 if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor: Tensor) -> int:
    """Which of the levels in effect is the innermost one of a tensor, counted from 1; -1 if there is none."""
    levels = parts(tensor._array)[1]
    found = [place for place, level in enumerate(local.thread.levels, 1)
             if level in levels or level.moves(tensor._array)]
    return found[-1] if found else -1


def maybe_current_level() -> int | None:
    """How many levels are in effect; None if there are none."""
    return len(local.thread.levels) or None


def get_unwrapped(tensor: Tensor) -> Any:
    """The tensor of all samples behind a sample of a `vmap`, with the batch as the first dim; else the tensor."""
    levels = parts(tensor._array)[1]
    return plain(outer(shown(tensor._array, levels[-1]))) if levels else tensor
