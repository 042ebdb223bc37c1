"""Mantissas and exponents of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import exp2


def frexp(x: Any) -> tuple[Any, Any]:
    """The mantissa, with an absolute value from 1 / 2 to 1, and the exponent of the power of 2."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(mantissa), np.asarray(exponent)


def ldexp(x: Any, y: Any, *, out: Any = ...) -> Any:
    """x * 2 ** y."""
    return np.multiply(x, exp2(y), out=out)
