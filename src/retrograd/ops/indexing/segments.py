"""Reductions of segments, and their derivatives to any order.

The gradient for an element is read at the place of its segment. An element outside of all segments reads the zeros that
are appended after the last segment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.indexing import scattering as kernels
from ..choosing import either, ones
from ..framework import Op, operator
from ..scans import any_zero
from .indexing import gather, scatter_add, slice_backward
from .scattering import products_of_others

if TYPE_CHECKING:
    from ..values import Value


def _with_none(values: Value, dim: int) -> Any:
    """The values of the segments, and a 0 for the elements outside of all segments."""
    count = values.shape[dim]
    return slice_backward(values, (*values.shape[:dim], count + 1, *values.shape[dim + 1:]), dim, 0, count, 1)


def _read(g: Value, index: Value, dim: int) -> Any:
    """The value of its segment, for each element. This is also the derivative of a sum."""
    return gather(_with_none(g, dim), index, dim)


def _of_extreme(g: Value, x: Value, out: Value, index: Value, dim: int) -> Any:
    """All elements that equal the extreme share the gradient evenly. In a segment with nan, all nan share it."""
    hit = np.logical_or(x == _read(out, index, dim), np.isnan(x))
    ones = np.where(hit, np.ones_like(x), np.zeros_like(x))
    number = scatter_add(_with_none(np.zeros_like(out), dim), ones, index, dim)
    share = _read(g, index, dim) / np.maximum(gather(number, index, dim), 1)
    return np.where(hit, share, np.zeros_like(share))


def _by_others(g: Value, x: Value, out: Value, index: Value, lengths: Value, dim: int, initial: Any) -> Any:
    shape = (*x.shape[:dim], lengths.shape[dim] + 1, *x.shape[dim + 1:])
    others = products_of_others(x, index, shape, dim)
    return _read(g if initial is None else g * initial, index, dim) * others


def _with_zeros(g: Value, x: Value, out: Value, index: Value, lengths: Value, dim: int, initial: Any) -> Any:
    """Whether any element is 0 or nan."""
    return any_zero(np.where(np.isnan(x), np.zeros_like(x), x))


prod_backward = either("segment_prod_backward", _with_zeros, _by_others,
                       lambda g, x, out, index, lengths, dim, initial: _read(g * out, index, dim) / x,
                       tensors=5, harmless=ones(2), out=lambda g, x, out, index, lengths, dim, initial: (
                           segment_prod(x, index, lengths, dim, "prod", initial)))
segment_sum: Op = operator("segment_reduce", kernels.segment_reduce, tensors=3, x=_read)
segment_mean: Op = operator("segment_reduce", kernels.segment_reduce, tensors=3,
                            x=lambda g, index, lengths, dim: _read(g / np.maximum(lengths, 1), index, dim))
segment_extreme: Op = operator("segment_reduce", kernels.segment_reduce, tensors=3, x=_of_extreme)
segment_prod: Op = operator(
    "segment_reduce", kernels.segment_reduce, tensors=3,
    x=lambda g, x, out, index, lengths, dim, initial: prod_backward(g, x, out, index, lengths, dim, initial))
