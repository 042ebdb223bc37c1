"""Discrete Fourier transforms over some dimensions. Arrays in, arrays out; must not know ops.

Each takes the dimensions and a scale, by PyTorch's number: 0 leaves the sums as they are, 1 divides them by the square
root of the number of points, 2 by the number. Single precision stays single.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# NumPy's words for the scales: which of the two directions divides.
_FORWARD: Any = ("backward", "ortho", "forward")
_INVERSE: Any = ("forward", "ortho", "backward")

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
    transform, norm = (np.fft.fft, _FORWARD[scale]) if forward else (np.fft.ifft, _INVERSE[scale])
    for dim in reversed(dims):
        x = out = transform(x, axis=dim, norm=norm, out=out)
    return x


def r2c(x: Any, dims: tuple[int, ...], scale: int, onesided: bool) -> Any:
    """The forward transform of real numbers; with `onesided` of the last of `dims` the first half."""
    half = np.fft.rfft(x, axis=dims[-1], norm=_FORWARD[scale])
    half = _over(half, dims[:-1], scale, True, half)
    return half if onesided else _whole(half, dims, x.shape[dims[-1]])


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
    return np.fft.irfft(_over(x, dims[:-1], scale, False), size, dims[-1], _INVERSE[scale])


def weighted(x: Any, dim: int, count: int, weight: float) -> Any:
    """`x` with `count` elements along `dim`, all but the first and what is behind, multiplied by `weight`."""
    result = x.copy()
    result[(slice(None),) * dim + (slice(1, 1 + count),)] *= weight
    return result
