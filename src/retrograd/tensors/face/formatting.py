"""Numbers as texts, with PyTorch's choice of notation: the texts of an array's elements and the width of one.

Knows values and a precision only. Must not know how the texts are laid out, nor the options kept for a process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Cells:
    """The elements of an array as texts, in row-major order and padded on the left to one width.

    `width`, which rows are broken into lines by, is that of the widest finite number: nan and inf can be wider.
    """

    texts: list[str]
    width: int


def cells(values: np.ndarray[Any, Any], precision: int, scientific: bool | None) -> Cells:
    """The texts of all of `values`. `scientific` None leaves the notation of floats to the values."""
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

    Only the finite numbers other than zero have a say in it.
    """
    telling = values[np.isfinite(values) & (values != 0)]
    if telling.size == 0:  # the width is 1, though a zero takes two columns: PyTorch's lines of zeros run too long
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
    """The greatest and the least magnitudes of either sign: in any notation, the longest text is one of theirs."""
    sides = [side for side in (telling[telling > 0], telling[telling < 0]) if side.size]
    return np.array([end for side in sides for end in (side.min(), side.max())])


def _fixed(values: np.ndarray[Any, Any], digits: int, point: str) -> list[str]:
    """`point` is what a number ends in, if it is one; nan and inf are none."""
    texts = [f"{value:.{digits}f}" for value in values.ravel().tolist()]
    return [text if text.endswith(("n", "f")) else text + point for text in texts] if point else texts


def _complex_cells(values: np.ndarray[Any, Any], precision: int, scientific: bool | None) -> Cells:
    """The two parts choose their notations apart. Only the real one is padded: its partner is joined to it."""
    real = _float_cells(values.real, precision, scientific)
    imaginary = _float_cells(values.imag, precision, scientific)
    texts = [left + _signed(right.lstrip()) + "j" for left, right in zip(real.texts, imaginary.texts)]
    return Cells(texts, real.width + imaginary.width + 1)


def _signed(text: str) -> str:
    return text if text.startswith("-") else "+" + text
