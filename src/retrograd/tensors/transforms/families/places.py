"""Reading and writing by index. An index that is the same for all samples serves the whole batch.

If each sample has its own index, a second index that numbers the samples is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ops.creation import complex_
from ....ops.framework import Op
from ....ops.indexing import indexing
from ....ops.indexing.indexing import (
    gather,
    gather_backward,
    index_select,
    scatter,
    scatter_add,
    scatter_value,
)
from ....ops.networks.activations import threshold_backward
from ....ops.shape import expand, permute
from ..batched import is_array, is_batched, shown
from ..levels import constant
from ..refusals import MASK, unbatched
from .operands import Rule, as_shape, by_alignment, first, flat_rows, in_line, one_by_one, rules, scaled, with_axes

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel


class _Keys:
    """The indices of a batch, and the order of the axes of what they select.

    `order` is None if the axis of the batch comes first and the others as in a sample.
    """

    def __init__(self, level: BatchLevel, indices: Sequence[Any], rank: int) -> None:
        arrays = [(d, i) for d, i in enumerate(indices) if i is not None]
        batched = any([is_batched(i, level) for _, i in arrays])
        self.fits = not (batched and any([i.dtype.kind == "b" for _, i in arrays]))
        self.indices: tuple[Any, ...] = (None, *indices)
        self.order: tuple[int, ...] | None = None
        used = sum([i.ndim if i.dtype.kind == "b" else 1 for _, i in arrays])
        at = max([1 if i.dtype.kind == "b" else i.ndim for _, i in arrays])
        self.rank = rank - used + at                       # of what a sample selects
        start, stop = arrays[0][0], arrays[-1][0] + 1
        adjacent = stop - start == len(arrays)
        if not batched or not self.fits:
            if not adjacent:                               # their axes come first, before that of the batch
                self.order = (at, *range(at), *range(at + 1, self.rank + 1))
            return
        samples = constant(np.arange(level.size).reshape(-1, *[1] * at))
        self.indices = (samples, *[None if i is None else in_line(i, level, at) for i in indices])
        if start and adjacent:                             # adjacent in a sample, and apart from the batch's index
            self.order = (0, *range(1 + at, 1 + at + start), *range(1, 1 + at),
                          *range(1 + at + start, self.rank + 1))

    def as_sample(self, found: Any) -> Any:
        """What was selected, with its axes in the order that they have in a sample."""
        return found if self.order is None else permute.run(found, self.order)

    def as_selected(self, values: Any) -> Any:
        """Values in line with a sample's, with their axes in the order in which they are selected."""
        if self.order is None:
            return values
        if values.ndim <= self.rank:                       # an operand that is not batched may lack axes
            values = with_axes(values, 0, self.rank + 1 - values.ndim)
        return permute.run(values, tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))


def _index(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, indices = args
    keys = _Keys(level, indices, x.ndim)
    if not keys.fits:
        raise unbatched(MASK)
    return keys.as_sample(op.run(first(x, level), keys.indices))


def _index_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, shape, indices = args
    keys = _Keys(level, indices, len(shape))
    if not keys.fits:
        return NotImplemented
    return op.run(keys.as_selected(first(g, level)), (level.size, *shape), keys.indices)


def _without(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, indices = args
    keys = _Keys(level, indices, g.ndim)
    return op.run(first(g, level), keys.indices) if keys.fits else NotImplemented


def _index_put(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, values, indices, accumulate = args
    keys = _Keys(level, indices, x.ndim)
    if not keys.fits:
        return NotImplemented
    values = in_line(values, level, keys.rank) if is_batched(values, level) else values
    return op.run(first(x, level), keys.as_selected(values), keys.indices, accumulate)


# Along one dimension


def _beside(index: Any, level: BatchLevel, shape: tuple[int, ...], dim: int) -> Any:
    """A vector of numbers for each sample, as an index for each element of a batch of this shape."""
    rows = as_shape(shown(index, level), (level.size, *[1] * dim, index.size, *[1] * (len(shape) - dim - 2)))
    return expand.run(rows, (*shape[:dim + 1], index.size, *shape[dim + 2:]))


def _along(elementwise: Rule) -> Rule:
    """The rule of an operator that takes slices along `dim` by a vector of their numbers.

    If each sample has its own numbers, the operator `elementwise` does the work with a number for each element.
    """

    def rule(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
        at, dim_at = op.arguments.index("index"), op.arguments.index("dim")
        index, dim, rank = args[at], args[dim_at], args[0].ndim
        if "shape" in op.arguments:
            rank = len(args[op.arguments.index("shape")])
        if not rank or index.ndim != 1 or dim < 0:
            return NotImplemented
        if is_batched(index, level):
            return elementwise(level, op, args)
        moved = [a if i == at else dim + 1 if i == dim_at else first(a, level) if is_array(a)
                 else (level.size, *a) if op.arguments[i] == "shape" else a for i, a in enumerate(args)]
        return op.run(*moved)

    return rule


def _select_each(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, index, dim = args
    x = first(x, level)
    return gather.run(x, _beside(index, level, x.shape, dim), dim + 1)


def _put_back_each(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, index, shape, dim = args
    shape = (level.size, *shape)
    return gather_backward.run(first(g, level), _beside(index, level, shape, dim), shape, dim + 1)


def _add_each(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, source, index, dim, alpha = args
    x = first(x, level)
    return scatter_add.run(x, scaled(first(source, level), alpha), _beside(index, level, x.shape, dim), dim + 1)


def _copy_each(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, source, index, dim = args
    x = first(x, level)
    return scatter.run(x, first(source, level), _beside(index, level, x.shape, dim), dim + 1)


def _fill_each(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, index, dim, value = args
    x = first(x, level)
    return scatter_value.run(x, _beside(index, level, x.shape, dim), dim + 1, value)


# By number in row-major order


def _take(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, index = args
    if not is_batched(x, level):
        return op.run(x, shown(index, level))
    rows = flat_rows(shown(x, level))
    if is_batched(index, level):
        found = gather.run(rows, flat_rows(shown(index, level)), 1)
    else:
        found = index_select.run(rows, as_shape(index, (index.size,)), 1)
    return as_shape(found, (level.size, *index.shape))


def _take_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, index, shape = args
    count = 1
    for n in shape:
        count *= n
    found = gather_backward.run(flat_rows(first(g, level)), flat_rows(first(index, level)), (level.size, count), 1)
    return as_shape(found, (level.size, *shape))


PLACES: dict[Op, Rule] = {
    indexing.index: _index, indexing.index_backward: _index_backward, indexing.without: _without,
    indexing.index_put: _index_put, index_select: _along(_select_each),
    indexing.index_select_backward: _along(_put_back_each), indexing.index_add: _along(_add_each),
    indexing.index_copy: _along(_copy_each), indexing.index_fill: _along(_fill_each), indexing.only: _along(one_by_one),
    indexing.take: _take, indexing.take_backward: _take_backward,
    **rules(by_alignment, indexing.masked_fill, indexing.masked_fill_tensor, complex_, threshold_backward),
    **rules(one_by_one, indexing.index_fill_tensor),
}
