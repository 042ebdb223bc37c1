"""Describe non-finite values: how many there are, where the first is, and what it was computed from.

The module knows only arrays and their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array, letter

# An array of more elements, if it is not row-major, is read in the order of its memory.
LARGE = 4096

Named = Sequence[tuple[str, Any]]


class BadValues(NamedTuple):
    """`what` has `nans` and `infs` among its `size` elements; `value` is the element at `place`, made of `operands`."""

    what: str
    nans: int
    infs: int
    size: int
    place: tuple[int, ...]
    value: str
    operands: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        counts = " and ".join([f"{n} {kind}" for n, kind in ((self.nans, "nan"), (self.infs, "inf")) if n])
        place = f", {self.value} at {list(self.place)}" if self.place else ""
        text = f"{self.what} has {counts} among {self.size} element{'s' * (self.size != 1)}{place}"
        if self.operands:
            text += ", where " + ", ".join([f"{name} = {value}" for name, value in self.operands])
        return text + "."


def has_nan(array: Array) -> bool:
    """Whether an array holds a NaN. NumPy's argmax treats a NaN as the greatest value, in every dtype."""
    array = all_samples(array)
    size = array.size
    if size > LARGE:
        array = array.ravel("K")
    if not size:
        return False
    value = array.item(array.argmax())
    return bool(value != value)


def all_samples(array: Any) -> Any:
    """The NumPy array behind the array of a batch, with all samples; a NumPy array as it is."""
    return getattr(array, "array", array)


def described(what: str, array: Array, operands: Named = (), elementwise: bool = False) -> BadValues | None:
    """The bad values of an array, or None if all are finite. See `made`."""
    array = all_samples(array)
    if letter(array.dtype) not in "fc":
        return None
    return _described(what, array, ~np.isfinite(array), operands, elementwise)


def made(what: str, array: Array, operands: Named, elementwise: bool) -> BadValues | None:
    """The bad values that an array got from finite `operands`, or None if there are none.

    If the array is computed elementwise and an operand's shape fits, the operand is read in the same places. All
    elements of any other operand must be finite. An operand that the array was written over is skipped.
    """
    array = all_samples(array)
    if letter(array.dtype) not in "fc":
        return None
    operands = [(name, all_samples(x)) for name, x in operands]
    operands = [(name, x) for name, x in operands if not (isinstance(x, np.ndarray) and np.may_share_memory(x, array))]
    bad = ~np.isfinite(array)
    for _, operand in operands:
        if not isinstance(operand, np.ndarray) or letter(operand.dtype) not in "fc":
            continue
        finite = np.isfinite(operand)
        if not finite.all():
            if not elementwise or not _reaches(operand.shape, array.shape):
                return None
            bad &= finite
    return _described(what, array, bad, operands, elementwise)


def _described(what: str, array: Array, bad: Any, operands: Named, elementwise: bool) -> BadValues | None:
    """The bad values of an array at the places of a mask."""
    if not bad.any():
        return None
    nan = np.isnan(array) & bad
    first = int((nan if nan.any() else bad).argmax())
    index = tuple([int(i) for i in np.unravel_index(first, array.shape)])
    nans = int(np.count_nonzero(nan))
    return BadValues(what, nans, int(np.count_nonzero(bad)) - nans, array.size, index, str(array[index]),
                     tuple([(name, _value_at(x, array.shape, index, elementwise)) for name, x in operands]))


def _reaches(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `target`."""
    return len(shape) <= len(target) and all([n in (1, m) for n, m in zip(reversed(shape), reversed(target))])


def _value_at(operand: Any, shape: tuple[int, ...], index: tuple[int, ...], elementwise: bool) -> str:
    """The value of an operand at an index of the result, or its range if no single value belongs to the index."""
    if not isinstance(operand, np.ndarray):
        return str(operand)
    if not operand.shape or (elementwise and _reaches(operand.shape, shape)):
        return str(np.broadcast_to(operand, shape)[index])
    if letter(operand.dtype) not in "fc" or not operand.size:
        return f"a tensor of shape {list(operand.shape)}"
    if not np.isfinite(operand).all():
        return f"a tensor of shape {list(operand.shape)} with elements that are not finite"
    if operand.dtype.kind == "c":
        return f"a finite tensor of shape {list(operand.shape)}"
    return f"a tensor of shape {list(operand.shape)} from {operand.min()} to {operand.max()}"
