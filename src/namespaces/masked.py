"""torch.masked: reductions and normalizations that leave out the elements where a mask is False."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .foundations import dtypes
from .foundations.dtypes import dtype as torch_dtype
from .foundations.limits import iinfo
from .foundations.names import missing
from .linalg import vector_norm
from .nn.functional import log_softmax as _log_softmax, softmax as _softmax, softmin as _softmin
from .tensors.functions.creation.creation import full, ones_like
from .tensors.functions.elementwise.comparison import where
from .tensors.functions.reductions import argmax as _argmax, argmin as _argmin
from .tensors.tensor import Tensor

__all__ = ["amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
           "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var"]

_SHORT = (dtypes.uint8, dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32)
_INF = float("inf")


def _mask_of(input: Tensor, mask: Tensor) -> Any:
    """The mask in the shape of the input, with bools. Raises IndexError if it has more dimensions than the input."""
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return mask.broadcast_to(input.shape).to(dtypes.bool_)


def _kept(input: Tensor, mask: Any, otherwise: Any) -> Any:
    """The input, with a number where the mask is False: `otherwise`, or what it returns for the dtype of the input."""
    if mask is None:
        return input
    told = _mask_of(input, mask)
    number = otherwise(input.dtype) if callable(otherwise) else otherwise
    return where(told, input, full((), number, dtype=input.dtype))


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions as numbers from 0, in rising order; all of them if none is named. Raises RuntimeError if one is
    named twice, IndexError if there is none of that number. A second name from the end stays, as in PyTorch.
    """
    if dim is None or dim == ():
        return tuple(range(ndim))
    size, found = max(ndim, 1), list[int]()
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -size <= d < size:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})")
        found.append(d % size)
    return tuple(sorted(found))


def _axis(dim: Any, ndim: int) -> int:
    """The first of the dimensions. Raises IndexError if there is none."""
    return _dims(dim, ndim)[0]


def _summed_type(input: Tensor, dtype: torch_dtype | None) -> Any:
    """The dtype of a sum or a product: int64 for short integers."""
    return dtypes.int64 if dtype is None and input.dtype in _SHORT else dtype or input.dtype


def _identity(name: str) -> Callable[[torch_dtype], Any]:
    """The number for a dtype that changes no result of amax, argmax and logsumexp, or else of amin and argmin.

    It raises NotImplementedError for bools, and TypeError for complex numbers.
    """
    def number(dtype: torch_dtype) -> Any:
        if dtype is dtypes.bool_:
            raise NotImplementedError(f"identity of {name} on {dtype} input")
        if name in ("amin", "argmin"):
            return _INF if dtype.is_floating_point else iinfo(dtype).max
        return -_INF if dtype.is_floating_point else iinfo(dtype).min

    return number


def _infinity(dtype: torch_dtype) -> float:
    """The number that changes no norm of order -inf. Raises AssertionError for a dtype without infinities."""
    if not dtype.is_floating_point:
        raise AssertionError(f"input must be floating point, got {dtype!r}")
    return _INF


# Reductions

def sum(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
        mask: Tensor | None = None) -> Tensor:
    """The sum of the elements where the mask is True, over all dimensions or those of `dim`.

    >>> import retrograd as torch
    >>> torch.masked.sum(torch.tensor([1., 2., 4.]), mask=torch.tensor([True, False, True]))
    tensor(5.)
    """
    dims = _dims(dim, input.ndim)
    x = _kept(input, mask, 0)
    return x.sum(dims, bool(keepdim), dtype=_summed_type(input, dtype))  # type: ignore[no-any-return]


