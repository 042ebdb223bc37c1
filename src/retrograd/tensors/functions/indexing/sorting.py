"""Extremes and their indices, medians, sorting, running sums and products, and counting, as functions and methods.

Functions with values and indices return a named tuple of `return_types`. Indices are int64 and have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import BOOL_, C_NAMES, dtype as torch_dtype
from ....foundations.errors import kind_of, noted, unsaid
from ....kernels.reductions import nonempty
from ....ops import reductions, scans
from ....ops.framework import Op
from ....ops.indexing import sorting as ops
from ...arguments.dims import array_of, as_int, axis_of
from ...arguments.options import element_type
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import APART, EXACT, FREE, UNASKED, Rule, rule
from ...recording.public import methods, public
from ...state.base import TensorBase
from ..sums import flag, type_of_result

_mode, _kthvalue, _sort, _topk = recorded(ops.mode), recorded(ops.kthvalue), recorded(ops.sort), recorded(ops.topk)
_logcumsumexp = recorded(scans.logcumsumexp)
_nonzero, _nonzero_columns = recorded(ops.nonzero), recorded(ops.nonzero_columns)
_bincount, _stable_sort = recorded(ops.bincount), recorded(ops.stable_sort)


_EXTREME = rule(uncastable=unsaid("Expected canCast( typeMetaToScalarType(self.dtype()), "
                                  "typeMetaToScalarType(out.dtype())) to be true"),
                overlap=FREE, repeated=True)


def _extreme(name: str, of_all: Any, along: Any, pairwise: np.ufunc, largest: bool) -> Callable[..., Any]:
    """max or min."""
    of_all, along, named = recorded(of_all), recorded(along), getattr(return_types, name)

    def asked(input: TensorBase, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Rule:
        if isinstance(dim, TensorBase) or other is not None:
            return rule(blame=f"{name}imum")
        return _EXTREME if dim is None else rule(exact=EXACT)

    word = "largest" if largest else "smallest"

    @public(f"{name}(Tensor input, out)", f"{name}(Tensor input, Tensor other, out)",
            f"{name}(Tensor input, int dim, bool keepdim=False, *, Tensors out=None) "
            "-> (Tensor values, Tensor indices)",
            name=name, out=asked,
            doc=f"The {word} element; with `dim`, the {word} elements along it, as `(values, indices)`.\n\n    Of two "
                f"tensors, it is the {word} of each pair of elements. Elements that tie share the gradient. With "
                "`dim`, the first of them gets the gradient and the index.")
    def function(input: TensorBase, dim: Any = None, keepdim: bool = False, *, other: TensorBase | None = None) -> Any:
        array = array_of(name, input)
        if isinstance(dim, TensorBase) or other is not None:
            return pairwise(input, dim if other is None else other)
        if dim is not None:
            dim = axis_of(name, dim, array.ndim)
            if array.size == 0:
                nonempty(f"{name}()", array.shape, (dim,))
            return named(along(input, dim, flag(name, keepdim), largest))
        if keepdim:
            raise TypeError(f"{name}() received an invalid combination of arguments: keepdim needs a dim. For several "
                            f"dims, or all of them, use a{name}().")
        if array.size == 0:
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                               "reduction dim with the 'dim' argument.")
        return of_all(input, largest)

    return function


max = _extreme("max", reductions.max_all, ops.max_dim, np.maximum, True)
min = _extreme("min", reductions.min_all, ops.min_dim, np.minimum, False)


_MIDDLE = rule(overlap=APART, exact=(
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{out}Tensor "
    "does not equal torch.{result}Tensor (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type {result}; but got torch.{out}Tensor instead (while "
    "checking arguments for median)"))


def _middle(name: str, of_all: Any, along: Any, ignore_nan: bool) -> Callable[..., Any]:
    """median or nanmedian."""
    of_all, along, named = recorded(of_all), recorded(along), getattr(return_types, name)

    def asked(input: TensorBase, dim: int | None = None, keepdim: bool = False) -> Rule:
        if dim is None:
            raise TypeError(f"{name}() missing 1 required positional arguments: \"dim\"")
        return _MIDDLE

    @public(f"{name}(Tensor input)",
            f"{name}(Tensor input, int dim, bool keepdim=False, *, Tensors out=None) "
            "-> (Tensor values, Tensor indices)",
            name=name, out=asked, doc=
        "The median of all elements; with `dim`, the medians along it, as `(values, indices)`.\n\n    Of an even "
        "number of elements it is the lower of the two in the middle. "
        f"{'Elements that are nan are ignored.' if ignore_nan else 'If an element is nan, the result is nan.'}")
    def function(input: TensorBase, dim: int | None = None, keepdim: bool = False) -> Any:
        array = array_of(name, input)
        if dim is None:
            return of_all(input, ignore_nan)
        return named(along(input, axis_of(name, dim, array.ndim), flag(name, keepdim), ignore_nan))

    return function


median = _middle("median", ops.median, ops.median_dim, False)
nanmedian = _middle("nanmedian", ops.nanmedian, ops.nanmedian_dim, True)


@public(
    "mode(Tensor input, int dim=-1, bool keepdim=False, *, Tensors out=None) -> (Tensor values, Tensor indices)",
    out=rule(overlap=APART, exact=("expected scalar type '{result}' but got '{out}' for values output", "expected "
        "scalar type '{result}' but got '{out}' for indices output")), method=True)
def mode(input: TensorBase, dim: int = -1, keepdim: bool = False) -> return_types.mode:
    """The most frequent elements along `dim`, as `(values, indices)`. If there are several, the smallest."""
    place = axis_of("mode", dim, array_of("mode", input).ndim)
    return return_types.mode(_mode(input, place, flag("mode", keepdim)))


@public(
    "kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False, *, Tensors out=None) "
    "-> (Tensor values, Tensor indices)",
    out=rule(overlap=APART, exact=("output values must be of same type as input", "output indices must be of scalar "
        "type {result}")), method=True)
def kthvalue(input: TensorBase, k: int, dim: int = -1, keepdim: bool = False) -> return_types.kthvalue:
    """The k-th smallest elements along `dim`, counted from 1, as `(values, indices)`.

    Raises RuntimeError if there are fewer than k elements, and IndexError if there are no elements.
    """
    array = array_of("kthvalue", input)
    k, axis = as_int("kthvalue", k, "k"), axis_of("kthvalue", dim, array.ndim)
    nonempty("kthvalue()", array.shape, (axis,))
    if not 1 <= k <= (array.shape[axis] if array.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    return return_types.kthvalue(_kthvalue(input, k, axis, flag("kthvalue", keepdim)))


@public(
    "sort(Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensors out=None) "
    "-> (Tensor values, Tensor indices)",
    "sort(Tensor input, int dim=-1, bool descending=False, *, Tensors out=None) -> (Tensor values, Tensor indices)",
    out=rule(exact=EXACT), strict=True, method=True)
def sort(input: TensorBase, dim: int = -1, descending: bool = False, stable: bool | None = None) -> return_types.sort:
    """The elements sorted along `dim`, as `(values, indices)`. Equal elements keep their order; nan counts as largest.

    >>> import retrograd as torch
    >>> torch.tensor([3., 1., 2.]).sort().indices
    tensor([1, 2, 0])
    """
    axis = axis_of("sort", dim, array_of("sort", input).ndim)
    call = _sort if stable is None else _stable_sort
    return return_types.sort(call(input, axis, flag("sort", descending, argument="descending")))


@public(
    "argsort(Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None)",
    "argsort(Tensor input, int dim=-1, bool descending=False)",
    out=rule(exact=EXACT, blame="sort"),
    strict=True, method=True)
def argsort(input: TensorBase, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort the tensor along `dim`. See `sort`."""
    return sort(input, dim, descending)[1]


