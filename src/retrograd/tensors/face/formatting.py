"""Numbers as texts, in PyTorch's choice of notation: the texts of the elements of an array, and their width.

`printing` lays out the texts, and keeps the print options.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Cells(NamedTuple):
    """The elements of an array as texts, in row-major order and padded on the left to one width.

    `width` decides how rows are broken into lines. It is that of the widest finite number; nan and inf can be wider.
    """

    texts: list[str]
    width: int


def cells(values: np.ndarray[Any, Any], precision: int, scientific: bool | None) -> Cells:
    """The texts of all of `values`. If `scientific` is None, the values decide on the notation of floats."""
    if values.dtype.kind == "c":
        return _complex_cells(values, precision, scientific)
    if values.dtype.kind == "f":
        return _float_cells(values, precision, scientific)
    texts = [str(value) for value in values.ravel().tolist()]
    return _padded(texts, max(map(len, texts)))


def _padded(texts: list[str], width: int) -> Cells:
    return Cells([text.rjust(width) for text in texts], width)


def _float_cells(values: np.ndarray[Any, Any], precision: int, scientific: bool | None) -> Cells:
    """One notation for all: scientific, whole numbers with a bare point, or `precision` digits after the point.

    Only the finite numbers other than zero decide on it.
    """
    telling = values[np.isfinite(values) & (values != 0)]
    if telling.size == 0:  # the width is 1, though a zero takes two columns, so PyTorch's lines of zeros are too long
        return _padded(_fixed(values, 0, "."), 1)
    magnitudes = np.abs(telling)
    low, high = float(magnitudes.min()), float(magnitudes.max())  # in Python's precision: float16 has no 1e8
    whole = bool((telling == np.floor(telling)).all())
    if scientific is None:
        scientific = high / low > 1000.0 or high > 1e8 or low < 1e-4

    def write(numbers: np.ndarray[Any, Any]) -> list[str]:
        if scientific:
            return [f"{number:.{precision}e}" for number in numbers.ravel().tolist()]
        return _fixed(numbers, 0, ".") if whole else _fixed(numbers, precision, "")

    return _padded(write(values), max(map(len, write(_extremes(telling)))))


def _extremes(telling: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The greatest and the least magnitudes of each sign. In any notation, one of them has the longest text."""
    sides = [side for side in (telling[telling > 0], telling[telling < 0]) if side.size]
    return np.array([end for side in sides for end in (side.min(), side.max())])


def _fixed(values: np.ndarray[Any, Any], digits: int, point: str) -> list[str]:
    """The texts with a fixed number of digits after the point. Finite numbers get the ending `point`."""
    texts = [f"{value:.{digits}f}" for value in values.ravel().tolist()]
    return [text if text.endswith(("n", "f")) else text + point for text in texts] if point else texts


def _complex_cells(values: np.ndarray[Any, Any], precision: int, scientific: bool | None) -> Cells:
    """The texts of complex numbers. Each part has its own notation. Only the real part is padded."""
    real = _float_cells(values.real, precision, scientific)
    imaginary = _float_cells(values.imag, precision, scientific)
    texts = [left + _signed(right.lstrip()) + "j" for left, right in zip(real.texts, imaginary.texts)]
    return Cells(texts, real.width + imaginary.width + 1)


def _signed(text: str) -> str:
    return text if text.startswith("-") else "+" + text
