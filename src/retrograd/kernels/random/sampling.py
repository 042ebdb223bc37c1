"""Random integers, permutations and choices in PyTorch's order and with PyTorch's bits.

A generator and NumPy arguments give a new array in C order. Like the draws in ``distributions``, these are serial on a
CPU, for every size.

If choices without replacement end in a tie, PyTorch's order is that of an unstable partial sort of the C++ library.
Here the lower index comes first. Ties occur with two categories of weight zero in one sample, with the few digits of
float16, and by chance in one of some hundred samples of a thousand float32 categories.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations import dtypes
from ...foundations.dtypes import NARROW, Shape, is_half, letter, require
from ...foundations.errors import warn
from ...foundations.limits import bits_of_integers, finfo
from ...foundations.scalars import check_convertible
from ..thresholds import COMPARED_SUMS, SHUFFLED_LIST
from .distributions import exponential
from .drawing import rounded, unit64
from .twister import Twister

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray  # numpy.typing takes a while to import

Array = np.ndarray[Any, np.dtype[Any]]
Indices = np.ndarray[Any, np.dtype[np.int64]]

_INT64 = np.iinfo(np.int64)
# From this range on, a number takes two words.
_TWO_WORDS = 2**28
_MOST_CATEGORIES = 2**24


def randint(generator: Twister, shape: Shape, dtype: DTypeLike, low: int | None = None, high: int | None = None
            ) -> Array:
    """Integers from [low, high), of any real dtype: ``randint``, ``random_(low, high)`` and ``random_(high)``.

    Without `high`: up to the largest integer of `dtype`, as ``random_(low, None)``. Without both: from 0 to that
    integer, but drawn in another way, as ``random_()``.
    """
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    if low is None and high is None:
        return _unbounded(generator, count, dtype).reshape(shape)
    first = 0 if low is None else low
    if high is not None and first >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={first} >= to={high}")
    if dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if high is None and first == _INT64.min:
        return _all_of_int64(generator, count, dtype).reshape(shape)
    first, last = _fitted(dtype, first, high)
    _check_bounds(dtype, first, last)
    words = _words(generator, count, two=last - first + 1 >= _TWO_WORDS)
    _take_remainder(words, last - first + 1)
    values = words.astype(np.int64, copy=False)
    values += first
    return rounded(values, dtype).reshape(shape)


def randperm(generator: Twister, n: int, dtype: DTypeLike = np.int64) -> Array:
    """A permutation of 0 .. n - 1."""
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    _check_permutation(n, dtype)
    if n < 2:
        return np.arange(n, dtype=dtype)
    words = _words(generator, n - 1, two=n >= (2**32 - 1) // 20)
    offsets = (words.astype(np.uint64, copy=False) % np.arange(n, 1, -1, dtype=np.uint64)).astype(np.int64)
    return rounded(_shuffled_in_list(offsets) if n <= SHUFFLED_LIST else _shuffled(offsets), dtype)


def multinomial(generator: Twister, probabilities: Array, count: int, replacement: bool = False) -> Indices:
    """Indices of `count` categories, for a row of weights or for each row of a matrix."""
    _check_multinomial(probabilities, count, replacement)
    rows = np.atleast_2d(probabilities)
    if not len(rows):
        return np.empty((0, count), np.int64)
    if replacement and count > 1:
        chosen = _chosen_with_replacement(generator, rows, count)
    else:
        chosen = _chosen_without_replacement(generator, rows, count)
    return chosen.reshape((*probabilities.shape[:-1], count))


def _unbounded(generator: Twister, count: int, dtype: np.dtype[Any]) -> Array:
    require(dtype.kind != "c", "random_kernel_cpu", dtype)
    words = _words(generator, count, two=dtype in (np.int64, np.float64))
    _take_remainder(words, _largest_integer(dtype) + 1)
    return rounded(words.astype(np.int64, copy=False), dtype)


def _all_of_int64(generator: Twister, count: int, dtype: np.dtype[Any]) -> Array:
    require(dtype not in (np.bool_, np.float16), "random_full_64_bits_range_kernel_cpu", dtype)
    if dtype not in (np.int64, np.float64, np.float32):
        raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return rounded(generator.random64(count).view(np.int64), dtype)


def _words(generator: Twister, count: int, two: bool) -> NDArray[np.uint64] | NDArray[np.uint32]:
    return generator.random64(count) if two else generator.random32(count)


def _take_remainder(words: NDArray[Any], divisor: int) -> None:
    """words %= divisor, in place. NumPy has vector instructions for integer division, but not for the remainder."""
    if divisor <= _limits(words.dtype)[1]:
        quotient = words // words.dtype.type(divisor)
        quotient *= words.dtype.type(divisor)
        words -= quotient


@cache
def _largest_integer(dtype: np.dtype[Any]) -> int:
    """The largest integer of an integer dtype. A float dtype has all integers up to the returned integer."""
    if dtype.kind == "b":
        return 1
    return 2 ** (bits_of_integers(dtypes.dtype.of[dtype])) if letter(dtype) == "f" else int(np.iinfo(dtype).max)


def _fitted(dtype: np.dtype[Any], first: int, high: int | None) -> tuple[int, int]:
    """The first and last integer to draw, within the bounds even after rounding to a float dtype."""
    last = _largest_integer(dtype) if high is None else high - 1
    if letter(dtype) != "f":
        return first, last
    step = _cast_to_integer(first + 1, dtype)
    if step < first:
        first = step + _spacing(first + 1, dtype)
    if high is None:
        if first >= last:
            raise RuntimeError("random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
                               f"dtype, but got from={first} > to_inc={last}")
        return first, last
    step = _cast_to_integer(high - 1, dtype)
    if step >= high:
        high = step - _spacing(high - 1, dtype)
    if first >= high:
        raise RuntimeError("random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
                           f"from={first} >= to={high}")
    return first, high - 1


def _cast_to_integer(value: int, dtype: np.dtype[Any]) -> int:
    """The integer after a cast to a float dtype, or the smallest int64 if the cast is out of range, as on x86."""
    with np.errstate(over="ignore"):
        cast = float(dtype.type(value))
    return int(cast) if abs(cast) < 2**63 else int(_INT64.min)


def _spacing(value: int, dtype: np.dtype[Any]) -> int:
    """The distance between neighboring numbers of a float dtype near a large integer."""
    return 1 << max(abs(value).bit_length() - 1 - (bits_of_integers(dtypes.dtype.of[dtype]) - 1), 0)


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The smallest and the largest number of a real dtype."""
    if dtype.kind == "b":
        return 0, 1
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else finfo(dtypes.dtype.of[dtype])
    return limits.min, limits.max


