"""Windows: weights that fall off to both ends of a stretch of a signal. Numbers in, arrays of float64 out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def bartlett(n: int) -> Any:
    """A triangle over `n` points."""
    return 1.0 - np.abs(2.0 * np.arange(n) / (n - 1) - 1.0)


def blackman(n: int) -> Any:
    """0.42 - 0.5 cos + 0.08 cos of the double angle, over one turn."""
    turn = 2.0 * math.pi / (n - 1) * np.arange(n)
    return 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2.0 * turn)


def hamming(n: int, alpha: float, beta: float) -> Any:
    """alpha - beta cos, over one turn."""
    return alpha - beta * np.cos(2.0 * math.pi / (n - 1) * np.arange(n))


def hann(n: int) -> Any:
    """Half of 1 - cos, over one turn."""
    return hamming(n, 0.5, 0.5)


def kaiser(n: int, beta: float) -> Any:
    """The Bessel function I0 over half an ellipse of height `beta`, scaled to 1 in the middle."""
    at = 2.0 * np.arange(n) / (n - 1) - 1.0
    return np.i0(beta * np.sqrt(np.maximum(1.0 - at * at, 0.0))) / np.i0(np.float64(beta))