@public("msort(Tensor input, out)", out=rule(exact=EXACT, blame="sort"), method=True)
def msort(input: TensorBase) -> Any:
    """The elements sorted along the first dimension."""
    return sort(input, 0)[0]


@public(
    "topk(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensors out=None) "
    "-> (Tensor values, Tensor indices)",
    out=rule(exact=EXACT),
    strict=True, method=True)
def topk(input: TensorBase, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> return_types.topk:
    """The k largest elements along `dim`, sorted, as `(values, indices)`; the smallest if `largest` is False.

    Raises RuntimeError if there are fewer than k elements.

    >>> import retrograd as torch
    >>> torch.tensor([1., 3., 2.]).topk(2).values
    tensor([3., 2.])
    """
    array = array_of("topk", input)
    k, axis = as_int("topk", k, "k"), axis_of("topk", dim, array.ndim)
    if not 0 <= k <= (array.shape[axis] if array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    return return_types.topk(_topk(input, k, axis, flag("topk", largest, argument="largest")))


def _cumulative(op: Op, doc: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """cumsum or cumprod, and its in-place form."""
    name, call = op.name, recorded(op)

    def refuse_bool(dtype: np.dtype[Any]) -> None:
        if dtype == BOOL_:
            raise noted(
                NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'"), instead="choose another dtype")

    @public(f"{name}(Tensor input, int dim, *, dtype dtype=None, Tensor out=None)", name=name, doc=doc,
            out=rule(typed=True, kernel=("{name}_out_cpu", "iufc")), method=True)
    def function(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> Any:
        axis = axis_of(name, dim, array_of(name, input).ndim)
        if dtype is not None:
            refuse_bool(element_type(name, dtype))
        return call(input, axis, type_of_result(name, input, dtype))

    @public(f"{name}_(Tensor input, int dim, *, dtype dtype=None)", name=f"{name}_", method=True,
            doc=f"`{name}`, written over the tensor itself.")
    def written(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> Any:
        have = array_of(name, input).dtype
        axis, target = axis_of(name, dim, input._array.ndim), have if dtype is None else element_type(name, dtype)
        refuse_bool(target)
        if target != have:
            raise RuntimeError(f"Bad in-place call: input tensor dtype {C_NAMES[have.name]} and output tensor dtype "
                               f"{C_NAMES[target.name]} should match")
        return over(op, input, axis, target)

    return function, written


cumsum, cumsum_ = _cumulative(
    scans.cumsum, """The running sums of the elements along `dim`. Bools and ints are summed in int64.

    >>> import retrograd as torch
    >>> torch.tensor([1, 2, 3]).cumsum(0)
    tensor([1, 3, 6])
    """)
cumprod, cumprod_ = _cumulative(
    scans.cumprod, "The running products of the elements along `dim`. Bools and ints are multiplied in int64.")


@public("logcumsumexp(Tensor input, int dim, out)", out=rule(exact="expected scalar_type {result} but found {out}"),
        method=True)
def logcumsumexp(input: TensorBase, dim: int) -> Any:
    """The logarithms of the running sums of exp(input) along `dim`, computed without overflow."""
    return _logcumsumexp(input, axis_of("logcumsumexp", dim, array_of("logcumsumexp", input).ndim))


def _running(name: str, op: Op, largest: bool) -> Callable[..., Any]:
    call, named = recorded(op), getattr(return_types, name)

    @public(f"{name}(Tensor input, int dim, *, Tensors[2] out=None) -> (Tensor values, Tensor indices)", name=name,
            out=rule(exact="expected scalar_type {result} but found {out}", overlap=FREE, repeated=True),
            doc=f"The running {'maxima' if largest else 'minima'} along `dim`, as `(values, indices)`. "
                        "Of equal elements, the index is that of the last.")
    def function(input: TensorBase, dim: int) -> Any:
        array = array_of(name, input)
        ndim = array.ndim
        if not array.size:                                   # without elements, PyTorch accepts any dim
            return named(call(input, as_int(name, dim, "dim") % ndim, largest))
        if ndim == 0 and as_int(name, dim, "dim") not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        return named(call(input, axis_of(name, dim, ndim), largest))

    return function


cummax, cummin = _running("cummax", scans.cummax, True), _running("cummin", scans.cummin, False)


@public(
    "nonzero(Tensor input, *, bool as_tuple=False, out)",
    out=rule(exact="nonzero: Expected out tensor to have scalar type {result} but got scalar type{out}", overlap=APART,
        gradient=UNASKED), method=True)
def nonzero(input: TensorBase, *, as_tuple: bool = False) -> TensorBase | Any:
    """The indices of the elements that are not 0, one row each; with `as_tuple`, one tensor for each dimension.

    >>> import retrograd as torch
    >>> torch.tensor([0, 5, 7]).nonzero()
    tensor([[1],
            [2]])
    """
    array_of("nonzero", input)
    if not isinstance(as_tuple, bool):
        raise TypeError(f"nonzero(): argument 'as_tuple' must be bool, not {kind_of(as_tuple)}")
    return _nonzero_columns(input) if as_tuple else _nonzero(input)


@public("argwhere(Tensor input)", method=True)
def argwhere(input: TensorBase) -> Any:
    """The indices of the elements that are not 0, one row each."""
    return nonzero(input)


@public("bincount(Tensor input, Tensor weights=None, int minlength=0)", method=True)
def bincount(input: TensorBase, weights: TensorBase | None = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2 … occurs in a 1-d tensor of ints, or the sum of its `weights`. At least `minlength`
    counts."""
    array_of("bincount", input)
    return _bincount(input, weights, as_int("bincount", minlength, "minlength"))


def _np_cumulative(function: Callable[..., Any]) -> Callable[..., Any]:
    def cumulative(a: Any, axis: int | None = None, dtype: torch_dtype | None = None) -> Any:
        return function(a, axis, dtype=dtype) if axis is not None else function(np.reshape(a, (-1,)), 0, dtype=dtype)

    return cumulative


NUMPY: dict[Any, Callable[..., Any]] = {
    np.cumsum: _np_cumulative(cumsum), np.cumprod: _np_cumulative(cumprod),
    np.sort: lambda a, axis=-1: sort(a, axis)[0], np.argsort: lambda a, axis=-1: argsort(a, axis),
    np.argwhere: argwhere, np.nonzero: lambda a: nonzero(a, as_tuple=True),
}


methods(max, min, median, nanmedian, cummax, cummin)
