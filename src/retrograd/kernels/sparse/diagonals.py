"""Sparse matrices of diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from .arrays import Coo
from .compressed import from_coo


def matrix(x: Array, offsets: Array, shape: tuple[int, int], by_rows: bool | None) -> Any:
    """A matrix with a row of `x` on each diagonal: by coordinates, or with compressed rows or columns.

    An element of `x` goes to the column that it has in `x`.
    """
    rows = np.atleast_2d(x)
    columns = [np.arange(max(offset, 0), max(0, min(shape[1], shape[0] + offset, rows.shape[1])))
               for offset in offsets.tolist()]
    lengths = [len(column) for column in columns]
    place, across = np.repeat(np.arange(len(rows)), lengths), np.concatenate([np.zeros(0, np.int64), *columns])
    found = Coo(np.stack([across - offsets[place], across]), rows[place, across], shape)
    return found if by_rows is None else from_coo(found, by_rows)
