"""Discrete Fourier transforms over some dimensions.

Each transform takes the dimensions and PyTorch's number of a scale: 0 leaves the sums unscaled, 1 divides them by the
square root of the number of points, 2 divides them by the number of points.

NumPy's functions always compute in double precision, because they pass on the scale as a Python number. The ufuncs
below them compute single precision in single precision, in half the time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from .layout import empty_strided
from .thresholds import REAL_TEST


def _sorted(x: Array, dims: Sequence[int]) -> list[int]:
    """Dims of `x`, from the slowest in memory to the fastest."""
    return sorted(dims, key=lambda dim: -x.strides[dim])


def _without(ndim: int, dims: Sequence[int]) -> list[int]:
    """The other dims, in the order in which C++'s `std::partition` leaves them: PyTorch sorts them from this order."""
    order, first, end = [*range(ndim)], 0, ndim
    while first < end:
        if order[first] not in dims:
            first += 1
            continue
        end -= 1
        if order[end] not in dims:
            order[first], order[end] = order[end], order[first]
    return order[:first]


def _empty(x: Array, shape: Sequence[int], dims: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """Memory for a transform of `x` over `dims`, which lie innermost, in this order."""
    order = [*_sorted(x, _without(x.ndim, dims)), *dims]
    strides, step = [0] * x.ndim, 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return empty_strided(tuple(shape), tuple(strides), dtype)


def c2c(x: Array, dims: tuple[int, ...], scale: int, forward: bool) -> Any:
    """The transform from complex to complex numbers. With `forward` the exponents are negative."""
    if not dims:
        return x.copy("K")
    if forward and x.size >= REAL_TEST and not np.any(x.imag):     # real numbers in a complex dtype: half the work
        return _from_real(x.real, dims, scale, False, _sorted(x, dims))
    return _over(x, dims, scale, forward)


def _over(x: Array, dims: tuple[int, ...], scale: int, forward: bool, out: Array | None = None) -> Any:
    """The transform of complex numbers along each dim, from the last dim on. It writes to `out`, if given."""
    for dim in reversed(dims):
        out = _empty(x, x.shape, _sorted(x, dims), x.dtype) if out is None else out
        x = _lines("fft" if forward else "ifft", x, dim, x.shape[dim], scale, out)
    return x


@cache
def ufuncs() -> Any:
    """The module of NumPy's ufuncs; None if this NumPy has none. It is imported when a program first uses it."""
    try:
        from numpy.fft import _pocketfft_umath  # type: ignore[attr-defined]
    except ImportError:                                             # the ufuncs are not a public part of NumPy
        return None
    return _pocketfft_umath


def _lines(name: str, x: Array, dim: int, points: int, scale: int, out: Array) -> Any:
    """One of NumPy's transforms along `dim`, written to `out`."""
    factor = (1.0, 1.0 / math.sqrt(points), 1.0 / points)[scale]
    loops = ufuncs()
    if loops is None:
        transform: Any = getattr(np.fft, name)
        found = transform(x, points, dim, "backward" if name in ("fft", "rfft") else "forward")
        np.multiply(found, factor, out=out, casting="same_kind")
        return out
    loop = getattr(loops, name if name != "rfft" else "rfft_n_odd" if points % 2 else "rfft_n_even")
    return loop(x, np.asarray(factor, x.real.dtype), axes=[(dim,), (), (dim,)], out=out)


def r2c(x: Array, dims: tuple[int, ...], scale: int, onesided: bool) -> Any:
    """The forward transform of real numbers. With `onesided`, the last of `dims` has only its first half."""
    return _from_real(x, dims, scale, onesided, [*_sorted(x, dims[:-1]), dims[-1]])


def _from_real(x: Array, dims: tuple[int, ...], scale: int, onesided: bool, inner: Sequence[int]) -> Any:
    """The forward transform of real numbers, with the dims `inner` innermost in memory."""
    dim, size = dims[-1], x.shape[dims[-1]]
    half = _empty(x, (*x.shape[:dim], size // 2 + 1, *x.shape[dim + 1:]), inner, np.result_type(x, np.complex64))
    half = _over(_lines("rfft", x, dim, size, scale, half), dims[:-1], scale, True, half)
    return half if onesided else _whole(half, dims, _empty(x, x.shape, inner, half.dtype))


def _whole(half: Array, dims: tuple[int, ...], result: Array) -> Any:
    """Both halves of the transform of real numbers: the element at -k is the conjugate of the element at k."""
    dim, shape = dims[-1], result.shape
    size, front, before = shape[dim], half.shape[dim], (slice(None),) * dim
    result[(*before, slice(front))] = half
    mirrored = half[(*before, slice((size - 1) // 2, 0, -1))]
    for other in dims[:-1]:
        mirrored = mirrored.take(-np.arange(shape[other]), other)
    np.conjugate(mirrored, out=result[(*before, slice(front, None))])
    return result


def c2r(x: Array, dims: tuple[int, ...], scale: int, size: int) -> Any:
    """The inverse transform of half a Hermitian-symmetric array to `size` real numbers in the last dim.

    The imaginary parts of elements that the symmetry makes real are ignored.
    """
    dim, x = dims[-1], _over(x, dims[:-1], scale, False)
    result = _empty(x, (*x.shape[:dim], size, *x.shape[dim + 1:]), (dim,), x.real.dtype)
    return _lines("irfft", x, dim, size, scale, result)


def half_adjoint(x: Array, dims: tuple[int, ...], scale: int, size: int) -> Any:
    """The adjoint of `r2c` with `onesided`, to `size` real numbers in the last dim.

    PyTorch returns the real part of a complex transform, of `x` with zeros for the other half, row by row.
    """
    dim = dims[-1]
    padded = x if size == x.shape[dim] else np.empty((*x.shape[:dim], size, *x.shape[dim + 1:]), x.dtype)
    result = _empty(padded, padded.shape, _sorted(padded, dims), x.dtype).real
    x = _over(weighted(x, dim, (size - 1) // 2, 0.5), dims[:-1], scale, False)
    return _lines("irfft", x, dim, size, scale, result)


def weighted(x: Array, dim: int, count: int, weight: float) -> Any:
    """A copy of `x` in which the elements 1 to `count` along `dim` are multiplied by `weight`."""
    result = x.copy("K")
    result[(slice(None),) * dim + (slice(1, 1 + count),)] *= weight
    return result
