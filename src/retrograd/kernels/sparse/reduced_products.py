"""The product of a matrix with compressed rows and a dense matrix, whose terms are reduced row by row.

The terms of an element of the result are the products with the stored elements of a row. A row without any gives 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array, refuse
from .arrays import Compressed
from .compressed import to_coo
from .products import sparse_times_dense


class Chosen(NamedTuple):
    """For each element of a result, which stored element made it, the column of that element, and whether there is one.

    So the gradient goes to this element alone.
    """

    places: Array
    columns: Array
    found: Array


def mm_reduce(mat1: Compressed, mat2: Array, counts: Array | None, places: Array | None, columns: Array | None,
              found: Array | None) -> Any:
    """The sums of the terms, over `counts` if they are given; or the terms of a `Chosen`, if its parts are given."""
    if mat1.values.size:
        refuse(mat1.dtype, "spmm_reduce_kernel", "biuc")
    if places is not None and columns is not None and found is not None:
        term = mat1.values[places] * np.take_along_axis(mat2, columns, 0)
        return np.where(found, term, _unchosen(mat1, mat2)).astype(mat1.dtype, copy=False)
    total = sparse_times_dense(to_coo(mat1), mat2)
    return total if counts is None else np.divide(total, counts, out=total)


def _unchosen(mat1: Compressed, mat2: Array) -> Any:
    """The results that no term is better than: 0 in a row without terms, else the infinite first term."""
    first = mat1.compressed[:-1]
    full = first < mat1.compressed[1:]
    place = np.where(full, first, 0)
    return np.where(full[:, None], mat1.values[place, None] * mat2[mat1.plain[place]], 0)


def counts_of(mat1: Compressed, dtype: np.dtype[Any]) -> Array:
    """The number of stored elements of each row, at least 1, as a column."""
    return np.maximum(np.diff(mat1.compressed), 1).astype(dtype)[:, None]


def choose_terms(mat1: Compressed, mat2: Array, largest: bool) -> Chosen:
    """The first of the largest or smallest terms of each row, or the last nan. No term is better than an infinity."""
    starts, count = mat1.compressed[:-1], mat1.plain.size
    rows = np.flatnonzero(np.diff(mat1.compressed))
    terms = mat1.values[:, None] * mat2[mat1.plain]
    best = (np.maximum if largest else np.minimum).reduceat(terms, starts[rows], axis=0)
    at = np.arange(count)[:, None]
    owners = np.repeat(np.arange(len(rows)), np.diff(mat1.compressed)[rows])
    first = np.minimum.reduceat(np.where(terms == best[owners], at, count), starts[rows], axis=0)
    last = np.maximum.reduceat(np.where(np.isnan(terms), at, -1), starts[rows], axis=0)
    places = np.zeros((len(starts), mat2.shape[1]), np.int64)
    found = np.zeros(places.shape, bool)
    found[rows] = best != (-np.inf if largest else np.inf)
    places[rows] = np.where(found[rows], np.where(np.isnan(best), last, first), 0)
    return Chosen(places, mat1.plain[places], found)
