"""Whether one container alone holds an array, so that the array may be kept or written over instead of copied.

Reference counts tell, if they are taken with care. A container owns its references in every version of Python. A local
variable, an argument or the interpreter's stack may borrow its reference, from Python 3.14 on, and then the count does
not show it. So `count` counts an item of a container through a tuple, whose items the interpreter hands to
`getrefcount` as they lie in the tuple: each reference in this count is owned. A borrowed reference that the count does
not show belongs to a call that is still running, and the owner that lent it is counted.

The import measures the count of an array that only a container holds, and the counts with each kind of further holder.
If a measurement is not as expected, every array counts as held elsewhere, so that it is copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..foundations.dtypes import Array


def _nobody_counts(object: Array) -> int:
    """In the place of `sys.getrefcount` on an interpreter that does not count references."""
    return 0


getrefcount = getattr(sys, "getrefcount", _nobody_counts)


def count(container: Any, key: Any) -> int:
    """The number of references to `container[key]`, and one more: that of the tuple."""
    return getrefcount(*(container[key],))


def _base_count(container: Any, key: Any) -> int:
    """The number of references to the base of the array `container[key]`, and one more."""
    return getrefcount(*(container[key].base,))


def _variable(array: Array) -> Iterator[None]:
    """A suspended call, whose variable holds the array."""
    yield


_HOLDERS: tuple[Callable[[Any], Any], ...] = (
    lambda array: [array], lambda array: {"array": array}, lambda array: array[:1], lambda array: partial(len, array))


def _measured() -> tuple[int, int]:
    """The counts of an array and of a base with one holder; (-1, -1) if a further holder does not add one."""
    held: list[Any] = [np.empty(2), np.empty(2).reshape(1, 2)]
    alone = count(held, 0), _base_count(held, 1)
    more = alone[0] + 1, alone[1] + 1
    for hold_too in _HOLDERS:
        others = [hold_too(held[0]), hold_too(held[1].base)]
        if (count(held, 0), _base_count(held, 1)) != more:
            return -1, -1
        others.clear()
    running = [_variable(held[0]), _variable(held[1].base)]
    for call in running:
        next(call)
    if (count(held, 0), _base_count(held, 1)) != more:
        return -1, -1
    del call
    running.clear()
    return alone if (count(held, 0), _base_count(held, 1)) == alone else (-1, -1)


HELD_ONCE, _BASE_HELD_ONCE = _measured()


def hold(container: Any, key: Any) -> int:
    """Who holds the array `container[key]` besides the container: `SHARED`, `LENT` or `ALONE`."""
    if isinstance(container[key], np.generic):           # a number, which a rule made from 0-d arrays, can be kept
        return LENT
    if count(container, key) != HELD_ONCE:
        return SHARED
    if type(container[key]) is not np.ndarray:           # such as a sparse array
        return LENT
    return ALONE if _memory_alone(container, key) else LENT


# SHARED: another variable holds the array. LENT: no other variable does, but the array cannot be kept, because its
# memory is shared, or it is not writable and row-major. ALONE: the array can be kept.
SHARED, LENT, ALONE = range(3)


def _memory_alone(container: Any, key: Any) -> bool:
    array = container[key]
    if not array.flags.carray:
        return False
    if array.base is None:
        return bool(array.flags.owndata)
    return (type(array.base) is np.ndarray and array.base.size == array.size
            and _base_count(container, key) == _BASE_HELD_ONCE)
