"""Window functions: weights that fall towards both ends of a signal, as float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def bartlett(n: int) -> Any:
    """A triangle over `n` points."""
    return 1.0 - np.abs(2.0 * np.arange(n) / (n - 1) - 1.0)


def blackman(n: int) -> Any:
    """0.42 - 0.5 cos t + 0.08 cos 2t, for t over one period."""
    turn = 2.0 * math.pi / (n - 1) * np.arange(n)
    return 0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2.0 * turn)


def hamming(n: int, alpha: float, beta: float) -> Any:
    """alpha - beta cos t, for t over one period."""
    return alpha - beta * np.cos(2.0 * math.pi / (n - 1) * np.arange(n))


def hann(n: int) -> Any:
    """(1 - cos t) / 2, for t over one period."""
    return hamming(n, 0.5, 0.5)


def kaiser(n: int, beta: float) -> Any:
    """The Bessel function I0 of half an ellipse of height `beta`, scaled to 1 in the middle."""
    at = 2.0 * np.arange(n) / (n - 1) - 1.0
    return np.i0(beta * np.sqrt(np.maximum(1.0 - at * at, 0.0))) / np.i0(np.float64(beta))
