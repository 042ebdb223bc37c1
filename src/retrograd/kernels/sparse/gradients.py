"""Gradients of dense arrays that store only what was taken from these arrays."""

from __future__ import annotations

import numpy as np

from ...foundations.dtypes import Array
from .arrays import Coo


def rows(g: Array, index: Array, shape: tuple[int, ...], padding: int) -> Coo:
    """An array of `shape` with the rows of `g` at the rows that `index` names, but for the row `padding`."""
    index, values = index.reshape(-1), g.reshape(index.size, *shape[1:])
    if padding >= 0:
        kept = index != padding
        index, values = index[kept], values[kept]
    return Coo(index[None], values, shape)


def elements(g: Array, index: Array, shape: tuple[int, ...], dim: int) -> Coo:
    """An array of `shape` with the elements of `g` where `gather` along `dim` took them."""
    if not g.ndim:
        return Coo(np.zeros((0, 1), np.int64), g.reshape(1), shape, True)
    at = np.indices(index.shape).reshape(index.ndim, -1)
    at[dim] = index.reshape(-1)
    return Coo(at, np.ascontiguousarray(g).reshape(-1), shape)
