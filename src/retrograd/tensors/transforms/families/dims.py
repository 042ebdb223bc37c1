"""Operators with dims. On a batch, each dim is one further on.

This is known from the statement of an operator: its options have names. An operator without an option for dims, that
reduces all elements, reduces the elements of each sample.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....ops import joining, scans
from ....ops.basic import cast, cast_in, clone, copy, copy_into, look
from ....ops.creation import fresh, new_full
from ....ops.elementwise.arithmetic import sub
from ....ops.elementwise.comparison import eq, logical_not
from ....ops.elementwise.elementary import frexp
from ....ops.framework import Op
from ....ops.indexing import sorting
from ....ops.linalg import norms
from ....ops.linalg.matrix import trace
from ....ops.networks.normalization import sum_over_rows
from ....ops.reductions import (
    amax,
    amin,
    any_of,
    argmax,
    argmin,
    max_all,
    mean_all,
    mean_dim,
    min_all,
    sum_all,
    sum_dim,
)
from ....ops.shape import diagonal, read_as, unfold_backward, unsafe_view, unsqueeze, view
from ....ops.view_copies import COPIES, detach_copy
from ..batched import is_array, is_batched, shown
from ..levels import constant
from ..views import DIMS, SIZES
from .operands import (
    Rule,
    aligned,
    as_shape,
    by_alignment,
    by_stack,
    first,
    flat_rows,
    rules,
    with_axes,
)

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel


def shifted(value: Any, rank: int) -> Any:
    """A dim, or dims, of a sample of this rank, as dims of the batch."""
    if isinstance(value, int):
        return value + 1 if value >= 0 else value
    if value is None:
        return tuple(range(1, rank + 1))
    return tuple([shifted(v, rank) for v in value])


class _Facts(NamedTuple):
    """What the statement of an operator says: the names of its options, whether one of them names dims, and whether
    the operands have the same rank.
    """

    names: tuple[str, ...]
    has_dims: bool
    alike: bool


@cache
def _facts(op: Op) -> _Facts:
    names = op.arguments[1 if op.variadic else op.arity:]
    return _Facts(names, not DIMS.isdisjoint(names), op.variadic or "index" in op.arguments[:op.arity])


def by_dims(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator with dims, as its names of options say."""
    facts = _facts(op)
    if not facts.has_dims:
        return NotImplemented
    names, rest = facts.names, args[1 if op.variadic else op.arity:]
    arrays = args[0] if op.variadic else args[:op.arity]
    rank = -1
    for a in arrays:
        if a is not None and a.ndim != rank:
            if facts.alike and rank >= 0:
                return NotImplemented
            rank = max(rank, a.ndim)
    options = []
    for name, value in zip(names, rest, strict=True):
        if is_array(value):
            return NotImplemented
        options.append(shifted(value, rank) if name in DIMS else (level.size, *value) if name in SIZES else value)
    moved = [None if a is None else first(a, level) for a in arrays]
    if op.variadic:
        return op.run(moved, *options)
    if rank or not SIZES.isdisjoint(names):
        return op.run(*moved, *options) if rank or args[op.arity + names.index("shape")] else NotImplemented
    return _of_numbers(level, op, moved, names, rest)


def _of_numbers(level: BatchLevel, op: Op, moved: list[Any], names: tuple[str, ...], rest: tuple[Any, ...]) -> Any:
    """An operator with dims on numbers, whose dims 0 and -1 mean nothing. The results are numbers too."""
    options = [1 if isinstance(value, int) else (1,) * (value is None or len(value) > 0) if name in DIMS else value
               for name, value in zip(names, rest, strict=True)]
    options = [value if name not in DIMS else option for name, value, option in zip(names, rest, options, strict=True)]
    found = op.run(*[None if a is None else unsqueeze.run(a, 1) for a in moved], *options)
    size = (level.size,)
    return tuple([as_shape(part, size) for part in found]) if type(found) is tuple else as_shape(found, size)


