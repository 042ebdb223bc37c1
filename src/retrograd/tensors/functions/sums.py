"""The functions and methods `sum`, `mean` and `prod`, of all elements or over dimensions.

`dim` (NumPy's `axis`) is an int or a tuple of ints, and counts from the end if negative. If `dim` is missing, None or
(), all dims are reduced. If `keepdim` (NumPy's `keepdims`) is True, a reduced dimension stays with size 1. A `dim` out
of range is an IndexError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import DIFFERENTIABLE, dtype as torch_dtype, letter
from ...foundations.errors import kind_of, noted, warn_of_discarded_part
from ...foundations.modes import local
from ...ops import reductions as ops, scans
from ..arguments.dims import Dims, array_of, axes_of, axis_of
from ..arguments.options import element_type
from ..recording.calls import recorded
from ..recording.out_rules import FREE, Rule, rule
from ..recording.public import public
from ..state.base import TensorBase, requires

_sum_all, _sum_dim, _nansum = recorded(ops.sum_all), recorded(ops.sum_dim), recorded(ops.nansum)
_mean_all, _mean_dim = recorded(ops.mean_all), recorded(ops.mean_dim)
prod_all, prod_dim = recorded(scans.prod_all), recorded(scans.prod_dim)


class _All:
    """The default of `dim`. It differs from None, which stands for all dims in the overload that takes dims."""

    def __repr__(self) -> str:
        return "None"


_ALL: Any = _All()


def flag(name: str, value: Any, argument: str = "keepdim") -> bool:
    """The flag. Raises TypeError if the value is not a bool, because `x.sum(0, 1)` is probably a mistake."""
    if type(value) is not bool:
        where = f"'{argument}' (position 4)" if name == "linalg_vector_norm" else f"'{argument}'"
        raise noted(
            TypeError(f"{name}(): argument {where} must be bool, not {kind_of(value)}"),
            instead="pass several dims as a tuple")
    return value


def optional_type(name: str, dtype: torch_dtype | None) -> np.dtype[Any] | None:
    """The NumPy dtype of an optional `dtype=`."""
    return None if dtype is None else element_type(name, dtype)


def type_of_result(name: str, input: Any, dtype: torch_dtype | None) -> np.dtype[Any] | None:
    """The NumPy dtype of an optional `dtype=`. Raises RuntimeError for ints and bools if the input requires grad."""
    if dtype is None:
        return None
    asked = element_type(name, dtype)
    if asked not in DIFFERENTIABLE and local.thread.grad and isinstance(input, TensorBase) and requires(input):
        raise noted(RuntimeError(f"Autograd not support dtype: {torch_dtype.of[asked].legacy}"),
                    instead="pass x.detach() for a constant")
    _warn_of_conversion(input, asked)
    return asked


def _warn_of_conversion(input: Any, asked: np.dtype[Any] | None) -> None:
    """Warn if complex numbers become real before they are added or multiplied."""
    if asked is not None and isinstance(input, TensorBase):
        warn_of_discarded_part(input._array.dtype, asked)


_SUMMED = rule(overlap=FREE, typed=True, repeated=True)


@public(
    "sum(Tensor input, *, dtype dtype=None)",
    "sum(Tensor input, ints[1]? dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
    out=_SUMMED, method=True)
def sum(input: TensorBase, dim: Dims | None = _ALL, keepdim: bool = False, *, dtype: torch_dtype | None = None) -> Any:
    """The sum of all elements, or over `dim`. The dtype is `dtype`, int64 for bools and ints, or the input's dtype.

    >>> import retrograd as torch
    >>> torch.tensor([[1., 2.], [3., 4.]]).sum(0)
    tensor([4., 6.])
    """
    if dim is _ALL:
        if keepdim is False:
            return _sum_all(input, type_of_result("sum", input, dtype))
        dim = None
    axes = axes_of("sum", dim, array_of("sum", input).ndim)
    return _sum_dim(input, axes, flag("sum", keepdim), type_of_result("sum", input, dtype))


def _out_of_nansum(input: TensorBase, *args: Any, **options: Any) -> Rule:
    """The rule of nansum for `out`. For ints it is the rule of sum. Complex numbers are refused before any cast."""
    kind = letter(array_of("nansum", input).dtype)
    if kind == "c":
        return rule(overlap=FREE)
    return _SUMMED._replace(kernel=("nansum_cpu", "f")) if kind == "f" else _SUMMED


@public("nansum(Tensor input, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
        out=_out_of_nansum, method=True)
def nansum(input: TensorBase, dim: Dims | None = None, keepdim: bool = False, *,
           dtype: torch_dtype | None = None) -> Any:
    """The sum of all elements, or over `dim`, in which nan counts as 0. A nan gets the gradient 0."""
    axes = axes_of("nansum", dim, array_of("nansum", input).ndim)
    return _nansum(input, axes, flag("nansum", keepdim), type_of_result("nansum", input, dtype))


def _out_of_mean(input: TensorBase, dim: Any = _ALL, *args: Any, **options: Any) -> Rule:
    """The rule of mean for `out`. It depends on whether dims are given."""
    if dim is not _ALL:
        return rule(overlap=FREE, converted=True)
    complex_too = letter(array_of("mean", input).dtype) == "c"
    return rule(overlap=FREE, widened=complex_too, converted=not complex_too, repeated=True,
                uncastable="mean.dtype_out(): input types can't be cast to the desired output type {out}")


@public(
    "mean(Tensor input, *, dtype dtype=None, Tensor out=None)",
    "mean(Tensor input, ints[1]? dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
    out=_out_of_mean, method=True)
def mean(input: TensorBase, dim: Dims | None = _ALL, keepdim: bool = False, *, dtype: torch_dtype | None = None) -> Any:
    """The mean of all elements, or over `dim`. The mean of no elements is nan.

    Raises RuntimeError for ints and bools, unless `dtype` is floating.

    >>> import retrograd as torch
    >>> torch.tensor([[1., 2.], [3., 4.]]).mean(1)
    tensor([1.5000, 3.5000])
    """
    asked = optional_type("mean", dtype)
    _warn_of_conversion(input, asked)
    if dim is _ALL:
        if keepdim is False:
            return _mean_all(input, asked)
        dim = None
    axes = axes_of("mean", dim, array_of("mean", input).ndim)
    return _mean_dim(input, axes, flag("mean", keepdim), asked)


@public(
    "prod(Tensor input, *, dtype dtype=None)",
    "prod(Tensor input, int dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
    out=_SUMMED, method=True)
def prod(input: TensorBase, dim: int | None = None, keepdim: bool = False, *, dtype: torch_dtype | None = None) -> Any:
    """The product of all elements, or along one `dim`. Bools and ints are multiplied in int64."""
    if dim is None:
        if keepdim:
            raise TypeError("prod() received an invalid combination of arguments: keepdim needs a dim")
        return prod_all(input, type_of_result("prod", input, dtype))
    axis = axis_of("prod", dim, array_of("prod", input).ndim)
    return prod_dim(input, axis, flag("prod", keepdim), type_of_result("prod", input, dtype))
