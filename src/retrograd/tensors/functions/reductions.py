"""Reductions over dimensions beside sums: variances, extremes, `any` and `all`, as functions and methods.

`dim` (NumPy's `axis`) is an int or a tuple of ints, and counts from the end if negative. If `dim` is missing, None or
(), all dims are reduced. If `keepdim` (NumPy's `keepdims`) is True, a reduced dimension stays with size 1. A `dim` out
of range is an IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import dtype as torch_dtype, letter, refuse, require, uint64
from ...foundations.errors import noted, warn
from ...kernels.reductions import nonempty
from ...kernels.sums import count
from ...ops import reductions as ops
from ...ops.framework import Op
from ...return_types import aminmax as _MinMax
from ...tensors.state.base import TensorBase
from ..arguments.dims import Dims, array_of, as_int, axes_of, axis_of
from ..arguments.options import number, shape_of
from ..recording.calls import recorded
from ..recording.out_rules import EXACT, FREE, UNASKED, Rule, rule
from ..recording.public import methods, public
from .sums import flag, mean, nansum, prod_all, prod_dim, sum


def _spread(op: Op, what: str) -> Callable[..., Any]:
    """The function var, std, var_mean or std_mean. The four differ only in their results."""
    call, name, several = recorded(op), op.name, "_" in op.name

    def asked(input: TensorBase, dim: Any = None, *args: Any, **options: Any) -> Rule:
        if type(dim) is bool:
            raise TypeError(f"{name}() received an invalid combination of arguments: out= needs a dim, or correction=")
        return rule(overlap=FREE, widened=True, repeated=True)

    last, results = (")", " -> (Tensor, Tensor)") if several else (", out)", "")
    @public(f"{name}(Tensor input, ints[1]? dim, bool unbiased=True, bool keepdim=False{last}{results}",
            f"{name}(Tensor input, ints[1] dim=None, *, Number correction=None, bool keepdim=False"
            + (")" if several else ", Tensor out=None)") + results,
            f"{name}(Tensor input, bool unbiased=True){results}", name=name, out=None if several else asked,
            strict=True, doc=f"The {what} of all elements, or over `dim`. The divisor is count - correction."
                "\n\n    The default correction is 1, or 0 if `unbiased` is False. "
                "Raises RuntimeError for ints and bools.")
    def function(input: TensorBase, dim: int | Sequence[int] | None = None, unbiased: bool | None = None,
                 keepdim: bool = False, *, correction: float | None = None) -> Any:
        array = array_of(name, input)
        if type(dim) is bool:                                 # var(x, False) calls the overload without a dim
            dim, unbiased = None, dim
        if letter(array.dtype) not in "fc":
            names = name if several else "std and var"
            raise noted(
                RuntimeError(f"{names} only support floating point and complex dtypes"),
                instead="convert with .float() first")
        axes = axes_of(name, dim, array.ndim)
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        else:
            correction = number(name, "correction", 3, correction)
        if count(array.shape, axes) <= correction or not array.size:
            warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
                 "reduction factor (input numel divided by output numel).", UserWarning)
        return call(input, axes, flag(name, keepdim), correction)

    return function


var, std = _spread(ops.var, "variance"), _spread(ops.std, "standard deviation")
var_mean, std_mean = _spread(ops.var_mean, "variance and mean"), _spread(ops.std_mean, "standard deviation and mean")


def _reducible(name: str, input: TensorBase, dim: Any) -> tuple[int, ...]:
    """The axes of a reduction without an identity. Raises RuntimeError or IndexError for an empty dim."""
    array = array_of(name, input)
    if array.size == 0:
        if dim is None or dim in ((), []):
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                               "the reduction dim with the 'dim' argument.")
        if isinstance(dim, (int, tuple, list)):
            axes_of(name, dim, array.ndim)
            nonempty(f"{name}()", array.shape, (dim,) if isinstance(dim, int) else dim)
    return axes_of(name, dim, array.ndim)


def _extreme(op: Op, most: str) -> Callable[..., Any]:
    """The function amax or amin."""
    call, name, largest = recorded(op), op.name, most == "largest"

    @public(f"{name}(Tensor input, ints[1] dim=[], bool keepdim=False, out)", method=True, name=name,
            out=rule(exact="Expected the dtype for input and out to match, but got {result} for input's dtype and "
                           "{out} for out's dtype.", overlap=FREE, repeated=True),
            doc=f"The {most} element of all, or over `dim`. Equal {most} elements share the gradient evenly.\n\n    "
                "Raises RuntimeError or IndexError if there are no elements to compare.")
    def function(input: TensorBase, dim: Dims = (), keepdim: bool = False) -> Any:
        return call(input, _reducible(name, input, dim), flag(name, keepdim), largest)

    return function


amax, amin = _extreme(ops.amax, "largest"), _extreme(ops.amin, "smallest")


@public(
    "aminmax(Tensor input, *, int dim=None, bool keepdim=False, Tensors[2] out=None) -> (Tensor min, Tensor max)",
    out=rule(exact=EXACT, overlap=FREE), method=True)
def aminmax(input: TensorBase, *, dim: int | None = None, keepdim: bool = False) -> _MinMax:
    """The smallest and the largest element of all, or along one `dim`, as the named tuple `(min, max)`."""
    array = input._array
    if dim is None:
        axes = tuple(range(array.ndim))
        if array.size == 0:
            raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                               "identity.")
    else:
        axes = axes_of("aminmax", as_int("aminmax", dim, "dim"), array.ndim)
        nonempty("aminmax", array.shape, axes)
    return _MinMax(ops.aminmax(input, axes, flag("aminmax", keepdim)))


def _position(op: Op, most: str) -> Callable[..., Any]:
    """The function argmax or argmin."""
    call, name, largest = recorded(op), op.name, most == "largest"

    @public(f"{name}(Tensor input, int dim=None, bool keepdim=False, out)", name=name,
            out=rule(exact=EXACT, overlap=FREE, gradient=UNASKED, repeated=True),
            doc=f"The index of the first {most} element along `dim`, or in the flattened tensor. The result has int64 "
                "and no gradient.")
    def function(input: TensorBase, dim: int | None = None, keepdim: bool = False) -> Any:
        array = input._array
        if dim is not None:
            dim = as_int(name, dim, "dim")
        if array.dtype.kind in "bc":
            kind = "bool" if array.dtype.kind == "b" else "complex"
            raise RuntimeError(f"{name}(): does not support {kind} input")
        if dim is None:
            if array.size == 0:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        else:
            dim = axis_of(name, dim, array.ndim)
            nonempty(f"{name}()", array.shape, (dim,))
        return call(input, dim, flag(name, keepdim), largest)

    return function


argmax, argmin = _position(ops.argmax, "largest"), _position(ops.argmin, "smallest")


def _question(op: Op, means: str) -> Callable[..., Any]:
    """The function any or all. For an empty tuple of dims it says of each element whether it is true."""
    call, name = recorded(op), op.name

    @public(f"{name}(Tensor input, out)", f"{name}(Tensor input, ints dim=None, bool keepdim=False, out)",
            f"{name}(Tensor input, int dim, bool keepdim=False, out)", name=name,
            doc=f"Whether {means} is true (not 0). The dtype is bool, or uint8 for uint8.",
            out=rule(exact="{name} only supports bool tensor for result, got: {out}", bytes_too=True, overlap=FREE,
                     gradient=UNASKED, repeated=True))
    def function(input: TensorBase, dim: Dims | None = None, keepdim: bool = False) -> Any:
        axes = () if isinstance(dim, (tuple, list)) and not dim else axes_of(name, dim, input._array.ndim)
        return call(input, axes, flag(name, keepdim))

    return function


any, all = _question(ops.any_of, "any element"), _question(ops.all_of, "every element")


@public("count_nonzero(Tensor input, int dim=None)", "count_nonzero(Tensor input, ints dim)", method=True)
def count_nonzero(input: TensorBase, *dims: Any, dim: Dims | None = None) -> Any:
    """The number of elements that are not 0, of all or over `dim`. The result has int64 and no gradient."""
    if dims:
        dim = dims[0] if len(dims) == 1 else dims
    return ops.count_nonzero(input, axes_of("count_nonzero", dim, input._array.ndim))


@public("hash_tensor(Tensor input, ints[1] dim=[], *, bool keepdim=False, int mode=0, Tensor out=None)", method=True,
        out=rule(exact="Expected result to be of dtype uint64, but got {out}", overlap=FREE, gradient=UNASKED,
                 repeated=True),
        strict=True)
def hash_tensor(input: TensorBase, dim: Dims = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    """The exclusive or of the bits of all elements, or over `dim`, as uint64.

    Floats count as float64, and other numbers as int64. Raises NotImplementedError for complex numbers.

    >>> import retrograd as torch
    >>> torch.hash_tensor(torch.tensor([1, 2, 4]))
    tensor(7, dtype=torch.uint64)
    """
    if mode != 0:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    x = input._array
    refuse(x.dtype, "xor_sum_cpu")
    require(x.dtype.kind != "u" or x.dtype.itemsize == 1, "xor_sum_cpu", x.dtype)
    require(letter(x.dtype) != "f" or x.dtype.itemsize > 1, "xor_sum_cpu", x.dtype)
    axes = axes_of("hash_tensor", dim, x.ndim)
    if not x.size:
        if not dim and dim != 0:
            raise RuntimeError("hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
                               "the reduction dim with the 'dim' argument.")
        for axis in axes:
            if not x.shape[axis]:
                raise IndexError(f"hash_tensor: Expected reduction dim {axis} to have non-zero size.")
    assert uint64.dtype                                          # rare: this makes it known
    return ops.hash_tensor(input, axes, keepdim)


@public(event="aten::sum_to_size", method=True)
def sum_to_size(input: TensorBase, *sizes: Any, size: Any = None) -> Any:
    """The tensor, summed to the shape `size` over the dims that a broadcast from `size` repeats.

    Sizes are given one by one, or as a sequence. If the tensor has the shape already, the result is the tensor itself.
    Raises RuntimeError if `size` does not broadcast to the tensor's shape.
    """
    shape, wanted = array_of("sum_to_size", input).shape, shape_of("sum_to_size", sizes, size)
    lead = len(shape) - len(wanted)
    if lead < 0 or [n for n, have in zip(wanted, shape[lead:], strict=True) if n not in (1, have)]:
        raise noted(
            RuntimeError(f"size {{{[*wanted]}}} is not expandable to size {{{[*shape]}}}."),
            because="A size must be 1, or that of the tensor")
    if not wanted:
        return sum(input)
    axes = [*range(lead), *[lead + i for i, n in enumerate(wanted) if n == 1 != shape[lead + i]]]
    total = sum(input, axes, True) if axes else input
    return total.view(wanted) if lead else total


# NumPy's functions

def _np_reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduction(a: TensorBase, axis: Any = None, dtype: torch_dtype | None = None, *, keepdims: bool = False) -> Any:
        options = {} if dtype is None else {"dtype": torch_dtype.of[np.dtype(dtype)]}
        if axis is None and not keepdims:
            return function(a, **options)
        return function(a, dim=axis, keepdim=keepdims, **options)

    return reduction


def _np_moment(function: Callable[..., Any]) -> Callable[..., Any]:
    def moment(a: Any, axis: Any = None, *, ddof: float = 0, correction: float | None = None,
               keepdims: bool = False) -> Any:
        return function(a, dim=axis, keepdim=keepdims, correction=ddof if correction is None else correction)

    return moment


def _np_prod(a: TensorBase, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """`np.prod`. Several axes are reduced one after the other."""
    dtype = None if dtype is None else np.dtype(dtype)
    if axis is None and not keepdims:
        return prod_all(a, dtype)
    for dim in reversed(axes_of("prod", axis, a.ndim)):
        a = prod_dim(a, dim, keepdims, dtype)
    return a


NUMPY: dict[Any, Callable[..., Any]] = {
    np.sum: _np_reduction(sum), np.nansum: _np_reduction(nansum), np.mean: _np_reduction(mean), np.prod: _np_prod,
    np.max: _np_reduction(amax), np.min: _np_reduction(amin), np.amax: _np_reduction(amax),
    np.amin: _np_reduction(amin), np.argmax: _np_reduction(argmax), np.argmin: _np_reduction(argmin),
    np.any: _np_reduction(any), np.all: _np_reduction(all), np.var: _np_moment(var), np.std: _np_moment(std),
    np.count_nonzero: lambda a, axis=None: count_nonzero(a, axis),
}


methods(var, std, argmax, argmin, any, all)