def _of_all(by_axes: Op) -> Rule:
    """A reduction of all elements: of all axes but that of the batch."""

    def rule(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
        x = shown(args[0], level)
        return by_axes.run(x, tuple(range(1, x.ndim)), False, *args[1:])

    return rule


def _prod(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return scans.prod_dim.run(flat_rows(shown(args[0], level)), 1, False, *args[1:])


def _extreme(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    rows, largest = flat_rows(shown(args[0], level)), args[1]
    return (amax if largest else amin).run(rows, (1,), False, largest) if rows.shape[1] else NotImplemented


def _argextreme(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """The index in the flattened array has all axes of size 1 if they are kept."""
    x, dim, keepdim, largest = args
    if dim is not None and x.ndim:
        return by_dims(level, op, args)
    found = op.run(flat_rows(shown(x, level)), 1, False, largest)
    return as_shape(found, (level.size, *[1] * x.ndim)) if keepdim else found


def _median(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    rows = flat_rows(shown(args[0], level))
    return sorting.median_dim.run(rows, 1, False, args[1])[0] if rows.shape[1] else NotImplemented


def _any_zero(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x = flat_rows(shown(args[0], level))
    return any_of.run(eq.run(x, constant(np.zeros((), x.dtype))), (1,), False)


def _dist(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y, p = args
    return norms.norm.run(flat_rows(sub.run(*aligned((x, y), level))), p, (1,), False, None)


def _looked_at(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Look at all samples at once. What is wrong with the batch may be right for its samples, so then ask for each."""
    try:
        return op.run(shown(args[0], level), *args[1:])
    except Exception:                                      # whatever the test raises
        return NotImplemented


def _isin(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, tests, invert = args
    if not is_batched(tests, level):
        return op.run(shown(x, level), tests, invert)
    x, tests = first(x, level), flat_rows(shown(tests, level))
    if x.dtype != tests.dtype:
        return NotImplemented
    equal = eq.run(unsqueeze.run(x, x.ndim), with_axes(tests, 1, x.ndim - 1))
    found = any_of.run(equal, (x.ndim,), False)
    return logical_not.run(found) if invert else found


def _searchsorted(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Bounds without further axes serve values of any shape."""
    bounds, x, *options = args
    fits = not is_batched(bounds, level) and bounds.ndim == 1 and not any([is_array(o) for o in options])
    return op.run(bounds, shown(x, level), *options) if fits else NotImplemented


def _trace(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return sum_dim.run(diagonal.run(shown(args[0], level), 0, 1, 2), (1,), False, None)


def _roll(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, shifts, dims = args
    if dims:
        return by_dims(level, op, args)
    x = shown(x, level)
    return as_shape(op.run(flat_rows(x), shifts, (1,)), x.shape)


def _repeat(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, repeats = args
    return op.run(with_axes(shown(x, level), 1, len(repeats) - x.ndim), (1, *repeats))


def _sum_of_parts(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, shape, repeats = args
    lead = (1,) * (len(repeats) - len(shape))
    return as_shape(op.run(shown(g, level), (level.size, *lead, *shape), (1, *repeats)), (level.size, *shape))


def _full(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A constant beside a batch is a batch too, so that it can be written over."""
    beside, shape, *rest = args
    return op.run(shown(beside, level), (level.size, *shape), *rest)


def _clone(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, *dtype, order = args
    if isinstance(order, tuple):                           # the strides of a sample, which are dense
        span = max([1, *[n * step for n, step in zip(x.shape, order)]])
        order = (span, *order)
    return op.run(shown(x, level), *dtype, order)


def _copy_into(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return _clone(level, copy, args[1:])


def _sum_over_rows(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    g, rank = args
    return sum_dim.run(shown(g, level), tuple(range(1, 1 + g.ndim - rank)), False, None)


def _sum_of_windows(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """The gradient of windows. The windows of a number have a dim that the number has not."""
    shape = args[1]
    return by_dims(level, op, args) if shape else NotImplemented


def _in_shape(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """`_unsafe_view`, and the copy of a view in another shape."""
    x, shape = args
    if not isinstance(shape, tuple) or (-1 in shape and not x.size):
        return NotImplemented                              # the bytes as another type; a size that nothing decides
    known = -math.prod(shape)
    return op.run(shown(x, level), (level.size, *[x.size // known if n == -1 else n for n in shape]))


DIMENSIONS: dict[Op, Rule] = {
    sum_all: _of_all(sum_dim), mean_all: _of_all(mean_dim), scans.prod_all: _prod, **rules(_extreme, max_all, min_all),
    **rules(_argextreme, argmax, argmin), **rules(_median, sorting.median, sorting.nanmedian),
    scans.any_zero: _any_zero, trace: _trace, joining.roll: _roll, joining.repeat: _repeat,
    joining.sum_of_parts: _sum_of_parts, new_full: _full, **rules(_clone, cast_in, clone, copy), copy_into: _copy_into,
    sum_over_rows: _sum_over_rows, unfold_backward: _sum_of_windows,
    **rules(_in_shape, unsafe_view, read_as, COPIES[view]),
    norms.dist: _dist, sorting.isin: _isin, sorting.searchsorted: _searchsorted,
    **rules(_looked_at, look), **rules(by_stack, cast, fresh, joining.tril, joining.triu, detach_copy),
    frexp: by_alignment,
}
