"""Where operators of distributed arrays can compute with the parts that the processes have: one rule for each family.

A rule looks at one dim of the mesh. It gives the cases in which each process can compute by itself: how the operands
must lie along that dim, and how the results lie then. `calls` takes the case that moves the fewest bytes. Every operator
has one more case: all processes have all operands, and all compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...ops.basic import cast, copy, copy_into, real
from ...ops.elementwise.arithmetic import add, div, mul, neg, sub
from ...ops.framework import Op
from ...ops.indexing.indexing import select, slice_
from ...ops.indexing.sorting import max_dim, min_dim, sort, stable_sort, topk
from ...ops.joining import cat, split, split_with_sizes, stack, unbind
from ...ops.linalg.matrix import addmm, baddbmm, bmm, mm, mv
from ...ops.linalg.norms import norm
from ...ops.networks.activations import threshold_backward
from ...ops.networks.attention import attention, attention_weights
from ...ops.networks.embedding import embedding, embedding_backward
from ...ops.networks.losses import mse_loss
from ...ops.networks.normalization import (
    layer_norm, standardize, standardize_backward, standardized_sum, sum_over_rows)
from ...ops.networks.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward
from ...ops.reductions import (
    all_of, amax, amin, any_of, argmax, argmin, max_all, mean_all, mean_dim, min_all, spread, std, sum_all, sum_dim, var)
from ...ops.scans import cumprod, cumsum, logcumsumexp, sums_from
from ...ops.shape import (
    alias, expand, permute, reshape_alias, squeeze, squeeze_dim, squeeze_dims, t, transpose, unsafe_view, unsqueeze,
    view)
from ...ops.tables import Table, table
from .placement_types import Partial, Placement, Replicate, Shard, _NormPartial

Shape = tuple[int, ...]
R, SUM, AVG = Replicate(), Partial(), Partial("avg")


class Case(NamedTuple):
    """How the operands lie along a dim of the mesh, and how the results lie then. A result that is cut has a size: the
    number of elements of the dim that is cut, in the whole.
    """

    ins: tuple[Placement, ...]
    outs: tuple[tuple[Placement, int], ...]


class Asked(NamedTuple):
    """A call as a rule sees it: the shapes of the operands, how they lie along the dim of the mesh, all arguments, and
    whether a dim of some size is cut into equal parts.
    """

    shapes: Sequence[Shape]
    now: Sequence[Placement]
    args: tuple[Any, ...]
    equal: Callable[[int], bool]


Rule = Callable[[Asked], Iterator[Case]]
_rules: dict[Op, Rule] = {}


def whole(*placements: Placement) -> tuple[tuple[Placement, int], ...]:
    """The results are not cut."""
    return tuple([(placement, 0) for placement in placements])


def cut(dim: int, n: int) -> tuple[tuple[Placement, int], ...]:
    """The one result is cut along a dim."""
    return ((Shard(dim), n),)


def _rule(*ops: Op) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        _rules.update(dict.fromkeys(ops, rule))
        return rule

    return register


def _sums(asked: Asked, i: int = 0) -> Iterator[Partial]:
    """The placement of an operand, if it is a sum or an average of parts."""
    placement = asked.now[i]
    if placement in (SUM, AVG):
        assert isinstance(placement, Partial)
        yield placement


# Element by element

def pointwise(asked: Asked) -> Iterator[Case]:
    """The rule of operators that compute element by element: the same chunk of all operands."""
    rank = max(map(len, asked.shapes), default=0)
    for dim in range(rank):
        places = [dim - rank + len(shape) for shape in asked.shapes]
        sizes = [shape[at] if at >= 0 else 1 for at, shape in zip(places, asked.shapes)]
        n = max(sizes)
        if n != 1 or all([size == 1 for size in sizes]):
            yield Case(tuple([Shard(at) if at >= 0 and size == n else R for at, size in zip(places, sizes)]),
                       cut(dim, n))


_rule(threshold_backward)(pointwise)


@_rule(neg, cast, copy, real, alias)
def linear(asked: Asked) -> Iterator[Case]:
    """Sums of parts stay sums."""
    yield from pointwise(asked)
    for placement in _sums(asked):
        yield Case((placement,), whole(placement))


@_rule(copy_into)
def _copied(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in _sums(asked, -1):
        yield Case((placement,) * len(asked.now), whole(placement))


@_rule(add, sub)
def _added(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    if len(asked.now) == 2 and asked.now[0] == asked.now[1]:
        for placement in _sums(asked):
            yield Case((placement, placement), whole(placement))


@_rule(mul)
def _multiplied(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in _sums(asked):
        yield Case((placement, R)[:len(asked.now)], whole(placement))
    if len(asked.now) == 2:
        for placement in _sums(asked, 1):
            yield Case((R, placement), whole(placement))


@_rule(div)
def _divided(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in _sums(asked):
        yield Case((placement, R)[:len(asked.now)], whole(placement))


# Reductions: the position of their axes among the arguments, and how parts become the whole

_AXES: dict[Op, int] = {sum_dim: 1, mean_dim: 1, amax: 1, amin: 1, norm: 2, var: 1, std: 1, argmax: 1, argmin: 1,
                        any_of: 1, all_of: 1}
_OF_PARTS: dict[Op, Placement] = {sum_all: SUM, sum_dim: SUM, mean_all: AVG, mean_dim: AVG, amax: Partial("max"),
                                  amin: Partial("min"), max_all: Partial("max"), min_all: Partial("min")}


def _reduced(op: Op) -> Rule:
    at, parts = _AXES.get(op), _OF_PARTS.get(op)

    def rule(asked: Asked) -> Iterator[Case]:
        shape, args = asked.shapes[0], asked.args
        named = args[at] if at is not None and len(args) > at else None
        axes = ({*range(len(shape))} if named is None or named == () else
                {named % max(len(shape), 1)} if isinstance(named, int) else {d % max(len(shape), 1) for d in named})
        keepdim = at is not None and len(args) > at + 1 and bool(args[at + 1])
        joint = _NormPartial(norm=float(args[1])) if op is norm and 0 < args[1] < float("inf") else parts
        for dim, n in enumerate(shape):
            if dim not in axes:
                yield Case((Shard(dim),), cut(dim if keepdim else dim - sum([d < dim for d in axes]), n))
            elif joint is not None and (joint == SUM or asked.equal(n)):
                yield Case((Shard(dim),), whole(joint))
        if op in (sum_all, sum_dim):
            for placement in _sums(asked):
                yield Case((placement,), whole(placement))

    rule.__doc__ = "its chunks, if the axes are whole; otherwise the results are parts"
    return rule


for _op in {*_AXES, *_OF_PARTS}:
    _rules[_op] = _reduced(_op)


@_rule(softmax, log_softmax, cumsum, cumprod, logcumsumexp, sums_from)
def _along_dim(asked: Asked) -> Iterator[Case]:
    """All dims but one may be cut."""
    rank = len(asked.shapes[0])
    for dim, n in enumerate(asked.shapes[0]):
        if dim != asked.args[1] % max(rank, 1):
            yield Case((Shard(dim),), cut(dim, n))


def _picked(at: int) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        shape = asked.shapes[0]
        along = asked.args[at] % max(len(shape), 1)
        removes = at == 1 and len(asked.args) == 4 and not asked.args[2]     # `max` along a dim without `keepdim`
        for dim, n in enumerate(shape):
            if dim != along:
                yield Case((Shard(dim),), cut(dim - (removes and dim > along), n) * 2)

    rule.__doc__ = "its chunks, along all dims but one"
    return rule


_rules.update({max_dim: _picked(1), min_dim: _picked(1), sort: _picked(1), stable_sort: _picked(1), topk: _picked(2)})


@_rule(softmax_backward, log_softmax_backward)
def _along_dim_backward(asked: Asked) -> Iterator[Case]:
    """All dims but one may be cut."""
    rank = len(asked.shapes[0])
    for dim, n in enumerate(asked.shapes[0]):
        if dim != asked.args[2] % max(rank, 1):
            yield Case((Shard(dim), Shard(dim)), cut(dim, n))


# Products of matrices: rows, columns, or sums of products of parts

@_rule(mm, bmm)
def _product(asked: Asked) -> Iterator[Case]:
    """Rows of the first, columns of the second, or the inner dim of both."""
    (*stack, rows, inner), (*_, columns) = asked.shapes
    last = len(stack)
    yield Case((Shard(last), R), cut(last, rows))
    yield Case((R, Shard(last + 1)), cut(last + 1, columns))
    if asked.equal(inner) or Shard(last + 1) == asked.now[0] or Shard(last) == asked.now[1]:
        yield Case((Shard(last + 1), Shard(last)), whole(SUM))
    if stack:
        yield Case((Shard(0), Shard(0)), cut(0, stack[0]))
    for placement in _sums(asked):
        yield Case((placement, R), whole(placement))
    for placement in _sums(asked, 1):
        yield Case((R, placement), whole(placement))


@_rule(mv)
def _by_vector(asked: Asked) -> Iterator[Case]:
    """Rows of the matrix, or the inner dim of both."""
    yield Case((Shard(0), R), cut(0, asked.shapes[0][0]))
    yield Case((Shard(1), Shard(0)), whole(SUM))


@_rule(addmm, baddbmm)
def _added_product(asked: Asked) -> Iterator[Case]:
    """As the product; what is added lies as the result does."""
    added, *factors = asked.shapes
    rank = len(factors[0])
    for ins, ((placement, n),) in _product(asked._replace(shapes=factors, now=asked.now[1:])):
        if isinstance(placement, Shard):
            at = placement.dim - rank + len(added)
            yield Case(((Shard(at) if at >= 0 and added[at] == n else R), *ins), ((placement, n),))
        else:
            yield Case((placement, *ins), whole(placement))


# Views

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
    return tuple(args[1])


def _viewed(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        before, after = asked.shapes[0], _viewed_shape(op, asked.args)
        if 0 not in before:
            for (old, *more), (new, *rest) in _groups(before, after):
                if not (more or rest) or (asked.equal(before[old]) and asked.equal(after[new])):
                    yield Case((Shard(old),), cut(new, after[new]))
        for placement in _sums(asked):
            yield Case((placement,), whole(placement))

    rule.__doc__ = "chunks of the first dim of each group of dims"
    return rule


# Operators whose result is the operand in another shape.
RESHAPING = (view, reshape_alias, unsafe_view, unsqueeze, squeeze, squeeze_dim, squeeze_dims)
for _op in RESHAPING:
    _rules[_op] = _viewed(_op)


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
        for placement in _sums(asked):
            yield Case((placement,), whole(placement))

    rule.__doc__ = "its chunks, along the dims that are not repeated"
    return rule


for _op in (expand, spread):
    _rules[_op] = _repeated(_op)


@_rule(permute, transpose, t)
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
    for placement in _sums(asked):
        yield Case((placement,), whole(placement))


@_rule(select, slice_)
def _taken(asked: Asked) -> Iterator[Case]:
    """All dims but one may be cut."""
    shape, taken = asked.shapes[0], asked.args[1]
    gone = len(asked.args) == 3                            # `select` removes the dim
    for dim, n in enumerate(shape):
        if dim != taken % len(shape):
            yield Case((Shard(dim),), cut(dim - (gone and dim > taken % len(shape)), n))
    for placement in _sums(asked):
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
            for placement in _sums(asked):
                yield Case((placement,) * len(shapes), whole(placement))

    rule.__doc__ = "chunks along the dims that are not joined"
    return rule


for _op in (cat, stack):
    _rules[_op] = _together(_op)


def _parted(op: Op) -> Rule:
    def rule(asked: Asked) -> Iterator[Case]:
        shape, dim_cut = asked.shapes[0], asked.args[-1]
        count = shape[dim_cut] if op is unbind else len(asked.args[1])
        for dim, n in enumerate(shape):
            if dim != dim_cut:
                place = dim - (op is unbind and dim > dim_cut)
                yield Case((Shard(dim),), cut(place, n) * count)
        for placement in _sums(asked):
            yield Case((placement,), whole(*(placement,) * count))

    rule.__doc__ = "its chunks, along the dims that are not parted"
    return rule


for _op in (split, split_with_sizes, unbind):
    _rules[_op] = _parted(_op)


# Layers

@_rule(embedding)
def _embedded(asked: Asked) -> Iterator[Case]:
    """Columns of the table, or a part of the indices."""
    (_, width), index = asked.shapes
    yield Case((Shard(1), R), cut(len(index), width))
    for dim, n in enumerate(index):
        yield Case((R, Shard(dim)), cut(dim, n))


@_rule(embedding_backward)
def _embedded_backward(asked: Asked) -> Iterator[Case]:
    """Columns of the gradient, or sums over parts of the indices."""
    g, index = asked.shapes
    yield Case((Shard(len(g) - 1), R), cut(1, g[-1]))
    for dim in range(len(index)):
        yield Case((Shard(dim), Shard(dim)), whole(SUM))


@_rule(mse_loss)
def _compared(asked: Asked) -> Iterator[Case]:
    """Parts of the sum, or of the average."""
    reduction = asked.args[2]
    if reduction == "none":
        yield from pointwise(asked)
    elif asked.shapes[0] == asked.shapes[1]:
        for dim, n in enumerate(asked.shapes[0]):
            if asked.equal(n):
                yield Case((Shard(dim), Shard(dim)), whole(SUM if reduction == "sum" else AVG))


def _cut_first(shapes: Sequence[Shape], *sizes: int) -> Iterator[Case]:
    """The samples, which are the first dim of all operands and results. `sizes` are those of the results."""
    yield Case((Shard(0),) * len(shapes), tuple([(Shard(0), n) for n in sizes]))


@_rule(attention)
def _attended(asked: Asked) -> Iterator[Case]:
    """Samples; or heads, if there is one sample."""
    if len(asked.shapes) == 3 and len(asked.shapes[0]) == 4 and len({shape[:2] for shape in asked.shapes}) == 1:
        samples, heads = asked.shapes[0][:2]
        if asked.equal(samples):
            yield from _cut_first(asked.shapes, samples, samples * heads)
        if samples == 1:
            yield Case((Shard(1),) * 3, ((Shard(1), heads), (Shard(0), heads)))


@_rule(attention_weights)
def _weighed(asked: Asked) -> Iterator[Case]:
    """Samples; or heads, if there is one sample."""
    samples, heads = asked.shapes[0][:2]
    if asked.equal(samples):
        yield from _cut_first(asked.shapes, samples * heads)
    if samples == 1:
        yield Case((Shard(1), Shard(1), Shard(0)), cut(0, heads))


@_rule(layer_norm)
def _normalized(asked: Asked) -> Iterator[Case]:
    """All dims but those that are normalized may be cut."""
    shape, rank = asked.shapes[0], asked.args[3]
    for dim in range(len(shape) - rank):
        yield Case((Shard(dim), R, R)[:len(asked.shapes)], cut(dim, shape[dim]) * 3)


def _like_first(asked: Asked, dim: int) -> tuple[Placement, ...]:
    """A dim of the first operand is cut, and the same dim of the others, unless they have one element there."""
    shape = asked.shapes[0]
    return tuple([Shard(dim) if len(each) == len(shape) and each[dim] == shape[dim] else R for each in asked.shapes])


@_rule(standardize, standardize_backward)
def _standardized(asked: Asked) -> Iterator[Case]:
    """All dims but those that are normalized may be cut."""
    shape, axes = asked.shapes[0], asked.args[-2]
    for dim, n in enumerate(shape):
        if dim not in axes:
            yield Case(_like_first(asked, dim), cut(dim, n))


@_rule(standardized_sum)
def _weight_sum(asked: Asked) -> Iterator[Case]:
    """Sums over parts, and chunks of what is not summed."""
    over, axes = asked.args[4:6]
    for dim, n in enumerate(asked.shapes[0]):
        if dim not in axes:
            yield Case(_like_first(asked, dim), whole(SUM) if dim in over else cut(dim, n))


@_rule(sum_over_rows)
def _summed_rows(asked: Asked) -> Iterator[Case]:
    """Sums over parts, and chunks of what is not summed."""
    shape = asked.shapes[0]
    first = len(shape) - asked.args[1]
    for dim, n in enumerate(shape):
        yield Case((Shard(dim),), whole(SUM) if dim < first else cut(dim - first, n))


RULES: Table[Op, Rule] = table("Over several processes, it is computed by {}", _rules)