def _check_bounds(dtype: np.dtype[Any], first: int, last: int) -> None:
    smallest, largest = _limits(dtype)
    for name, bound in (("from", first), ("to - 1", last)):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.C_NAMES[dtype.name]}")
        if letter(dtype) == "f" and abs(bound) > _largest_integer(dtype):
            digits = bits_of_integers(dtypes.dtype.of[dtype])
            warn(f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                 f"{dtypes.C_NAMES[dtype.name]} can support discrete uniform distribution only within this range.")


def _check_permutation(n: int, dtype: np.dtype[Any]) -> None:
    require(letter(dtype) in "iuf", "randperm", dtype)
    if letter(dtype) != "f":
        return check_convertible(n - 1, dtype)
    longest = _largest_integer(dtype) + 1
    if n <= longest or dtype in NARROW:
        return None
    shown = longest if is_half(dtype) else f"2^{bits_of_integers(dtypes.dtype.of[dtype])}+1"
    raise RuntimeError(f"n cannot be greater than {shown} for {dtypes.dtype.of[dtype].legacy} type.")


def _shuffled_in_list(offsets: Indices) -> Indices:
    """Fisher-Yates: at each step i, the numbers at i and at i + offsets[i] change places."""
    numbers = list(range(offsets.size + 1))
    for i, offset in enumerate(offsets.tolist()):
        numbers[i], numbers[i + offset] = numbers[i + offset], numbers[i]
    return np.array(numbers, np.int64)


