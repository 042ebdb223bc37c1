"""Mantissas and exponents: the parts of a number as computers hold it. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementary import exp2


def frexp(x: Any) -> tuple[Any, Any]:
    """The mantissa, of a size from 1 / 2 to 1, and the power of 2 that it is multiplied by."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(mantissa), np.asarray(exponent)


def ldexp(x: Any, y: Any, *, out: Any = ...) -> Any:
    """x * 2 ** y."""
    return np.multiply(x, exp2(y), out=out)
