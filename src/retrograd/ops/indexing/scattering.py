"""Values reduced at the places that an index names: `scatter_reduce` and `index_reduce`, with one rule per reduction.

The index of `index_reduce` is first expanded to the shape of its source, so a rule serves both functions. A source may
be larger than its index; only the part that the index covers is read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...kernels.indexing import scattering as kernels
from ..choosing import either, ones
from ..framework import Op, composed, linear, not_differentiable, operator
from ..scans import any_zero
from .indexing import cropped, gather, grown, scatter_add, scatter_value, take

if TYPE_CHECKING:
    from ..values import Value

# Operators without a derivative: how many values meet at a place, and which values do

counts: Op = operator("scatter_counts", kernels.counts, tensors=1)
in_groups: Op = operator("in_groups", kernels.in_groups, tensors=1, outputs="order inverse before after")


def _read(src: Value, shape: Shape) -> Any:
    """The part of a source that an index of this shape covers."""
    return cropped(src, shape) if src.ndim == len(shape) else np.reshape(src, shape)


def _placed(g: Value, shape: Shape) -> Any:
    """Zeros of the shape of a source with `g` in the part that was read."""
    return grown(g, shape) if g.ndim == len(shape) else np.reshape(g, shape)


def _own(g: Value, index: Value, dim: int, include_self: bool) -> Any:
    """The gradient for the values that were there before: 0 if they were not included."""
    return g if include_self else scatter_value(g, index, dim, 0)


# Sums and means


def _mean_to_self(g: Value, x_dtype: np.dtype[Any], index: Value, dim: int, include_self: bool) -> Any:
    return _own(g / counts(index, g.shape, dim, include_self, x_dtype), index, dim, include_self)


def _mean_to_source(g: Value, x_dtype: np.dtype[Any], src_shape: Shape, index: Value, dim: int,
                    include_self: bool) -> Any:
    return _placed(gather(g / counts(index, g.shape, dim, include_self, x_dtype), index, dim), src_shape)


# Products. The derivative by a factor is the product of the others.


def _prod_to_self(g: Value, src: Value, index: Value, dim: int, include_self: bool) -> Any:
    return _own(g * scatter_prod(np.ones_like(g), src, index, dim, "prod", True), index, dim, include_self)


def _by_others(g: Value, x: Value, factors: Value, out: Value, index: Value, dim: int, include_self: bool) -> Any:
    others = products_of_others(factors, index, x.shape, dim)
    return gather(g * (x if include_self else scatter_value(x, index, dim, 1)), index, dim) * others


prod_backward = either(
    "scatter_prod_backward", lambda g, x, factors, out, index, dim, include_self: any_zero(factors), _by_others,
    lambda g, x, factors, out, index, dim, include_self: gather(g * out, index, dim) / factors,
    tensors=5, harmless=ones(3), out=lambda g, x, factors, out, index, dim, include_self: (
        scatter_prod(x, factors, index, dim, "prod", include_self)))


def _prod_to_source(g: Value, x: Value, src: Value, index: Value, out: Value, dim: int, include_self: bool) -> Any:
    return _placed(prod_backward(g, x, _read(src, index.shape), out, index, dim, include_self), src.shape)


def products_of_others(factors: Value, index: Value, shape: Shape, dim: int) -> Any:
    """For each factor, the product of all others at its place: the product before it times the product after it."""
    order, inverse, before, after = in_groups(index, shape, dim)
    line, back = take(np.reshape(factors, (-1,)), order), math.prod(index.shape) - 1 - np.arange(math.prod(index.shape))
    behind = take(_products_before(take(line, back), take(after, back)), back)
    return np.reshape(take(_products_before(line, before) * behind, inverse), index.shape)


def _doubled(line: Value, count: Array, most: int) -> Any:
    """For each element, the product of the `count` elements before it. `most` is the largest count.

    Each step doubles the lengths of the products: it multiplies a product by the product just before it.
    """
    place, step = np.arange(line.shape[0]), 1
    running = np.where(count >= 1, take(line, np.maximum(place - 1, 0)), np.ones_like(line))
    while step <= most:
        earlier = take(running, np.maximum(place - step, 0))
        running = running * np.where(count >= step, earlier, np.ones_like(earlier))
        step *= 2
    return running


# The kernel stops early. The composition must not look at the counts.
_products_before = composed(
    "products_before", lambda line, count: _doubled(line, count, int(np.max(count, initial=0))),
    lambda line, count: _doubled(line, count, line.shape[0] - 1), tensors=2)


# Extremes. All elements that equal the extreme share its gradient evenly.


def _winners(x: Value, src: Value, index: Value, out: Value, dim: int, include_self: bool) -> tuple[Any, Any, Any]:
    """Ones where `x` and the source equal the extreme, for each of the two, and their number at each place."""
    own = np.where(x == out, np.ones_like(x), np.zeros_like(x))
    if not include_self:
        own = scatter_value(own, index, dim, 0)
    read = _read(src, index.shape)
    read = np.where(read == gather(out, index, dim), np.ones_like(read), np.zeros_like(read))
    return own, read, scatter_add(own, read, index, dim)


def _extreme_to_self(g: Value, x: Value, src: Value, index: Value, out: Value, dim: int, include_self: bool) -> Any:
    own, _, number = _winners(x, src, index, out, dim, include_self)
    share = g / number                                  # no element equals a nan, so the gradient is nan there
    return _own(np.where(own == 1, share, share * 0.0), index, dim, include_self)


def _extreme_to_source(g: Value, x: Value, src: Value, index: Value, out: Value, dim: int, include_self: bool) -> Any:
    _, read, number = _winners(x, src, index, out, dim, include_self)
    share = gather(g / number, index, dim)
    return _placed(np.where(read == 1, share, share * 0.0), src.shape)


scatter_reduce_sum: Op = linear("scatter_reduce", kernels.scatter_reduce, tensors=3, x=_own,
                                src=lambda g, src_shape, index, dim: _placed(gather(g, index, dim), src_shape))
scatter_mean: Op = linear("scatter_reduce", kernels.scatter_reduce, tensors=3, x=_mean_to_self, src=_mean_to_source)
scatter_prod: Op = operator("scatter_reduce", kernels.scatter_reduce, tensors=3, x=_prod_to_self, src=_prod_to_source)
scatter_extreme: Op = operator("scatter_reduce", kernels.scatter_reduce, tensors=3, x=_extreme_to_self,
                               src=_extreme_to_source)
index_mean: Op = linear("index_reduce", kernels.index_reduce, tensors=3, x=_mean_to_self, src=_mean_to_source)
index_prod: Op = operator("index_reduce", kernels.index_reduce, tensors=3, x=_prod_to_self, src=_prod_to_source)
index_extreme: Op = operator("index_reduce", kernels.index_reduce, tensors=3, x=_extreme_to_self,
                             src=_extreme_to_source)

# `scatter` with reduce=…, which PyTorch does not differentiate

_refused, _refused_written = not_differentiable("scatter"), not_differentiable("scatter_")
scatter_with: Op = operator("scatter", kernels.scatter_reduce, node="NotImplemented", tensors=3, x=_refused,
                            src=_refused, written={"x": _refused_written, "src": _refused_written})
scatter_number: Op = operator("scatter", kernels.scatter_number, node="NotImplemented", tensors=2, x=_refused,
                              written={"x": _refused_written})
