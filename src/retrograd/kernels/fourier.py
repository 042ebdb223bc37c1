"""Discrete Fourier transforms over some dimensions. Arrays in, arrays out; must not know ops.

Each takes the dimensions and a scale, by PyTorch's number: 0 leaves the sums as they are, 1 divides them by the square
root of the number of points, 2 by the number.

NumPy's functions compute in double precision whatever they are given, since the scale that they hand on is a Python
number. The loops below them (ufuncs over lines of an array) compute single precision in single, in half the time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

try:
    from numpy.fft import _pocketfft_umath as loops  # type: ignore[attr-defined]
except ImportError:                                             # they are no public part of NumPy
    loops = None

# So many elements are worth a look whether they are real.
_LARGE = 1 << 10


def c2c(x: Any, dims: tuple[int, ...], scale: int, forward: bool) -> Any:
    """The transform of complex numbers to complex ones; with `forward` its exponents are negative."""
    if not dims:
        return x.copy()
    if forward and x.size >= _LARGE and not np.any(x.imag):     # real numbers in a complex type: half the work
        return r2c(x.real, dims, scale, False)
    return _over(x, dims, scale, forward)


def _over(x: Any, dims: tuple[int, ...], scale: int, forward: bool, out: Any = None) -> Any:
    """The transform of complex numbers, dim by dim from the last on, in new memory unless `out` is given."""
    for dim in reversed(dims):
        out = np.empty(x.shape, x.dtype) if out is None else out
        x = _lines("fft" if forward else "ifft", x, dim, x.shape[dim], scale, out)
    return x


def _lines(name: str, x: Any, dim: int, points: int, scale: int, out: Any) -> Any:
    """One of NumPy's transforms along `dim`, into `out`."""
    factor = (1.0, 1.0 / math.sqrt(points), 1.0 / points)[scale]
    if loops is None:
        transform: Any = getattr(np.fft, name)
        found = transform(x, points, dim, "backward" if name in ("fft", "rfft") else "forward")
        np.multiply(found, factor, out=out, casting="same_kind")
        return out
    loop = getattr(loops, name if name != "rfft" else "rfft_n_odd" if points % 2 else "rfft_n_even")
    return loop(x, np.asarray(factor, x.real.dtype), axes=[(dim,), (), (dim,)], out=out)


def r2c(x: Any, dims: tuple[int, ...], scale: int, onesided: bool) -> Any:
    """The forward transform of real numbers; with `onesided` of the last of `dims` the first half."""
    dim, size = dims[-1], x.shape[dims[-1]]
    half = np.empty((*x.shape[:dim], size // 2 + 1, *x.shape[dim + 1:]), np.result_type(x, np.complex64))
    half = _over(_lines("rfft", x, dim, size, scale, half), dims[:-1], scale, True, half)
    return half if onesided else _whole(half, dims, size)


def _whole(half: Any, dims: tuple[int, ...], size: int) -> Any:
    """Both halves of the transform of real numbers: at -k, counted from the end, stands the conjugate of that at k."""
    dim = dims[-1]
    front, before = half.shape[dim], (slice(None),) * dim
    shape = [*half.shape]
    shape[dim] = size
    result = np.empty(shape, half.dtype)
    result[(*before, slice(front))] = half
    mirrored = half[(*before, slice((size - 1) // 2, 0, -1))]
    for other in dims[:-1]:
        mirrored = mirrored.take(-np.arange(shape[other]), other)
    np.conjugate(mirrored, out=result[(*before, slice(front, None))])
    return result


def c2r(x: Any, dims: tuple[int, ...], scale: int, size: int) -> Any:
    """The inverse transform of what is symmetric up to conjugation, of which the last dim holds half, to `size` reals.

    Where the symmetry wants real numbers, imaginary parts do not count.
    """
    dim = dims[-1]
    result = np.empty((*x.shape[:dim], size, *x.shape[dim + 1:]), x.real.dtype)
    return _lines("irfft", _over(x, dims[:-1], scale, False), dim, size, scale, result)


def weighted(x: Any, dim: int, count: int, weight: float) -> Any:
    """`x` with `count` elements along `dim`, all but the first and what is behind, multiplied by `weight`."""
    result = x.copy()
    result[(slice(None),) * dim + (slice(1, 1 + count),)] *= weight
    return result
