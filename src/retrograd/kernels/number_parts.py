"""Numbers as computers hold them: mantissa and exponent; and integers by their divisors. Arrays in, arrays out."""

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


def isin(x: Any, tests: Any, invert: Any) -> Any:
    """Whether each element is among the elements of `tests`, or, where `invert`, is not."""
    return np.asarray(np.isin(x, tests, invert=invert))
