"""Cotangents of passes that cross batches: a cotangent may be the same for all samples where what it meets is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state.base import plain


def levels_of(cotangent: Any) -> set[Any]:
    """The levels whose hidden axes a cotangent has."""
    return {*getattr(getattr(cotangent, "_array", None), "levels", ())}


def of_all_levels(cotangent: Any, other: Any, walk: Any) -> Any:
    """The cotangent itself, or as a batch that can hold `other`, if `other` has levels that the cotangent has not."""
    if levels_of(other) <= levels_of(cotangent):
        return cotangent
    return walk.zeros(other, cotangent.shape, cotangent._array.dtype) + cotangent


def shared_zeros(beside: Any, edge: Any, walk: Any) -> Any:
    """Zeros for an edge. They are no batch, because the value at the edge need not be one."""
    if levels_of(beside):
        return plain(np.zeros(edge.shape, edge.dtype))
    return walk.zeros(beside, edge.shape, edge.dtype)
