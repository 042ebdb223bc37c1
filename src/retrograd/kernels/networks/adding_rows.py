"""Add rows to the rows of a table that an index selects, even if an index occurs several times."""

from __future__ import annotations

import numpy as np

from ...foundations.dtypes import Array
from ..native.served import served
from ..thresholds import ADDED_ROWS_BLOCK, ADDED_ROWS_SERVED
from .rounds import Rounds

_PAIRED = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128}


def add_rows(table: Array, rows: Array, values: Array) -> None:
    """Add row i of `values` to row `rows[i]` of `table`, in order.

    On large arrays machine code adds, if there is any. Otherwise, if wide rows occur about equally often, they are
    added in rounds. Else `np.add.at` adds single elements, a block at a time, because it is fast only in one dimension.
    Two neighboring elements of a row are added as one complex number, which gives the same sum.
    """
    if not values.size:
        return
    values = np.ascontiguousarray(values, table.dtype)
    if values.size >= ADDED_ROWS_SERVED and table.shape[1] > 3 and served(add_rows, table, rows, values) is not None:
        return
    if table.shape[1] >= 32 and values.size >= ADDED_ROWS_BLOCK and 4 * len(table) <= len(rows):
        counts = np.bincount(rows, minlength=len(table))
        if int(counts.max()) <= values.size // 8000:         # a round costs some microseconds, even for few rows
            _add_in_rounds(table, rows, values, counts)
            return
    if table.shape[1] % 2 == 0 and table.dtype in _PAIRED:
        table, values = table.view(_PAIRED[table.dtype]), values.view(_PAIRED[table.dtype])
    width = table.shape[1]
    flat = table.reshape(-1)
    if width == 1:
        np.add.at(flat, rows, values.reshape(-1))
        return
    height = max(ADDED_ROWS_BLOCK // width, 1)
    columns, places = np.arange(width), np.empty((min(height, len(rows)), width), np.int64)
    for start in range(0, len(rows), height):
        block = values[start:start + height]
        thread = places[:len(block)]
        np.add((rows[start:start + height] * width)[:, None], columns, out=thread)
        np.add.at(flat, thread.reshape(-1), block.reshape(-1))


def add_chosen_rows(table: Array, rows: Array, values: Array, chosen: Array) -> None:
    """Add row `chosen[i]` of `values` to row `rows[i]` of `table`, in order."""
    if not chosen_rows_added(table, rows, values, chosen):
        add_rows(table, rows, values.take(chosen, 0, mode="clip"))


def chosen_rows_added(table: Array, rows: Array, values: Array, chosen: Array) -> bool:
    """Add as `add_chosen_rows` by machine code, without a copy of the rows, if there is any. Returns whether it did."""
    if len(rows) * table.shape[1] < ADDED_ROWS_SERVED or table.shape[1] < 4 or values.dtype is not table.dtype:
        return False
    rows, values, chosen = map(np.ascontiguousarray, (rows, values, chosen))
    return served(chosen_rows_added, table, rows, values, chosen) is not None


def _add_in_rounds(table: Array, rows: Array, values: Array, counts: Array) -> None:
    """`add_rows` in rounds."""
    rounds = Rounds(rows, counts)
    sums = table.take(rounds.by_count, 0)
    part = np.empty_like(sums)
    for first, last in rounds.bounds:
        reached = last - first
        values.take(rounds.order[first:last], 0, out=part[:reached], mode="clip")
        np.add(sums[:reached], part[:reached], out=sums[:reached])
    table[rounds.by_count] = sums
