"""The C library's functions of a double, elementwise, with the C library's own bits.

PyTorch calls the C library for these functions, and so does Python's ``math``. On many machines NumPy does too. On
others (x86 with AVX-512) NumPy has vector versions, which are many times faster but differ in the last bit: for one
logarithm in six hundred, and for one exponential in twenty. A random stream with PyTorch's bits cannot use the vector
versions. So each function tests once whether NumPy's version is the C library's on this machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..thresholds import LIBM_CHUNK, LIBM_ONE_BY_ONE

Doubles = np.ndarray[Any, np.dtype[np.float64]]

_SAMPLES = 8192
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


class _Function:
    """One function: NumPy's if it gives the bits of ``math`` on a sample from [low, high), or else that of ``math``."""

    def __init__(self, vector: np.ufunc, scalar: Callable[[float], float], low: float, high: float) -> None:
        self._vector: Callable[[Any], Any] = vector
        self._scalar, self._low, self._high = scalar, low, high


    def __call__(self, x: Doubles) -> Doubles:
        if x.size <= LIBM_ONE_BY_ONE:
            return self._by_math(x.ravel()).reshape(x.shape)
        if self._numpy_is_faithful:
            return self._by_numpy(x)
        flat = x.ravel()
        result = np.empty_like(flat)
        for start in range(0, flat.size, LIBM_CHUNK):
            result[start : start + LIBM_CHUNK] = self._by_math(flat[start : start + LIBM_CHUNK])
        return result.reshape(x.shape)

    @cached_property
    def _numpy_is_faithful(self) -> bool:
        """Whether NumPy's version gives the bits of ``math`` on the sample."""
        # Multiples of the golden ratio cover an interval evenly, with all bits of the significand in use.
        points: Doubles = np.arange(1, _SAMPLES, dtype=np.float64) * _GOLDEN_RATIO % 1
        points = self._low + (self._high - self._low) * points
        return bool(np.array_equal(self._by_numpy(points), self._by_math(points)))

    def _by_numpy(self, x: Doubles) -> Doubles:
        with np.errstate(all="ignore"):
            result: Doubles = self._vector(x)
        return result

    def _by_math(self, x: Doubles) -> Doubles:
        values = x.tolist()
        try:
            return np.fromiter(map(self._scalar, values), np.float64, len(values))
        except (ValueError, OverflowError):
            return np.fromiter(map(self._ieee, values), np.float64, len(values))

    def _ieee(self, value: float) -> float:
        """The C library's result where ``math`` raises: at a pole, outside the domain, on overflow."""
        try:
            return self._scalar(value)
        except (ValueError, OverflowError):
            return float(self._by_numpy(np.array(value)))


log = _Function(np.log, math.log, 0, 1)
log1p = _Function(np.log1p, math.log1p, -1, 0)
exp = _Function(np.exp, math.exp, -8, 8)
sin = _Function(np.sin, math.sin, 0, 2 * math.pi)
cos = _Function(np.cos, math.cos, 0, 2 * math.pi)
tan = _Function(np.tan, math.tan, -math.pi / 2, math.pi / 2)
