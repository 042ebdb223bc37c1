"""Quantiles, and the mean that ignores nan, as functions and methods. As in PyTorch, other functions compose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array, dtype as torch_dtype, legacy, letter
from ...foundations.errors import noted
from ...ops.basic import check_values
from ...ops.elementwise.arithmetic import mul_number
from ..arguments.dims import Dims, axis_of
from ..recording.out_rules import FREE, rule
from ..recording.overwriting import delivered
from ..recording.public import public
from ..state.base import TensorBase, plain
from .elementwise.arithmetic import div, mul, sub
from .elementwise.blending import lerp_
from .elementwise.comparison import isnan, logical_not
from .indexing.gathering import gather
from .indexing.masking import masked_fill
from .indexing.sorting import sort
from .reductions import any as any_of
from .shapes.axes import transpose
from .shapes.geometry import squeeze_, transpose_, unsqueeze_
from .shapes.shape import flatten, unsqueeze, view
from .sums import flag, nansum, optional_type, sum as sum_over

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
_LARGEST = 2**24


@public(
    "quantile(Tensor input, Tensor q, int dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
    "out=None)",
    "quantile(Tensor input, float q, int dim=None, bool keepdim=False, *, str interpolation='linear', Tensor out=None)",
    event="aten::quantile", method=True)
def quantile(input: TensorBase, q: Any, dim: int | None = None, keepdim: bool = False, *,
             interpolation: str = "linear", out: TensorBase | None = None) -> Any:
    """The quantiles of all elements, or of the elements along `dim`: a part `q` of the elements is below the result.

    `q` is a number from 0 to 1, or a tensor of the input's dtype. A 1-d `q` gives the result a new first dimension. The
    result between two elements is by `interpolation`: linear, lower, higher, midpoint or nearest. If an element is nan,
    the result is nan. Raises RuntimeError if the input has no elements, or is neither float32 nor float64.

    >>> import retrograd as torch
    >>> torch.quantile(torch.tensor([1., 2., 4.]), 0.75)
    tensor(3.)
    """
    return _delivered("quantile", input, q, dim, flag("quantile", keepdim), interpolation, out)


@public(
    "nanquantile(Tensor input, Tensor q, int dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
    "out=None)",
    "nanquantile(Tensor input, float q, int dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
    "out=None)",
    event="aten::nanquantile", method=True)
def nanquantile(input: TensorBase, q: Any, dim: int | None = None, keepdim: bool = False, *,
                interpolation: str = "linear", out: TensorBase | None = None) -> Any:
    """`quantile` of the elements that are not nan. The result is nan if all elements are nan."""
    return _delivered("nanquantile", input, q, dim, flag("nanquantile", keepdim), interpolation, out)


_EXACT = rule(exact="quantile() out tensor must be same dtype as the input tensor")


def _delivered(name: str, input: TensorBase, q: Any, dim: int | None, keepdim: bool, interpolation: str,
               out: TensorBase | None) -> Any:
    """The quantiles. If `out` is given, a recorded copy writes them into `out`."""
    array = input._array
    q = _checked_q(array, q, interpolation)
    if dim is not None:
        dim = axis_of(name, dim, array.ndim)
    result = _computed(input, q, dim, keepdim, interpolation, name == "nanquantile")
    return delivered(name, _EXACT, out, result)


def _checked_q(array: Array, q: Any, interpolation: str) -> Any:
    """`q` as a tensor. Raises PyTorch's RuntimeError or TypeError if the arguments are wrong."""
    if not isinstance(q, TensorBase):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        q = plain(np.asarray(q, array.dtype if letter(array.dtype) == "f" else np.float32))
    if not array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q._array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if array.dtype not in (np.float32, np.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q._array.dtype != array.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _WAYS:
        raise RuntimeError("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
                           f"got {interpolation}")
    check_values(q._array, _check_probabilities)
    return q


def _check_probabilities(q: Array) -> None:
    if not np.all((q >= 0) & (q <= 1)):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def _computed(input: TensorBase, q: TensorBase, dim: int | None, keepdim: bool, interpolation: str,
              ignore_nan: bool) -> Any:
    shape = input._array.shape
    if dim is None:
        ordered, rest = sort(flatten(input))[0], (1,) * len(shape) if keepdim else ()
    else:
        rest = tuple([1 if axis == dim else n for axis, n in enumerate(shape) if axis != dim or keepdim])
        last = dim == len(shape) - 1
        ordered = sort(input if last else transpose(unsqueeze(input, -1), dim, -1))[0]
        if not shape:
            rest = ()
    n = ordered._array.shape[-1]
    if n > _LARGEST:
        raise noted(
            RuntimeError("quantile() input tensor is too large"),
            because=f"the limit is {_LARGEST} elements along a dim")
    ordered = view(ordered, (*rest, n))
    ranks = _ranks(ordered, q, n, ignore_nan)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
    below = ranks.long()
    values = gather(ordered, -1, below)
    if interpolation in ("linear", "midpoint"):
        weights = sub(ranks, below) if interpolation == "linear" else ranks.detach() * 0 + 0.5
        values = lerp_(values, gather(ordered, -1, ranks.ceil().long()), weights)
    if q._array.ndim:
        transpose_(unsqueeze_(values, 0), 0, -1)
    return squeeze_(values, -1)


def _ranks(ordered: TensorBase, q: TensorBase, n: int, ignore_nan: bool) -> Any:
    """The places of the quantiles among the ordered elements. If the result must be nan, the place is that of a nan."""
    nans = isnan(ordered.detach())
    if ignore_nan:
        ranks = mul(q, sub(sum_over(logical_not(nans), -1, True), 1))
        return masked_fill(ranks, ranks.detach() < 0, 0)
    # As in PyTorch, the ranks are broadcast to the shape of `hits`, even if no element is nan.
    hits = any_of(nans, -1, True)
    ranks = mul_number(q, n - 1)
    shape = np.broadcast_shapes(ranks.shape, hits.shape)
    return masked_fill(ranks if ranks.shape == shape else ranks.expand(shape), hits, n - 1)


@public(
    "nanmean(Tensor input, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
    out=rule(blame="nansum", overlap=FREE, typed=True, kernel=("nansum_cpu", "f")),
    event="aten::nanmean", method=True)
def nanmean(input: TensorBase, dim: Dims | None = None, keepdim: bool = False, *,
            dtype: torch_dtype | None = None) -> Any:
    """The mean of the elements that are not nan, of all elements or over `dim`. It is nan if all elements are nan.

    Raises RuntimeError for ints and bools.

    >>> import retrograd as torch
    >>> torch.nanmean(torch.tensor([1., float("nan"), 3.]))
    tensor(2.)
    """
    array, target = input._array, optional_type("nanmean", dtype)
    if letter(array.dtype) not in "fc":
        raise noted(
            RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {legacy(array)}"),
            instead="convert with .float() first")
    if target is not None and letter(target) not in "fc":
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or "
                           f"complex dtype. Got: {torch_dtype.of[target].legacy}")
    total = nansum(input, dim, keepdim, dtype=dtype)
    return div(total, sum_over(logical_not(isnan(input.detach())), dim, keepdim))
