"""Numbers and small pictures of arrays, as plain data for a document: statistics, histograms, images.

Floats are finite, or the words "nan", "inf" and "-inf", since JSON has no other numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

BINS, FEW_BINS = 24, 12                     # of a histogram, and of one among many
SIDE = 64                                   # of an image, in pixels
_SAMPLED = 1 << 12                          # a histogram of a larger array counts only so many elements
_PART = 1 << 15                             # elements
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


def _parts(array: Any) -> Iterator[Any]:
    """The elements of an array, as floats, in parts that fit the caches of a processor."""
    whole = np.asarray(array).reshape(-1)
    for start in range(0, max(1, whole.size), _PART):
        yield flat(whole[start:start + _PART])


def norm(array: Any) -> float | str | None:
    """The Euclidean norm of an array; None for an array that is not NumPy's."""
    if not isinstance(array, np.ndarray | np.generic):
        return None
    with np.errstate(all="ignore"):
        return _root(sum([float(x @ x) for x in _parts(array)]))


def _root(square: float) -> float | str:
    return number(sqrt(square) if square >= 0 else square)           # a NaN stays a NaN


def statistics(array: Any) -> Facts | None:
    """The statistics of an array; None for an array that is not NumPy's.

    The norm is that of all elements. The mean, the deviation (with n - 1, as `Tensor.std` has it) and the extremes are
    those of the finite elements.
    """
    if not isinstance(array, np.ndarray | np.generic):
        return None
    count = zeros = nans = infs = 0
    squares = total = spread = pivot = 0.0              # total and spread: of the differences from the pivot
    low, high = inf, -inf
    with np.errstate(all="ignore"):
        for x in _parts(array):
            square = float(x @ x)
            if not isfinite(square):
                nans, infs = nans + int(np.isnan(x).sum()), infs + int(np.isinf(x).sum())
                x = x[np.isfinite(x)]
            if x.size:
                pivot = pivot if count else float(x[0])
                low, high = min(low, float(x.min())), max(high, float(x.max()))
                zeros += x.size - int(np.count_nonzero(x))
                count, squares = count + x.size, squares + square
                x = x - pivot
                total, spread = total + float(x.sum()), spread + float(x @ x)
        deviation = sqrt(max(0.0, spread - total * (total / count)) / (count - 1)) if count > 1 else 0.0
    return {"norm": "nan" if nans else "inf" if infs else _root(squares),
            "mean": number(pivot + total / count if count else 0), "std": number(deviation),
            "min": number(low) if count else None, "max": number(high) if count else None,
            "zeros": zeros, "nans": nans, "infs": infs, "size": count + nans + infs}


def histogram(array: Any, bins: int = BINS) -> Facts | None:
    """A histogram of the finite elements of an array; None if there are fewer than two."""
    x = array.reshape(-1)
    x = flat(x[::x.size // _SAMPLED] if x.size > _SAMPLED else x)
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
