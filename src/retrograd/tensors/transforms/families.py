"""Operators that compute a whole batch in one call: those with dims, which are shifted, and products of matrices.

A rule returns the results with the axis of the batch first, or NotImplemented if it does not fit the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.framework import Op
from ...ops.linalg.matrix import bmm, mm
from ...ops.reductions import mean_dim, sum_dim
from ...ops.shape import expand, permute, unsafe_view, unsqueeze
from .batched import is_batched, shown

Family = Callable[[Any, Op, tuple[Any, ...]], Any]

# The options that name dims, and those that are sizes of all dims. All other options stay as they are.
DIMS = ("dim", "dims", "axes", "dim0", "dim1")
SIZES = ("shape",)


def first(array: Any, level: Any) -> Any:
    """An operand with the axis of the level first: its own, or an expanded one."""
    if is_batched(array, level):
        return shown(array, level)
    return expand.run(array, (level.size, *array.shape))


def _shifted(value: Any, rank: int) -> Any:
    if isinstance(value, int):
        return value + 1 if value >= 0 else value
    if value is None:
        return tuple(range(1, rank + 1))
    return tuple([_shifted(v, rank) for v in value])


def by_dims(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator with dims: each dim is one further on."""
    arrays, rest = ([*args[0]], args[1:]) if op.variadic else (args[:op.arity], args[op.arity:])
    names = op.arguments[1 if op.variadic else op.arity:]
    ranks = {a.ndim for a in arrays if a is not None}
    rank = max(ranks)
    if not set(DIMS) & set(names):
        return NotImplemented
    if not rank or len(ranks) > 1:                         # a dim of a number is 0 or -1, and means nothing
        return NotImplemented
    options = [_shifted(value, rank) if name in DIMS else (level.size, *value) if name in SIZES else value
               for name, value in zip(names, rest, strict=True)]
    moved = [None if a is None else first(a, level) for a in arrays]
    return op.run(moved, *options) if op.variadic else op.run(*moved, *options)


def by_stack(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator on stacks of matrices: the batch is one more axis of the stack."""
    return op.run(*[first(a, level) if hasattr(a, "strides") else a for a in args])


def _full(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """A constant beside a batch is a batch too, so that it can be written over."""
    beside, shape, *rest = args
    return op.run(shown(beside, level), (level.size, *shape), *rest)


def _of_all(by_axes: Op) -> Family:
    """A reduction of all elements: of all axes but that of the batch."""

    def rule(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
        x = shown(args[0], level)
        if "axes" in op.arguments or x.ndim == 1:
            return by_dims(level, op, args)
        return by_axes.run(x, tuple(range(1, x.ndim)), False, *args[1:])

    return rule


def _mm(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = args
    if is_batched(x, level) and not is_batched(y, level):
        rows = shown(x, level)
        size, n, k = rows.shape
        return unsafe_view.run(mm.run(unsafe_view.run(rows, (size * n, k)), y), (size, n, y.shape[1]))
    return bmm.run(first(x, level), first(y, level))


def _mv(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = args
    if is_batched(y, level) and not is_batched(x, level):
        return mm.run(shown(y, level), permute.run(x, (1, 0)))
    product = bmm.run(first(x, level), unsqueeze.run(first(y, level), 2))
    return unsafe_view.run(product, product.shape[:2])


def _dot(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = [first(a, level) for a in args]
    return unsafe_view.run(bmm.run(unsqueeze.run(x, 1), unsqueeze.run(y, 2)), (level.size,))


def _bmm(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = [first(a, level) for a in args]
    size, count = x.shape[:2]
    x, y = [unsafe_view.run(a, (size * count, *a.shape[2:])) for a in (x, y)]
    product = bmm.run(x, y)
    return unsafe_view.run(product, (size, count, *product.shape[1:]))


def families(rule: Family, names: str) -> dict[str, Family]:
    """The rule for each of these operators."""
    return dict.fromkeys(names.split(), rule)


FAMILIES: dict[str, Family] = {
    **families(by_dims, "amax amin argmax argmin softmax log_softmax softmax_backward log_softmax_backward "
                        "logsumexp cumsum cumprod flip roll gather cat stack any all select_backward slice_backward "
                        "sort var std clone copy_ to"),
    "sum": _of_all(sum_dim), "mean": _of_all(mean_dim), "new_full": _full,
    "mm": _mm, "mv": _mv, "dot": _dot, "bmm": _bmm,
}
