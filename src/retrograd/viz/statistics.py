"""Numbers and small pictures of arrays, as plain data for a document: statistics, numbers, heat maps, histograms.

Floats are finite, or the words "nan", "inf" and "-inf", since JSON has no other numbers.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..kernels.sparse.arrays import Coo, SparseLike
from ..kernels.sparse.coordinates import coalesce

BINS = 24                                   # of a histogram
FEW = 16                                    # elements of an array that is shown by its numbers
SIDE = 64                                   # of an image, in pixels
_SAMPLED = 1 << 12                          # a histogram of a larger array counts only so many elements
_PART = 1 << 15                             # elements
_EXACT = 1 << 53                            # JavaScript has all integers up to here
_PIXELS = 48                                # that an image may have at least, however many images there are
_HISTOGRAM = 150                            # bytes of a histogram in a document, about
_TINY, _HUGE = 1e-140, 1e140                # between these, squares of numbers and their sums are exact enough
_LEAST = 1e-280                             # a sum of squares that is exact enough
_MIDDLE, _TOP = 128, 255                    # the levels of 0 in an image of signed numbers, and of the highest number

Facts = dict[str, Any]


def elements(array: Any) -> Any:
    """The NumPy array whose numbers are shown: of a sparse array, the stored elements, those of one place added up.

    None for an array without numbers.
    """
    if isinstance(array, SparseLike):
        return (coalesce(array) if isinstance(array, Coo) else array).values
    return array if isinstance(array, np.ndarray | np.generic) else None


def number(value: Any) -> float | str:
    """A float with six digits, or its name if it is not finite."""
    value = float(value)
    if isfinite(value):
        return float(f"{value:.6g}")
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def flat(array: Array) -> Any:
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
    """The Euclidean norm of an array; None for an array without numbers."""
    array = elements(array)
    if array is None:
        return None
    with np.errstate(all="ignore"):
        square = sum([float(x @ x) for x in _parts(array)])
        if _LEAST < square < inf:
            return number(sqrt(square))
        top = float(np.max([np.abs(x).max(initial=0.0) for x in _parts(array)]))
        if not 0 < top < inf:
            return number(top)                          # a NaN stays a NaN
        return number(top * sqrt(sum([float((x / top) @ (x / top)) for x in _parts(array)])))


class _Sums(NamedTuple):
    """What is summed over an array, in units of `unit`. All but `nans` and `infs` is about the finite elements."""

    finite: int                                         # how many elements are
    zeros: int
    nans: int
    infs: int
    low: float
    high: float
    squares: float
    pivot: float
    total: float                                        # of the differences from the pivot
    spread: float                                       # of their squares
    unit: float

    @property
    def norm(self) -> float:
        """The Euclidean norm of the finite elements."""
        return self.unit * sqrt(self.squares)

    @property
    def mean(self) -> float | None:
        """The mean; None if no element is finite."""
        return self.unit * (self.pivot + self.total / self.finite) if self.finite else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation with n - 1; 0 for one element, and None if no element is finite."""
        if self.finite < 2:
            return 0.0 if self.finite else None
        return self.unit * sqrt(max(0.0, self.spread - self.total * (self.total / self.finite)) / (self.finite - 1))


def statistics(array: Any) -> Facts | None:
    """The statistics of an array, or of the stored elements of a sparse one; None for an array without numbers.

    The norm is that of all elements. The mean, the deviation (with n - 1, as `Tensor.std` has it) and the extremes are
    those of the finite elements, and None if there is none. Of complex elements they are those of the absolute values;
    `parts` are then the means of the real and of the imaginary parts.
    """
    array = elements(array)
    if array is None:
        return None
    with np.errstate(all="ignore"):
        sums = _sums(array, 1.0)
        top = max(abs(sums.low), abs(sums.high)) if sums.finite else 0.0
        if top and not _TINY < top < _HUGE:             # the squares of such numbers are too small or too large
            sums = _sums(array, top)
        parts = [_sums(part, 1.0).mean for part in (array.real, array.imag)] if array.dtype.kind == "c" else None
    facts: dict[str, Any] = {"norm": "nan" if sums.nans else "inf" if sums.infs else number(sums.norm),
             "mean": _known(sums.mean), "std": _known(sums.deviation),
             "min": number(sums.low) if sums.finite else None, "max": number(sums.high) if sums.finite else None,
             "zeros": sums.zeros, "nans": sums.nans, "infs": sums.infs, "size": sums.finite + sums.nans + sums.infs}
    return facts if parts is None else {**facts, "parts": [_known(part) for part in parts]}


def _known(value: float | None) -> float | str | None:
    return None if value is None else number(value)