def prod(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The product of the elements where the mask is True; 1 if there are none."""
    target, dims = _summed_type(input, dtype), _dims(dim, input.ndim)
    x = _kept(input, mask, 1).to(target)
    for d in reversed(dims):
        x = x.prod(d, bool(keepdim))
    return x  # type: ignore[no-any-return]


def amax(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The greatest of the elements where the mask is True; -inf, or the least integer, if there are none."""
    x = _kept(input, mask, _identity("amax"))
    return x.amax(_dims(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def amin(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The least of the elements where the mask is True; inf, or the greatest integer, if there are none."""
    x = _kept(input, mask, _identity("amin"))
    return x.amin(_dims(dim, x.ndim), bool(keepdim)).to(dtype or input.dtype)  # type: ignore[no-any-return]


def argmax(input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The index of the greatest element where the mask is True, in the dtype of the input or in `dtype`."""
    x = _kept(input, mask, _identity("argmax"))
    return _argmax(x, dim, bool(keepdim)).to(dtype or x.dtype)  # type: ignore[no-any-return]


def argmin(input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The index of the least element where the mask is True, in the dtype of the input or in `dtype`."""
    x = _kept(input, mask, _identity("argmin"))
    return _argmin(x, dim, bool(keepdim)).to(dtype or x.dtype)  # type: ignore[no-any-return]


def _count(x: Tensor, dim: Any, keepdim: bool, mask: Any) -> Any:
    if mask is None:
        return sum(ones_like(x, dtype=dtypes.int64), dim, keepdim=keepdim)
    return _mask_of(x, mask).sum(dim=dim, keepdim=keepdim)


def mean(input: Tensor, dim: Any = None, *, keepdim: bool | None = False, dtype: torch_dtype | None = None,
         mask: Tensor | None = None) -> Tensor:
    """The mean of the elements where the mask is True; NaN if there are none. Raises ValueError for integers."""
    target = dtype or input.dtype
    if not (target.is_floating_point or target.is_complex):
        source = "Input" if dtype is None else "Optional"
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or "
                         f"complex dtype. Got: {target!r}")
    count = _count(input, dim, bool(keepdim), mask)
    return sum(input, dim, keepdim=keepdim, dtype=target, mask=mask) / count  # type: ignore[no-any-return]


def var(input: Tensor, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: torch_dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The variance of the elements where the mask is True. `correction` is 1, or 0 if `unbiased` is False."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    target = dtype or input.dtype
    if dtype is None and not (target.is_floating_point or target.is_complex):
        target = dtypes.float32
    inner = target if target.is_floating_point or target.is_complex else dtypes.float32
    count = _count(input, dim, True, mask)
    apart = input - sum(input, dim, keepdim=True, dtype=target, mask=mask) / count
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=inner, mask=mask)
    if less:
        count = count.to(inner.to_real() if inner.is_complex else inner) - less
        count = count.maximum(count.new_zeros(()))
    return (total / count.reshape(total.shape)).to(target)  # type: ignore[no-any-return]


def std(input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
        keepdim: bool | None = False, dtype: torch_dtype | None = None, mask: Any = None) -> Tensor:
    """The standard deviation of the elements where the mask is True."""
    found: Any = var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    return found.sqrt()  # type: ignore[no-any-return]


def norm(input: Any, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool | None = False,
         dtype: torch_dtype | None = None, mask: Any = None) -> Tensor:
    """The norm of the elements where the mask is True, as vectors along `dim`."""
    x = _kept(input, mask, _infinity if ord == -_INF else 0)
    order: Any = ord                                      # None raises the error of `vector_norm`
    found: Tensor = vector_norm(x, order, _dims(dim, x.ndim), bool(keepdim), dtype=dtype or input.dtype)
    return found


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: torch_dtype | None = None,
           mask: Tensor | None = None) -> Tensor:
    """The median of the elements where the mask is True; NaN if there are none. `dtype` is for integers alone."""
    axis, floating = _axis(dim, input.ndim), input.dtype.is_floating_point
    values: Any = _kept(input if floating else input.float(), mask, float("nan")).nanmedian(axis, keepdim).values
    if floating:
        return values  # type: ignore[no-any-return]
    if values.isnan().any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return values.to(dtype or input.dtype)  # type: ignore[no-any-return]


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: torch_dtype | None = None,
              mask: Any = None) -> Tensor:
    """The logarithm of the sum of exponentials of the elements where the mask is True."""
    dims = _dims(dim, input.ndim)
    x = _kept(input, mask, -_INF if input.dtype.is_complex else _identity("logsumexp"))
    return x.logsumexp(dims, keepdim).to(dtype or input.dtype)  # type: ignore[no-any-return]


# Results of the shape of the input

def logaddexp(input: Any, other: Any, *, dtype: torch_dtype | None = None, input_mask: Any = None,
              other_mask: Any = None) -> Tensor:
    """`torch.logaddexp`, where elements without a mask count as -inf."""
    identity = _identity("logaddexp")
    x, y = _kept(input, input_mask, identity), _kept(other, other_mask, identity)
    return x.logaddexp(y).to(dtype or input.dtype)  # type: ignore[no-any-return]


def cumsum(input: Tensor, dim: int, *, dtype: torch_dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running sum, without the elements where the mask is False."""
    axis = _axis(dim, input.ndim)
    return _kept(input, mask, 0).cumsum(axis, dtype=dtype or input.dtype)  # type: ignore[no-any-return]


def cumprod(input: Tensor, dim: int, *, dtype: torch_dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The running product, without the elements where the mask is False."""
    axis = _axis(dim, input.ndim)
    return _kept(input, mask, 1).cumprod(axis, dtype=dtype or input.dtype)  # type: ignore[no-any-return]


def _normalizing(function: Callable[..., Any], input: Any, dim: int, dtype: Any, mask: Any, name: str = "amax") -> Any:
    axis = _axis(dim, input.ndim)
    return function(_kept(input, mask, _identity(name)), axis, dtype=dtype or input.dtype)


def softmax(input: Any, dim: int, *, dtype: torch_dtype | None = None, mask: Any = None) -> Tensor:
    """The softmax of the elements where the mask is True; 0 for the others, and NaN in a row without any.

    >>> import retrograd as torch
    >>> torch.masked.softmax(torch.tensor([1., 5., 1.]), 0, mask=torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return _normalizing(_softmax, input, dim, dtype, mask)  # type: ignore[no-any-return]


def log_softmax(input: Any, dim: int, *, dtype: torch_dtype | None = None, mask: Any = None) -> Tensor:
    """The logarithm of `softmax`."""
    return _normalizing(_log_softmax, input, dim, dtype, mask)  # type: ignore[no-any-return]


def softmin(input: Any, dim: int, *, dtype: torch_dtype | None = None, mask: Any = None) -> Tensor:
    """The softmax of the negative elements."""
    return _normalizing(_softmin, input, dim, dtype, mask, "amin")  # type: ignore[no-any-return]


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: torch_dtype | None = None,
              mask: Any = None) -> Tensor:
    """The elements divided by their norm along `dim`, which counts only those where the mask is True."""
    length: Any = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _kept(input, mask, 0) / length.maximum(length.new_full((), eps))  # type: ignore[no-any-return]


__getattr__, __dir__ = missing(__name__, __all__)