def _shuffled(offsets: Indices) -> Indices:
    """`_shuffled_in_list` with all steps at once.

    Step i takes the number at its partner's place, and leaves its own number there. So the number that step i takes was
    left by the last earlier step with the same partner, or, if there is none, it is the original number. The number
    that step i leaves was at place i: left there by the last earlier step with partner i, or the original number.
    """
    steps = np.arange(offsets.size + 1)
    partners = steps.copy()
    partners[:-1] += offsets
    last, before = _last_and_previous(partners)
    leaves = np.where(last == steps, before, last)
    leaves = np.where(leaves < 0, steps, leaves)
    # Follow the links to the step that leaves its own number.
    while not np.array_equal(further := leaves[leaves], leaves):
        leaves = further
    return np.where(before < 0, partners, leaves[before])


def _last_and_previous(partners: Indices) -> tuple[Indices, Indices]:
    """The last step with each partner, and for each step the previous step with its partner, or -1."""
    steps = np.arange(partners.size)
    last, before = np.full((2, partners.size), -1)
    np.maximum.at(last, partners, steps)
    newest = last[partners]
    # Remove the last step of each partner: among the others, the last step is the one before it.
    while (others := np.flatnonzero(newest != steps)).size:
        steps, newest = steps[others], newest[others]
        np.maximum.at(before, newest, steps)
        newest = before[newest]
    return last, before


def _check_multinomial(probabilities: Array, count: int, replacement: bool) -> None:
    if letter(probabilities.dtype) != "f":
        name = dtypes.dtype.of[probabilities.dtype].legacy
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {name}")
    if probabilities.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    categories = probabilities.shape[-1]
    if not replacement and count > categories:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if categories > _MOST_CATEGORIES:
        raise RuntimeError("number of categories cannot exceed 2^24")
    # A nan makes these extremes nan, and then no comparison is true.
    least = np.minimum.reduce(probabilities, axis=None, initial=math.inf)
    peaks = np.maximum.reduce(probabilities, axis=-1, initial=0)
    highest = np.maximum.reduce(peaks, axis=None, initial=0)
    if replacement and count > 1:
        if not least >= 0:
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if highest == math.inf:
            raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    elif not (least >= 0 and highest < math.inf):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not np.minimum.reduce(peaks, axis=None, initial=math.inf) > 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _chosen_with_replacement(generator: Twister, rows: Array, count: int) -> Indices:
    wide = np.promote_types(rows.dtype, np.float32)
    cumulative = rows.cumsum(axis=1, dtype=wide)
    cumulative /= cumulative[:, -1:].copy()
    cumulative[:, -1] = 1
    points = unit64(generator, len(rows) * count).reshape(-1, count)
    if rows.size * count <= COMPARED_SUMS:
        return np.asarray(np.add.reduce(cumulative[:, None] < points[:, :, None], axis=2, dtype=np.int64))
    return np.stack([np.searchsorted(row, point) for row, point in zip(cumulative, points)])


def _chosen_without_replacement(generator: Twister, rows: Array, count: int) -> Indices:
    """The categories with the largest weights after division by exponential samples, drawn in the order of memory."""
    turned = 0 < rows.strides[0] < rows.strides[1]
    samples = exponential(generator, rows.shape[::-1] if turned else rows.shape, rows.dtype)
    with np.errstate(all="ignore"):
        keys = rows / (samples.T if turned else samples)
    order: Indices = (np.argmax(keys, axis=1, keepdims=True) if count == 1 else
                      np.argsort(-keys, axis=1, kind="stable"))
    return order[:, :count]
