"""What `vmap` returns as views of what it was given, and writes of its function to what it was given.

A tensor and its samples inside of a level are the same memory. So a view of the samples that leaves the level is a view
of the tensor, and a write to the samples is a write to the tensor. This module must not know how a batch is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import Array
from ...kernels.layout import owner_of
from ..recording.inplace import take_history
from ..state.base import edge_of, make_view
from ..state.refusals import ORDINARY
from ..state.replays import ByStrides
from .batched import is_array, is_batched, parts
from .batching import BatchLevel, Entered
from .crossing import enter_batch, leave_batch
from .levels import in_effect, inner, others

if TYPE_CHECKING:
    from ..state.base import TensorBase


def entering(level: BatchLevel, tensor: TensorBase, dim: int) -> Any:
    """`enter_batch`. The level remembers the tensor while the function runs."""
    samples = enter_batch(level, tensor, dim)
    level.entered.append(Entered(samples, samples._edge, tensor, dim))
    return samples


def give_writes_back(level: BatchLevel) -> None:
    """Give the tensors to whose samples the function has written the history of the samples."""
    for each in level.entered:
        if each.samples._edge is not each.edge:
            each.edge = each.samples._edge
            take_history(each.tensor, _left(level, each.samples, each.dim))


def leaving(level: BatchLevel, result: Any, dim: int) -> Any:
    """`leave_batch`. A tensor that entered leaves as itself, and a view of it as a view."""
    entered = _origin(level, result)
    if entered is None:
        return _left(level, result, dim)
    if entered.samples is result and entered.dim == dim:
        return entered.tensor
    left, tensor = _left(level, result, dim), entered.tensor
    if _same_memory(left._array, tensor._array):
        edge, creation = edge_of(left), ORDINARY if entered.samples is result else result._grad_meta.creation
        make_view(left, tensor, ByStrides(left._array, tensor._array), creation)
        left._edge = edge
    return left


def _origin(level: BatchLevel, result: Any) -> Entered | None:
    """The value that entered the level, if the result is that value or a view of it."""
    base = result if result._grad_meta is None or result._grad_meta.base is None else result._grad_meta.base
    return next((each for each in level.entered if each.samples is base), None)


def _left(level: BatchLevel, result: Any, dim: int) -> Any:
    if dim == 0 and is_batched(result._array, level):
        return leave_batch(level, result, 0)               # which calls no operator
    with in_effect(others(level)):
        return leave_batch(level, result, dim)


def _same_memory(array: Array, other: Any) -> bool:
    if not (is_array(array) and is_array(other)):
        return False
    return owner_of(parts(inner(array))[0]) is owner_of(parts(inner(other))[0])
