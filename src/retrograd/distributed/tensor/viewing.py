"""The rules of views, and of operators that only move elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...ops.framework import Op
from ...ops.indexing.indexing import select, slice_
from ...ops.joining import cat, split, split_with_sizes, stack, unbind
from ...ops.networks.embedding import embedding_backward
from ...ops.reductions import spread
from ...ops.shape import (
    expand,
    permute,
    reshape_alias,
    squeeze,
    squeeze_dim,
    squeeze_dims,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
    view,
)
from .cases import Asked, Case, Rule, Rules, Shape, cut, parts, whole
from .placement_types import Shard

RULES = Rules()


def _groups(before: Shape, after: Shape) -> Iterator[tuple[list[int], list[int]]]:
    """The dims of two shapes, in the smallest groups that have equally many elements. Dims of size 1 are left out."""
    old, new = [d for d, n in enumerate(before) if n != 1], [d for d, n in enumerate(after) if n != 1]
    i = j = 0
    while i < len(old) and j < len(new):
        first, second, a, b = [old[i]], [new[j]], before[old[i]], after[new[j]]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                first.append(old[i])
                a, i = a * before[old[i]], i + 1
            else:
                second.append(new[j])
                b, j = b * after[new[j]], j + 1
        yield first, second


def _viewed_shape(op: Op, args: tuple[Any, ...]) -> Shape:
    """The shape of what the operator makes of the whole."""
    shape = args[0].shape
    if op is unsqueeze:
        at = args[1] % (len(shape) + 1)
        return (*shape[:at], 1, *shape[at:])
    if op is squeeze:
        return tuple([n for n in shape if n != 1])
    if op in (squeeze_dim, squeeze_dims):
        named = (args[1],) if op is squeeze_dim else args[1]
        dims = {d % max(len(shape), 1) for d in named}
        return tuple([n for d, n in enumerate(shape) if n != 1 or d not in dims])
    named = tuple(args[1])
    return tuple([-math.prod(shape) // math.prod(named) if n == -1 else n for n in named])


def _viewed(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        before, after = asked.shapes[0], _viewed_shape(op, asked.args)
        if 0 not in before:
            for (old, *more), (new, *rest) in _groups(before, after):
                if not (more or rest) or (asked.equal(before[old]) and asked.equal(after[new])):
                    yield Case((Shard(old),), cut(new, after[new]))
        for placement in parts(asked):
            yield Case((placement,), whole(placement))

    rule.__doc__ = "chunks of the first dim of each group of dims"
    return rule


# Operators whose result is the operand in another shape.
RESHAPING = (view, reshape_alias, unsafe_view, unsqueeze, squeeze, squeeze_dim, squeeze_dims)
for _op in RESHAPING:
    RULES[_op] = _viewed(_op)


# Operators with an option that is the shape of the whole result: the position of the option.
SHAPE_AT: dict[Op, int] = {expand: 1, spread: 1, embedding_backward: 2}


def reshaped(op: Op, args: tuple[Any, ...]) -> Shape:
    """The shape of the whole result of an operator of `RESHAPING` or `SHAPE_AT`."""
    return tuple(args[SHAPE_AT[op]]) if op in SHAPE_AT else _viewed_shape(op, args)


def _repeated(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        before, after = asked.shapes[0], tuple(asked.args[1])
        axes = () if op is expand else asked.args[2]
        kept = [d for d in range(len(after)) if d not in axes] if op is spread and not asked.args[3] else [
            *range(len(after))]
        if op is spread and (not axes and not before):
            kept = []
        shift = len(kept) - len(before)
        for dim, n in enumerate(before):
            if after[kept[dim + shift]] == n:
                yield Case((Shard(dim),), cut(kept[dim + shift], n))
        for placement in parts(asked):
            yield Case((placement,), whole(placement))

    rule.__doc__ = "its chunks, along the dims that are not repeated"
    return rule


for _op in (expand, spread):
    RULES[_op] = _repeated(_op)


@RULES.of(permute, transpose, t)
def _turned(asked: Asked) -> Iterator[Case]:
    """The same chunks; the dims have other numbers."""
    shape, options = asked.shapes[0], asked.args[1:]
    order = [*range(len(shape))]
    if not options:
        order.reverse()
    elif isinstance(options[0], int):
        a, b = options[0], options[1]
        order[a], order[b] = order[b], order[a]
    else:
        order = [d % len(shape) for d in options[0]]
    for dim, old in enumerate(order):
        yield Case((Shard(old),), cut(dim, shape[old]))
    for placement in parts(asked):
        yield Case((placement,), whole(placement))


@RULES.of(select, slice_)
def _taken(asked: Asked) -> Iterator[Case]:
    """All dims but one may be cut."""
    shape, taken = asked.shapes[0], asked.args[1]
    gone = len(asked.args) == 3                            # `select` removes the dim
    for dim, n in enumerate(shape):
        if dim != taken % len(shape):
            yield Case((Shard(dim),), cut(dim - (gone and dim > taken % len(shape)), n))
    for placement in parts(asked):
        yield Case((placement,), whole(placement))


def _together(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        shapes, adds = asked.shapes, op is stack
        rank = len(shapes[0])
        joined = asked.args[1] % max(rank + adds, 1)
        for dim, n in enumerate(shapes[0]):
            if all([len(shape) == rank for shape in shapes]) and (adds or dim != joined):
                yield Case((Shard(dim),) * len(shapes), cut(dim + (adds and dim >= joined), n))
        if len({*asked.now}) == 1:
            for placement in parts(asked):
                yield Case((placement,) * len(shapes), whole(placement))

    rule.__doc__ = "chunks along the dims that are not joined"
    return rule


for _op in (cat, stack):
    RULES[_op] = _together(_op)


def _parted(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        shape, dim_cut = asked.shapes[0], asked.args[-1]
        count = shape[dim_cut] if op is unbind else len(asked.args[1])
        for dim, n in enumerate(shape):
            if dim != dim_cut:
                place = dim - (op is unbind and dim > dim_cut)
                yield Case((Shard(dim),), cut(place, n) * count)
        for placement in parts(asked):
            yield Case((placement,), whole(*(placement,) * count))

    rule.__doc__ = "its chunks, along the dims that are not parted"
    return rule


for _op in (split, split_with_sizes, unbind):
    RULES[_op] = _parted(_op)


