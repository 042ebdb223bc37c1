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


def c2c(x: Any, dims: tuple[int, ...], scale: int, forward: bool) -> Any:
    """The transform of complex numbers to complex ones; with `forward` its exponents are negative."""
    if not dims:
        return x.copy()
    if forward:
        return np.fft.fftn(x, axes=dims, norm=_FORWARD[scale])
    return np.fft.ifftn(x, axes=dims, norm=_INVERSE[scale])


def r2c(x: Any, dims: tuple[int, ...], scale: int, onesided: bool) -> Any:
    """The forward transform of real numbers; with `onesided` of the last of `dims` the first half."""
    half = np.fft.rfftn(x, axes=dims, norm=_FORWARD[scale])
    if onesided:
        return half
    (dim,), size = dims, x.shape[dims[0]]                       # PyTorch has both halves of one dim alone
    result = np.empty((*x.shape,), half.dtype)
    front, from_half, to = half.shape[dim], (slice(None),) * dim, slice((size - 1) // 2, 0, -1)
    result[(*from_half, slice(front))] = half
    np.conjugate(half[(*from_half, to)], out=result[(*from_half, slice(front, None))])
    return result


def c2r(x: Any, dims: tuple[int, ...], scale: int, size: int) -> Any:
    """The inverse transform of what is symmetric up to conjugation, of which the last dim holds half, to `size` reals.

    Where the symmetry wants real numbers, imaginary parts do not count.
    """
    sizes = [x.shape[dim] for dim in dims[:-1]]
    return np.fft.irfftn(x, s=[*sizes, size], axes=dims, norm=_INVERSE[scale])


def weighted(x: Any, dim: int, count: int, weight: float) -> Any:
    """`x` with `count` elements along `dim`, all but the first and what is behind, multiplied by `weight`."""
    result = x.copy()
    result[(slice(None),) * dim + (slice(1, 1 + count),)] *= weight
    return result
