"""Arrays times a Python number. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np


def times(x: Any, factor: float) -> Any:
    """x times a real number, in its own type."""
    return np.multiply(x, x.dtype.type(factor), out=...)


def over(x: Any, divisor: float) -> Any:
    """x divided by a real number, in its own type."""
    return np.divide(x, x.dtype.type(divisor), out=...)
