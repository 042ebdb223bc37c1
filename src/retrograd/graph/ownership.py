"""Whether one variable alone holds an array, so that the array may be kept instead of copied.

Reference counts tell. The count of an array that is held once differs between versions of Python, so the import
measures the count on such an array, by the same call.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def _count(array: Any) -> int:
    return sys.getrefcount(array)


def _base_count(array: Any) -> int:
    return sys.getrefcount(array.base)


def _held_once() -> int:
    array = np.empty(0)
    return _count(array)


def _base_held_once() -> int:
    view = np.empty(2).reshape(1, 2)
    return _base_count(view)


_HELD_ONCE, _BASE_HELD_ONCE = _held_once(), _base_held_once()


def hold(array: Any) -> int:
    """Who holds an array besides the caller's one local variable: `SHARED`, `LENT` or `ALONE`."""
    if type(array) is not np.ndarray:                    # a number, which a rule made from 0-d arrays, can be kept
        return LENT if isinstance(array, np.generic) else SHARED
    if _count(array) > _HELD_ONCE + 1:
        return SHARED
    return ALONE if _memory_alone(array) else LENT


# SHARED: another variable holds the array. LENT: no other variable does, but the array cannot be kept, because its
# memory is shared, or it is not writable and row-major. ALONE: the array can be kept.
SHARED, LENT, ALONE = range(3)


def _memory_alone(array: Any) -> bool:
    if not array.flags.carray:
        return False
    base = array.base
    if base is None:
        return bool(array.flags.owndata)
    del base
    return type(array.base) is np.ndarray and array.base.size == array.size and _base_count(array) <= _BASE_HELD_ONCE
