"""Numbers and small pictures of arrays, as plain data for a document: statistics, histograms, images.

Floats are finite, or the words "nan", "inf" and "-inf", since JSON has no other numbers.
"""

from __future__ import annotations

import base64
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

BINS, FEW_BINS = 24, 12                     # of a histogram, and of one among many
SIDE = 64                                   # of an image, in pixels
_SAMPLED = 1 << 12                          # a histogram of a larger array counts only so many elements
_SMALLEST = 8                               # an image has at least as many rows and columns

Facts = dict[str, Any]


def number(value: Any) -> float | str:
    """A float with six digits, or its name if it is not finite."""
    value = float(value)
    if isfinite(value):
        return float(f"{value:.6g}")
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def flat(array: Any) -> Any:
    """The elements of a NumPy array as floats in one dimension; of complex elements, the absolute values."""
    if array.dtype.kind == "c":
        array = np.abs(array)
    with np.errstate(all="ignore"):
        return np.asarray(array, np.float64).reshape(-1)


def norm(array: Any) -> float | str | None:
    """The Euclidean norm of an array; None for an array that is not NumPy's."""
    if not isinstance(array, np.ndarray | np.generic):
        return None
    x = flat(array)
    with np.errstate(all="ignore"):
        return number(sqrt(square) if (square := float(x @ x)) >= 0 else square)


def statistics(array: Any) -> Facts | None:
    """The statistics of an array; None for an array that is not NumPy's.

    The norm is that of all elements. The mean, the deviation (with n - 1, as `Tensor.std` has it) and the extremes are
    those of the finite elements.
    """
    if not isinstance(array, np.ndarray | np.generic):
        return None
    x = flat(array)
    size, nans, infs = x.size, 0, 0
    with np.errstate(all="ignore"):
        square = float(x @ x)
        if not isfinite(square):
            nans, infs = int(np.isnan(x).sum()), int(np.isinf(x).sum())
            square = square if nans else inf
            x = x[np.isfinite(x)]
        count = x.size
        mean = float(x.sum()) / count if count else 0.0
        away = x - mean
        deviation = sqrt(float(away @ away) / (count - 1)) if count > 1 else 0.0
    return {"norm": number(sqrt(square) if square >= 0 else square), "mean": number(mean), "std": number(deviation),
            "min": number(x.min()) if count else None, "max": number(x.max()) if count else None,
            "zeros": count - int(np.count_nonzero(x)), "nans": nans, "infs": infs, "size": size}


def histogram(array: Any, bins: int = BINS) -> Facts | None:
    """A histogram of the finite elements of an array; None if there are fewer than two."""
    x = flat(array)
    if x.size > _SAMPLED:
        x = x[::x.size // _SAMPLED]
    x = x[np.isfinite(x)]
    if x.size < 2:
        return None
    low, high = float(x.min()), float(x.max())
    with np.errstate(all="ignore"):
        places = (x - low) * (bins / (high - low)) if isfinite(high - low) and high > low else np.zeros(x.size)
    counts = np.bincount(np.minimum(places.astype(np.intp), bins - 1), minlength=bins)
    return {"kind": "histogram", "edges": [number(low), number(high)], "counts": counts.tolist()}


def image(array: Any, side: int = SIDE) -> Facts | None:
    """An image of a matrix, or of the first matrix of a stack; None if the matrix is too small.

    A larger matrix is shown by some of its rows and columns, at most `side` of each.
    """
    while array.ndim > 2 and array.size:
        array = array[0]
    if array.ndim != 2 or min(array.shape) < _SMALLEST:
        return None
    rows, columns = (np.linspace(0, n - 1, min(n, side)).astype(np.intp) for n in array.shape)
    part = array[np.ix_(rows, columns)]
    x = flat(part)
    finite = np.isfinite(x)
    if not finite.any():
        return None
    low, high = float(x[finite].min()), float(x[finite].max())
    with np.errstate(all="ignore"):
        levels = np.where(finite, (x - low) * (255 / (high - low)), 0) if 0 < high - low < inf else np.zeros(x.size)
    values = base64.b64encode(levels.astype(np.uint8).tobytes()).decode("ascii")
    return {"kind": "image", "width": part.shape[1], "height": part.shape[0], "values": values,
            "lo": number(low), "hi": number(high)}


class Pictures:
    """Makes pictures whose size depends on how many there will be, so that all of them fit a file.

    `many` is the number of arrays to show. `bytes` is the size that all pictures together may have.
    """

    def __init__(self, many: int, bytes: int = 800_000) -> None:
        each = bytes / max(1, many)
        self.side = min(SIDE, int(sqrt(0.7 * each)))     # base64 takes four bytes for three pixels
        self.bins = BINS if each > 10 * BINS else FEW_BINS

    def of(self, array: Any) -> Facts | None:
        """The picture of an array: an image if it shows a matrix and the file has room, or else a histogram."""
        if not isinstance(array, np.ndarray) or array.size < 2:
            return None
        found = image(array, self.side) if self.side >= 2 * _SMALLEST else None
        return found or histogram(array, self.bins)
