"""Elements that a large index picks along a dim, by machine code, if there is any.

The index has the sizes of the array along all dims but `dim`. The functions return None if NumPy is to compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..native.served import served
from ..thresholds import PICKED


def picked(x: Array, index: Array, dim: int) -> Any:
    """The elements at place `index` along `dim`."""
    return served(picked, x, index, dim) if _fits(x, index, dim) else None


def added(out: Array, index: Array, dim: int, values: Array) -> Any:
    """Add values to the elements at place `index` along `dim`. Returns something else than None if this was done."""
    if not _fits(out, index, dim) or values.dtype is not out.dtype or np.may_share_memory(out, values):
        return None
    return served(added, out, index, dim, np.ascontiguousarray(values))


def _fits(x: Array, index: Array, dim: int) -> bool:
    return index.size >= PICKED and (
        index.shape[:dim] == x.shape[:dim] and index.shape[dim + 1:] == x.shape[dim + 1:])
