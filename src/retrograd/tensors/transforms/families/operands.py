"""What the rules of all families use: operands with the axis of the batch first, folded, or in line with each other.

A rule is called with the level, the operator and its arguments, at least one of which is batched. It returns the
results with the axis of the batch first, or NotImplemented if it does not fit the call. Rules compute with the levels
below in effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....foundations.dtypes import Array
from ....foundations.modes import local
from ....ops.elementwise.arithmetic import add, mul
from ....ops.framework import Op
from ....ops.shape import expand, permute, unsafe_view
from ..batched import is_array, is_batched, joined, parts, shown
from ..levels import constant

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel

Rule = Callable[[Any, Op, tuple[Any, ...]], Any]


class Same:
    """One of several results, which is the same for all samples."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array


def first(array: Array, level: BatchLevel) -> Any:
    """An operand with the axis of the level first: its own, or an expanded one."""
    if is_batched(array, level):
        return shown(array, level)
    return expand.run(array, (level.size, *array.shape))


def in_line(array: Array, level: BatchLevel, rank: int) -> Any:
    """An operand with the axis of the level first, and axes of size 1 after it up to `rank` more axes.

    An operand that is not batched stays as it is.
    """
    if not is_batched(array, level):
        return array
    missing, array = rank - array.ndim, shown(array, level)
    return with_axes(array, 1, missing) if missing > 0 else array


def with_axes(array: Array, at: int, count: int) -> Any:
    """An array with `count` axes of size 1 before its axis number `at`."""
    physical, levels = parts(array)
    return joined(levels, physical[(*[slice(None)] * (len(levels) + at), *[None] * count)])


def aligned(args: Sequence[Any], level: BatchLevel) -> list[Any]:
    """The arguments, with the axis of the level first and the other axes in line with each other."""
    rank = max([a.ndim for a in args if is_array(a)])
    return [in_line(a, level, rank) for a in args]


def as_shape(array: Any, shape: tuple[int, ...]) -> Any:
    """An array in another shape."""
    if array.shape == shape:
        return array
    if type(array) is np.ndarray and local.thread.transform is None:
        return array.reshape(shape)
    return unsafe_view.run(array, shape)


def folded(array: Array) -> Any:
    """An array whose first two axes are one."""
    return as_shape(array, (array.shape[0] * array.shape[1], *array.shape[2:]))


def unfolded(found: Any, size: int) -> Any:
    """Results whose first axis becomes two, the first of them of this size."""
    if type(found) is tuple:
        return tuple([unfolded(part, size) for part in found])
    return as_shape(found, (size, found.shape[0] // size, *found.shape[1:]))


def folded_second(array: Array) -> Any:
    """An array (batch, N, C, ...) as (N, batch * C, ...)."""
    size, count, channels, *rest = array.shape
    array = permute.run(array, (1, 0, *range(2, array.ndim)))
    return as_shape(array, (count, size * channels, *rest))


def unfolded_second(array: Array, size: int) -> Any:
    """An array (N, batch * C, ...) as (batch, N, C, ...)."""
    count, channels, *rest = array.shape
    array = as_shape(array, (count, size, channels // size, *rest))
    return permute.run(array, (1, 0, *range(2, array.ndim)))


def flat_rows(array: Array) -> Any:
    """An array (batch, ...) as a matrix, with a row for each sample."""
    count = 1
    for n in array.shape[1:]:
        count *= n
    return as_shape(array, (array.shape[0], count))


def scaled(array: Array, factor: Any) -> Any:
    """An array times a number."""
    return array if type(factor) in (int, float) and factor == 1 else mul.run(
        array, constant(np.array(factor, array.dtype)))


def blended(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * product. If beta is 0, x is ignored."""
    product = scaled(product, alpha)
    return product if beta == 0 else add.run(product, scaled(x, beta))


def rules(rule: Rule, *ops: Op) -> dict[Op, Rule]:
    """The rule for each of these operators."""
    return dict.fromkeys(ops, rule)


def one_by_one(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """No single call computes the batch: the operator is called for each sample."""
    return NotImplemented


def by_alignment(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator that works element by element, whatever its kind: the axes are put in line."""
    return op.run(*aligned(args, level))


def by_stack(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator whose kernel takes leading axes: the batch is one more of them. Options named `shape` get it too."""
    shape_at = op.arguments.index("shape") if "shape" in op.arguments else None
    return op.run(*[first(a, level) if is_array(a) else (level.size, *a) if i == shape_at else a
                    for i, a in enumerate(args)])


def by_fold(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator whose operands have the same first axis: the batch becomes a part of it, also in `shape`."""
    if any([is_array(a) and not a.ndim for a in args]):
        return NotImplemented
    at = op.arguments.index("shape") if "shape" in op.arguments else None
    moved = [folded(first(a, level)) if is_array(a) else (level.size * a[0], *a[1:]) if i == at else a
             for i, a in enumerate(args)]
    return unfolded(op.run(*moved), level.size)
