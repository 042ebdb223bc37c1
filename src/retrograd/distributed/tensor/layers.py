"""The rules of products of matrices and of layers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ops.linalg.matrix import addmm, baddbmm, bmm, mm, mv
from ...ops.networks.attention import attention, attention_weights
from ...ops.networks.embedding import embedding, embedding_backward
from ...ops.networks.normalization import layer_norm, standardize, standardize_backward, standardized_sum, sum_over_rows
from .cases import SUM, Asked, Case, R, Rules, Shape, cut, sums, whole
from .placement_types import Placement, Shard

RULES = Rules()


# Products of matrices: rows, columns, or sums of products of parts

@RULES.of(mm, bmm)
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
    for placement in sums(asked):
        yield Case((placement, R), whole(placement))
    for placement in sums(asked, 1):
        yield Case((R, placement), whole(placement))


@RULES.of(mv)
def _by_vector(asked: Asked) -> Iterator[Case]:
    """Rows of the matrix, or the inner dim of both."""
    yield Case((Shard(0), R), cut(0, asked.shapes[0][0]))
    yield Case((Shard(1), Shard(0)), whole(SUM))


@RULES.of(addmm, baddbmm)
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


# Layers

@RULES.of(embedding)
def _embedded(asked: Asked) -> Iterator[Case]:
    """Columns of the table, or a part of the indices."""
    (_, width), index = asked.shapes
    yield Case((Shard(1), R), cut(len(index), width))
    for dim, n in enumerate(index):
        yield Case((R, Shard(dim)), cut(dim, n))


@RULES.of(embedding_backward)
def _embedded_backward(asked: Asked) -> Iterator[Case]:
    """Columns of the gradient, or sums over parts of the indices, unless all indices count for what a row gets."""
    g, index = asked.shapes
    by_count = asked.args[-1]
    yield Case((Shard(len(g) - 1), R), cut(1, g[-1]))
    for dim in range(0 if by_count else len(index)):
        yield Case((Shard(dim), Shard(dim)), whole(SUM))


def _cut_first(shapes: Sequence[Shape], *sizes: int) -> Iterator[Case]:
    """The samples, which are the first dim of all operands and results. `sizes` are those of the results."""
    yield Case((Shard(0),) * len(shapes), tuple([(Shard(0), n) for n in sizes]))


@RULES.of(attention)
def _attended(asked: Asked) -> Iterator[Case]:
    """Samples; or heads, if there is one sample."""
    if len(asked.shapes) == 3 and len(asked.shapes[0]) == 4 and len({shape[:2] for shape in asked.shapes}) == 1:
        samples, heads = asked.shapes[0][:2]
        if asked.equal(samples):
            yield from _cut_first(asked.shapes, samples, samples * heads)
        if samples == 1:
            yield Case((Shard(1),) * 3, ((Shard(1), heads), (Shard(0), heads)))


@RULES.of(attention_weights)
def _weighed(asked: Asked) -> Iterator[Case]:
    """Samples; or heads, if there is one sample."""
    samples, heads = asked.shapes[0][:2]
    if asked.equal(samples):
        yield from _cut_first(asked.shapes, samples * heads)
    if samples == 1:
        yield Case((Shard(1), Shard(1), Shard(0)), cut(0, heads))


@RULES.of(layer_norm)
def _normalized(asked: Asked) -> Iterator[Case]:
    """All dims but those that are normalized may be cut."""
    shape, rank = asked.shapes[0], asked.args[3]
    for dim in range(len(shape) - rank):
        yield Case((Shard(dim), R, R)[:len(asked.shapes)], cut(dim, shape[dim]) * 3)


def _like_first(asked: Asked, dim: int) -> tuple[Placement, ...]:
    """A dim of the first operand is cut, and the same dim of the others, unless they have one element there."""
    shape = asked.shapes[0]
    return tuple([Shard(dim) if len(each) == len(shape) and each[dim] == shape[dim] else R for each in asked.shapes])


@RULES.of(standardize, standardize_backward)
def _standardized(asked: Asked) -> Iterator[Case]:
    """All dims but those that are normalized may be cut."""
    shape, axes = asked.shapes[0], asked.args[-2]
    for dim, n in enumerate(shape):
        if dim not in axes:
            yield Case(_like_first(asked, dim), cut(dim, n))


@RULES.of(standardized_sum)
def _weight_sum(asked: Asked) -> Iterator[Case]:
    """Sums over parts, and chunks of what is not summed."""
    over, axes = asked.args[4:6]
    for dim, n in enumerate(asked.shapes[0]):
        if dim not in axes:
            yield Case(_like_first(asked, dim), whole(SUM) if dim in over else cut(dim, n))


@RULES.of(sum_over_rows)
def _summed_rows(asked: Asked) -> Iterator[Case]:
    """Sums over parts, and chunks of what is not summed."""
    shape = asked.shapes[0]
    first = len(shape) - asked.args[1]
    for dim, n in enumerate(shape):
        yield Case((Shard(dim),), whole(SUM) if dim < first else cut(dim - first, n))


