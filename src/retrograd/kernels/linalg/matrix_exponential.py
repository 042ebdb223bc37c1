"""The exponential of matrices, by scaling and squaring of a Taylor polynomial."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, Array

# The degrees of the polynomials, and the largest 1-norm for which each is as accurate as the dtype, single and double
# (Bader, Blanes and Casas, "Computing the matrix exponential with an optimized Taylor polynomial approximation", 2019).
_DEGREES = (1, 2, 4, 8, 12, 18)
_SINGLE = (1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02, 5.800524627688768e-01,
           1.461661507209034, 3.010066362817634)
_DOUBLE = (2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04, 4.991228871115323e-02,
           2.996158913811580e-01, 1.090863719290036)


def matrix_exp(x: Array) -> Any:
    """exp of each matrix in a stack, the sum of x^k / k!. An infinite or nan element makes its matrix nan."""
    n = x.shape[-1]
    if x.dtype == F16:
        return matrix_exp(x.astype(F32)).astype(F16)
    if x.size == 0:
        return x.copy()
    if n == 1:
        return np.exp(x)
    stack = x.reshape(-1, n, n)
    limits = _SINGLE if x.real.dtype == F32 else _DOUBLE
    norm = np.abs(stack).sum(axis=-2).max(axis=-1)
    endless = ~np.isfinite(norm)
    norm = np.where(endless, 0.0, norm).astype(np.float64)
    squarings = np.ceil(np.log2(np.maximum(norm / limits[-1], 1.0))).astype(int)
    scaled = stack * np.ldexp(1.0, -squarings)[:, None, None].astype(x.real.dtype)
    largest = float(np.max(norm * np.ldexp(1.0, -squarings)))
    degree = next((d for d, limit in zip(_DEGREES, limits, strict=True) if largest <= limit), _DEGREES[-1])
    result = _taylor(scaled, degree)
    for step in range(int(squarings.max())):
        again = squarings > step
        result[again] = np.matmul(result[again], result[again])
    result[endless] = math.nan
    return result.reshape(x.shape)


def _taylor(x: Array, degree: int) -> Any:
    """The sum of x^k / k! up to this degree, in blocks of about sqrt(degree) powers."""
    width = max(1, math.isqrt(degree))
    powers = [np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), x]
    while len(powers) <= width:
        powers.append(np.matmul(powers[-1], x))
    result: Any = None
    top = degree - (degree % width or width)               # a block of only the last power joins the block before
    for start in range(top, -1, -width):
        last = degree if start == top else start + width - 1
        block = sum(powers[k - start] * (1.0 / math.factorial(k)) for k in range(start, last + 1))
        result = block if result is None else np.matmul(result, powers[width]) + block
    return result
