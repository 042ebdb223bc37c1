"""The rules of operators that compute element by element, and of reductions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...foundations.dtypes import FLOATING, category
from ...ops.basic import cast, cast_in, copy, copy_into, real
from ...ops.elementwise.arithmetic import add, div, mul, neg, sub
from ...ops.framework import Op
from ...ops.indexing.sorting import max_dim, min_dim, sort, stable_sort, topk
from ...ops.linalg.norms import norm
from ...ops.networks.activations import threshold_backward
from ...ops.networks.losses import mse_loss
from ...ops.networks.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward
from ...ops.reductions import (
    all_of,
    amax,
    amin,
    any_of,
    argmax,
    argmin,
    max_all,
    mean_all,
    mean_dim,
    min_all,
    std,
    sum_all,
    sum_dim,
    var,
)
from ...ops.scans import cumprod, cumsum, logcumsumexp, sums_from
from ...ops.shape import alias
from .cases import AVG, SUM, Asked, Case, R, Rule, Rules, cut, parts, sums, whole
from .placement_types import Partial, Placement, Shard, _NormPartial

RULES = Rules()


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


RULES.of(threshold_backward)(pointwise)


@RULES.of(neg, copy, real)
def linear(asked: Asked) -> Iterator[Case]:
    """Sums of parts stay sums."""
    yield from pointwise(asked)
    for placement in sums(asked):
        yield Case((placement,), whole(placement))


@RULES.of(alias)
def _same(asked: Asked) -> Iterator[Case]:
    """The part itself."""
    yield from pointwise(asked)
    for placement in parts(asked):
        yield Case((placement,), whole(placement))


@RULES.of(cast, cast_in)
def _converted(asked: Asked) -> Iterator[Case]:
    """Sums of parts stay sums, unless a conversion to integers rounds the parts."""
    yield from pointwise(asked)
    if min(category(asked.args[0].dtype), category(np.dtype(asked.args[1]))) >= FLOATING:
        for placement in sums(asked):
            yield Case((placement,), whole(placement))


@RULES.of(copy_into)
def _copied(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in sums(asked, -1):
        yield Case((placement,) * len(asked.now), whole(placement))


@RULES.of(add, sub)
def _added(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    if len(asked.now) == 2 and asked.now[0] == asked.now[1]:
        for placement in sums(asked):
            yield Case((placement, placement), whole(placement))


@RULES.of(mul)
def _multiplied(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in sums(asked):
        yield Case((placement, R)[:len(asked.now)], whole(placement))
    if len(asked.now) == 2:
        for placement in sums(asked, 1):
            yield Case((R, placement), whole(placement))


@RULES.of(div)
def _divided(asked: Asked) -> Iterator[Case]:
    yield from pointwise(asked)
    for placement in sums(asked):
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
            for placement in sums(asked):
                yield Case((placement,), whole(placement))

    rule.__doc__ = "its chunks, if the axes are whole; otherwise the results are parts"
    return rule


for _op in {*_AXES, *_OF_PARTS}:
    RULES[_op] = _reduced(_op)


@RULES.of(softmax, log_softmax, cumsum, cumprod, logcumsumexp, sums_from)
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


RULES.update({max_dim: _picked(1), min_dim: _picked(1), sort: _picked(1), stable_sort: _picked(1), topk: _picked(2)})


@RULES.of(softmax_backward, log_softmax_backward)
def _along_dim_backward(asked: Asked) -> Iterator[Case]:
    """All dims but one may be cut."""
    rank = len(asked.shapes[0])
    for dim, n in enumerate(asked.shapes[0]):
        if dim != asked.args[2] % max(rank, 1):
            yield Case((Shard(dim), Shard(dim)), cut(dim, n))


@RULES.of(mse_loss)
def _compared(asked: Asked) -> Iterator[Case]:
    """Parts of the sum, or of the average."""
    reduction = asked.args[2]
    if reduction == "none":
        yield from pointwise(asked)
    elif asked.shapes[0] == asked.shapes[1]:
        for dim, n in enumerate(asked.shapes[0]):
            if asked.equal(n):
                yield Case((Shard(dim), Shard(dim)), whole(SUM if reduction == "sum" else AVG))


