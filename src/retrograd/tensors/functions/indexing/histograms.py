"""Searches in sorted values, and histograms, as functions and methods. They have no gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import Array, dtype as torch_dtype
from ....foundations.errors import warn_once
from ....foundations.scalars import check_double
from ....kernels.layout import in_rows
from ....ops.indexing import sorting as ops
from ...arguments.dims import array_of, as_int
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.out_rules import FREE, UNASKED, UNDERIVED, Rule, rule
from ...recording.public import public
from ...state.base import TensorBase
from ..elementwise.arithmetic import invalid
from ..sums import flag
from .gathering import check_range

_searchsorted, _histc = recorded(ops.searchsorted), recorded(ops.histc)
_histograms = {"histogram": (recorded(ops.histogram), recorded(ops.weighted_histogram)),
               "histogramdd": (recorded(ops.histogramdd), recorded(ops.weighted_histogramdd))}


_UNLIKE_HIST = ("torch.histogram: input tensor and hist tensor should have the same dtype, but got input {c_result} "
                "and hist {c_out}")


def _places(*args: Any, out_int32: bool = False, **options: Any) -> Rule:
    """The out= rule of a search: the dtype that `out_int32` asks for."""
    return rule(exact="torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
                      f"depending on whether out_int32 flag is True, but we got output tensor's dtype {{out}} and "
                      f"out_int32 flag is {out_int32}", overlap=FREE, gradient=UNASKED)


@public(
    "searchsorted(Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str side=None, "
    "Tensor sorter=None, Tensor out=None)",
    "searchsorted(Tensor sorted_sequence, Number self, *, bool out_int32=False, bool right=False, str side=None, "
    "Tensor sorter=None, Tensor out=None)",
    out=_places,
    strict=True)
def searchsorted(sorted_sequence: Any, input: Any = None, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Any = None, self: Any = None) -> Any:
    """The places at which the values can be inserted so that the sequence stays sorted.

    The place is before equal values, or after them with `right` or `side="right"`. The sequence is a vector, or has as
    many rows as `input`. With a vector, `input` may be a number. `sorter` holds the indices that sort an unsorted
    sequence. The result is int64, or int32 with `out_int32`. Raises RuntimeError if shapes or options do not fit.

    >>> import retrograd as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    input = self if input is None else input
    bounds = array_of("searchsorted", sorted_sequence, "sorted_sequence")
    values = input._array if isinstance(input, TensorBase) else np.asarray(number("searchsorted", "self", 2, input))
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if right and side == "left":
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                           "right was True")
    _check_bounds(bounds, values)
    for what, array in (("input value", values), ("boundary", bounds)):
        if not in_rows(array):
            _warn_of_copy(what)
    indices = None if sorter is None else _sorter(bounds, sorter)
    return _searchsorted(sorted_sequence, input, right or side == "right", flag("searchsorted", out_int32), indices)


def _warn_of_copy(what: str) -> None:
    warn_once(f"torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra "
              f"data copy when converting non-contiguous tensor to contiguous, please use contiguous {what} tensor if "
              "possible. This message will only appear once per program.")


def _check_bounds(bounds: Array, values: Array) -> None:
    if not bounds.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
                           "dimension")
    if bounds.ndim == 1:
        return
    if not values.ndim:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is "
                           f"1, but we got boundaries tensor dim({bounds.ndim}) and input value's dim(0) numel(1)")
    if bounds.shape[:-1] != values.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
                           "of boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{[*bounds.shape]} and input value tensor {[*values.shape]}")


def _sorter(bounds: Any, sorter: Any) -> Any:
    """The indices that sort the values. Raises RuntimeError if they do not fit."""
    indices = array_of("searchsorted", sorter, "sorter")
    if indices.shape != bounds.shape:
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                           f"{[*bounds.shape]}and got sorter tensor {[*indices.shape]}")
    if indices.dtype != np.int64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                           f"{torch_dtype.of[indices.dtype].legacy}")
    check_range(indices, bounds.shape[-1], RuntimeError, "torch.searchsorted(): sorter index out of range")
    return indices


@public(
    "bucketize(Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None)",
    "bucketize(Number self, Tensor boundaries, *, bool out_int32=False, bool right=False)",
    strict=True)
