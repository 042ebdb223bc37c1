"""Arithmetic that NumPy has no single function for, or has a slow one. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np


def rsub(x: Any, y: Any) -> Any:
    """y - x."""
    return np.subtract(y, x, out=...)


def reciprocal(x: Any) -> Any:
    """1 / x."""
    return np.divide(1, x, out=..., dtype=x.dtype)


def power_number(x: Any, exponent: Any) -> Any:
    """x ** exponent for a Python number. Small powers are products: `np.power` is some 20 times slower.

    The result has the dtype of x; the caller has promoted it.
    """
    if exponent == 2:
        return np.square(x, out=...)
    if exponent == 3:
        return np.multiply(np.square(x, out=...), x, out=...)
    if exponent == 1:
        return np.positive(x, out=...) if x.dtype.kind != "b" else x.copy()
    if exponent == 0.5 and x.dtype.kind in "fc":
        return np.sqrt(x, out=...)
    if x.dtype.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return np.power(x, np.asarray(exponent, dtype=x.dtype), out=...)


def power(x: Any, y: Any) -> Any:
    """x ** y, element by element."""
    if x.dtype.kind in "iu" and y.dtype.kind == "i" and np.any(np.asarray(y) < 0):
        return _integer_power(x, y)
    return np.power(x, y, out=...)


def _integer_power(x: Any, y: Any) -> Any:
    """Integers to integer powers, some negative: 1 and -1 keep their meaning, anything else is 0, as in PyTorch."""
    x, y = np.broadcast_arrays(x, y)
    result = np.power(x, np.maximum(y, 0))
    sign = np.where(y % 2 == 0, 1, x)
    return np.where(y < 0, np.where(np.abs(x) == 1, sign, 0), result).astype(x.dtype)


def number_to_power(y: Any, base: Any) -> Any:
    """base ** y for a Python number; the caller has promoted y."""
    return power(np.asarray(base, dtype=y.dtype), y)
