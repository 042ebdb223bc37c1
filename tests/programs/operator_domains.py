"""Which tensors suit an operator, so that its result does not hang on the last bits; and how others are made to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Fits = Callable[[Any], bool]


def _values(t: Any) -> np.ndarray[Any, Any]:
    """The elements, of complex numbers both parts."""
    array = np.asarray(t.detach().numpy(force=True)).ravel()
    if array.dtype.kind == "c":
        array = np.concatenate([array.real, array.imag])
    return array.astype(np.float64)


def _exact(t: Any) -> bool:
    """Whether all values are multiples of 1/8, which both libraries compute alike."""
    eighths = _values(t) * 8
    return bool(np.all(eighths == np.rint(eighths)))


def _apart(t: Any) -> bool:
    """Whether no two values are nearly equal."""
    values = np.sort(_values(t))
    return bool(np.all(np.diff(values) > 1e-3))


def _off_kinks(t: Any) -> bool:
    """Whether no value is next to a multiple of a half, but for what is exactly one."""
    halves = _values(t) * 2
    return _exact(t) or bool(np.all(np.abs(halves - np.rint(halves)) > 2e-3))


def _between(low: float, high: float) -> Fits:
    return lambda t: bool(np.all((_values(t) >= low) & (_values(t) <= high)))


def _whole(t: Any) -> bool:
    values = _values(t)
    return bool(np.all(values == np.rint(values)))


def _positive(t: Any) -> bool:
    """Away from zero and from the cut; of complex numbers, in the right half of the plane."""
    real = t.real if t.is_complex() else t
    return bool(np.all(_values(real) >= 0.05))


def _spread(t: Any) -> bool:
    return _apart(t) and bool(np.all(np.abs(_values(t)) > 0.05))


FITS: dict[str, Fits] = {
    "any": lambda t: True, "floating": lambda t: t.is_floating_point() or t.is_complex(), "literal": _exact,
    "bool": lambda t: True, "exact": _exact, "kink": _off_kinks, "apart": _apart, "spread": _spread,
    "ties": lambda t: _exact(t) or _apart(t), "whole": _whole,
    "nonzero": lambda t: _whole(t) and bool(np.all(_values(t) != 0)), "positive": _positive,
    # Where the gradients of unsigned ints would be wrong in PyTorch.
    "smooth": lambda t: t.is_floating_point() and _positive(t), "wide": _between(-4, 4),
    "unit": _between(-0.95, 0.95), "open": _between(0.05, 0.95), "half": _between(1.1, 1.4),
    "far": _between(2, 8),
}
CONVERSIONS = {
    "positive": "({}.sin() * 0.4 + 0.75)", "smooth": "({}.sin() * 0.4 + 0.75)",
    "unit": "({}.sin() * 0.9)", "open": "({}.sin() * 0.4 + 0.5)",
    "half": "({}.sin() * 0.15 + 1.25)", "far": "({}.sin() * 0.4 + 3)", "wide": "({}.cos() * 2)",
}
