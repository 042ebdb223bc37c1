"""What the kernels of special functions share: sums of Chebyshev polynomials, and pieces of double precision.

Must not know ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from ..dtypes import F64

_CHUNK = 16384


def chebyshev(coefficients: Sequence[float], x: Any, low: float, high: float) -> Any:
    """The sum of coefficients times Chebyshev polynomials of x, carried from [low, high] to [-1, 1], after Clenshaw."""
    t = (x - (low + high) / 2) * (4 / (high - low))             # twice the argument
    last, before = np.full_like(t, coefficients[-1]), np.zeros_like(t)
    for c in coefficients[-2:0:-1]:
        np.subtract(t * last, before, out=before)
        before += c
        last, before = before, last
    return coefficients[0] + t * last / 2 - before


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of one array that computes in float64, in flat pieces that fit the cache; it takes `out` as ufuncs do.

    The function gets a piece, and the options as they are.
    """

    @wraps(function)
    def call(x: Any, *options: Any, out: Any = ...) -> Any:
        return _by_pieces(function, (x,), options, out)

    return call


def in_double_of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a kernel of two arrays, which are broadcast."""

    @wraps(function)
    def call(x: Any, y: Any, *, out: Any = ...) -> Any:
        return _by_pieces(function, (x, y), (), out)

    return call


def _by_pieces(function: Callable[..., Any], operands: Sequence[Any], options: tuple[Any, ...], out: Any) -> Any:
    shape = np.broadcast_shapes(*[x.shape for x in operands])
    whole = next((x for x in operands if x.shape == shape), None)
    dtype = operands[0].dtype
    result = out if out is not ... else np.empty(shape, dtype) if whole is None else np.empty_like(whole)
    flat = [np.broadcast_to(x, shape).reshape(-1) for x in operands]
    values = np.empty(result.size, dtype)
    for start in range(0, values.size, _CHUNK):
        piece = slice(start, start + _CHUNK)
        values[piece] = function(*[x[piece].astype(F64) for x in flat], *options)
    result[...] = values.reshape(shape)
    return result


def where_so(condition: Any, function: Callable[..., Any], result: Any, *operands: Any) -> None:
    """Write the function of those elements for which the condition holds into the result, and compute no others."""
    if condition.all():
        result[...] = function(*operands)
    elif condition.any():
        result[condition] = function(*[x[condition] for x in operands])