def _sums(array: Any, unit: float) -> _Sums:
    count = zeros = nans = infs = 0
    squares = total = spread = pivot = 0.0
    low, high = inf, -inf
    for x in _parts(array):
        x = x if unit == 1.0 else x / unit
        square = float(x @ x)
        if not isfinite(square):
            nans, infs = nans + int(np.isnan(x).sum()), infs + int(np.isinf(x).sum())
            x = x[np.isfinite(x)]
            square = float(x @ x)
        if x.size:
            pivot = pivot if count else float(x[0])
            low, high = min(low, float(x.min())), max(high, float(x.max()))
            zeros += x.size - int(np.count_nonzero(x))
            count, squares = count + x.size, squares + square
            x = x - pivot
            total, spread = total + float(x.sum()), spread + float(x @ x)
    return _Sums(count, zeros, nans, infs, low * unit, high * unit, squares, pivot, total, spread, unit)


def histogram(array: Any) -> Facts | None:
    """A histogram of the finite elements of an array; None if there are fewer than two."""
    x = array.reshape(-1)
    x = flat(x[::x.size // _SAMPLED] if x.size > _SAMPLED else x)
    x = x[np.isfinite(x)]
    if x.size < 2:
        return None
    low, high = float(x.min()), float(x.max())
    with np.errstate(all="ignore"):
        places = (x - low) * (BINS / (high - low)) if isfinite(high - low) and high > low else np.zeros(x.size)
    counts = np.bincount(np.minimum(places.astype(np.intp), BINS - 1), minlength=BINS)
    return {"kind": "histogram", "edges": [number(low), number(high)], "counts": counts.tolist()}


def numbers(array: Any) -> Facts:
    """The elements of a small array, in one list: floats with six digits, integers exactly; as text if JSON has none.
    """
    return {"kind": "numbers", "shape": [*array.shape], "values": [_plain(x) for x in array.reshape(-1).tolist()]}


def _plain(value: Any) -> Any:
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    return f"{value.real:.6g}{value.imag:+.6g}j" if isinstance(value, complex) else number(value)


def image(array: Any, pixels: int = SIDE * SIDE) -> Facts | None:
    """A heat map of an array, whose last dimension runs from left to right; all other dimensions are rows.

    A level is a byte. 0 stands for NaN and the infinities, and 1 to 255 for numbers from `lo` to `hi`. If there are
    negative and positive numbers, `lo` is -`hi`, so that 128 is 0. If there are more rows or columns than the picture
    has room for, it shows some of them. None if no number is finite.
    """
    matrix = array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1)
    rows, columns = _fitting(matrix.shape[0], matrix.shape[1], pixels)
    places = [np.linspace(0, n - 1, kept).astype(np.intp) for n, kept in zip(matrix.shape, (rows, columns))]
    x = flat(matrix[np.ix_(*places)])
    finite = np.isfinite(x)
    low, high = _extremes(array)
    if low > high:
        return None
    if low < 0 < high:
        high = max(-low, high)
        low = -high
    with np.errstate(all="ignore"):
        if low == high:
            levels = np.full(x.size, float(_MIDDLE))
        elif low < 0 < high:
            levels = _MIDDLE + np.rint(x / high * (_TOP - _MIDDLE))
        else:
            levels = 1 + np.rint((x - low) / (high - low) * (_TOP - 1))
    values = base64.b64encode(np.where(finite, levels, 0).astype(np.uint8).tobytes()).decode("ascii")
    return {"kind": "image", "width": columns, "height": rows, "values": values, "lo": number(low), "hi": number(high)}


def _extremes(array: Array) -> tuple[float, float]:
    """The least and the greatest finite element; infinity and its negative if there is none."""
    low, high = inf, -inf
    for x in _parts(array):
        x = x[np.isfinite(x)]
        if x.size:
            low, high = min(low, float(x.min())), max(high, float(x.max()))
    return low, high


def _fitting(rows: int, columns: int, pixels: int) -> tuple[int, int]:
    """How many rows and columns of a matrix an image of so many pixels has room for."""
    rows, columns = min(rows, SIDE), min(columns, SIDE)
    while rows * columns > pixels:
        rows, columns = (rows, (columns + 1) // 2) if columns >= rows else ((rows + 1) // 2, columns)
    return rows, columns


class Pictures:
    """Makes pictures whose size depends on how many there will be, so that all of them fit a file.

    `many` is the number of arrays to show. `bytes` is the size that all pictures together may have.
    """

    def __init__(self, many: int, bytes: int = 800_000) -> None:
        each = bytes / max(1, many)
        self.histograms = each > _HISTOGRAM * 2
        self.pixels = max(_PIXELS, int(0.7 * (each - _HISTOGRAM)))    # base64 takes four bytes for three pixels

    def of(self, array: Any) -> Facts | None:
        """The picture of an array: its numbers if they are few, or else a heat map; with a histogram if there is room.

        None for an array without numbers, for an empty one, and for one of many elements that are all bad.
        """
        array = elements(array)
        if array is None or not array.size:
            return None
        if array.size <= FEW:
            return numbers(array)
        found = image(array, self.pixels)
        spread = histogram(array) if self.histograms else None
        return found if found is None or spread is None else {**found, "histogram": spread}