def bucketize(input: TensorBase | None = None, boundaries: Any = None, *, out_int32: bool = False, right: bool = False,
              self: Any = None, out: Any = None) -> Any:
    """The number of the bucket of each value. The sorted vector `boundaries` separates the buckets.

    A value equal to a boundary is in the bucket below it, or above it with `right`. `input` may be a number. The result
    is int64, or int32 with `out_int32`.

    >>> import retrograd as torch
    >>> torch.bucketize(torch.tensor([0., 2., 9.]), torch.tensor([1., 2., 3.]))
    tensor([0, 1, 3])
    """
    input = self if input is None else input
    if boundaries._array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)  # type: ignore[call-arg]


@public(
    "histc(Tensor input, int bins=100, Number min=0, Number max=0, out)",
    out=rule(exact=_UNLIKE_HIST, overlap=FREE, gradient=UNASKED, repeated=True), method=True)
def histc(input: TensorBase, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """The number of elements in each of `bins` bins of equal width from `min` to `max`, in the dtype of the input.

    If `min` and `max` are both 0, the extremes of the input stand for them. Elements outside, and nan, are not counted.
    Raises NotImplementedError for ints.
    """
    array_of("histc", input)
    low, high = number("histc", "min", 3, min), number("histc", "max", 4, max)
    check_double(low)
    check_double(high)
    return _histc(input, as_int("histc", bins, "bins"), low, high)


@public(
    "histogram(Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensors out=None)",
    "histogram(Tensor input, int bins=100, *, floats? range=None, Tensor? weight=None, bool density=False, "
    "Tensors out=None)",
    out=rule(overlap=FREE, gradient=UNDERIVED, exact=(
        _UNLIKE_HIST, "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got "
        "input {c_result} and bin_edges {c_out} for dimension 0")), method=True)
def histogram(input: TensorBase, bins: Any = 100, *, range: Any = None, weight: TensorBase | None = None,
              density: bool = False) -> return_types.histogram:
    """The number of elements, or the sum of their `weight`, in each bin, and the edges: `(hist, bin_edges)`.

    `bins` is a number of bins of equal width, over the `range` or between the extremes, or a 1-d tensor of edges. With
    `density` the histogram is scaled so that its integral is 1.

    >>> import retrograd as torch
    >>> torch.histogram(torch.tensor([1., 2., 2., 4.]), 3).hist
    tensor([1., 2., 1.])
    """
    array_of("histogram", input)
    if isinstance(bins, TensorBase):
        if range is not None:
            raise invalid("histogram", input, bins, range)
        edges: Any = bins._array
    else:
        edges = as_int("histogram", bins, "bins")
    return return_types.histogram(_binned("histogram", input, weight, edges, range, density))


@public(event="aten::histogramdd")
def histogramdd(input: TensorBase, bins: Any, range: Any = None, weight: TensorBase | None = None,
                density: bool = False) -> return_types.histogramdd:
    """The histogram of points in several dimensions, as `(hist, bin_edges)`. See `histogram`.

    The last dimension of `input` holds the coordinates of a point. `bins` is a number of bins for all dimensions, or
    one number or one 1-d tensor of edges for each. `range` lists the two ends of each dimension in turn.
    `bin_edges` is a tuple with one tensor for each dimension.
    """
    array = array_of("histogramdd", input)
    if array.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions, but got "
                           f"{array.ndim} dimensions")
    dims = array.shape[-1]
    given = [*bins] if isinstance(bins, (tuple, list)) else [bins] * dims
    of_edges = any(isinstance(each, TensorBase) for each in given)
    if len(given) != dims:
        raise RuntimeError(
            f"torch.histogramdd: expected {dims} sequences of bin edges for a {dims}-dimensional histogram but got "
            f"{len(given)}" if of_edges else
            "histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    edges = tuple([array_of("histogramdd", each, "bins", 2) if of_edges else as_int("histogramdd", each, "bins")
                   for each in given])
    hist, *places = _binned("histogramdd", input, weight, edges, range, density)
    return return_types.histogramdd((hist, tuple(places)))


def _binned(name: str, input: TensorBase, weight: TensorBase | None, edges: Any, range: Any, density: bool) -> Any:
    span = None if range is None else tuple(map(float, range))
    even, weighted = _histograms[name]
    if weight is None:
        return even(input, edges, span, bool(density))
    array_of(name, weight, "weight", 4)
    return weighted(input, weight, edges, span, bool(density))
