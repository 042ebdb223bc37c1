"""The order in which values are added to the rows of a table in rounds: first one value for each row, then another.

Within a round no row occurs twice, so that each round is one addition of arrays. Each row still receives its values in
their order.
"""

from __future__ import annotations

import numpy as np

from ...foundations.dtypes import Array


class Rounds:
    """The rounds for a list of row numbers, `rows[i]` for value i, and their counts.

    `order` lists the values, round after round. A round adds `order[first:last]` for each pair of `bounds`. The rows
    of the table are sorted by how often they occur: row i of the sorted table is row `by_count[i]`, and the rows of
    each round come first. Row i of the table is row `sorted_place[i]` of the sorted table.
    """

    __slots__ = ("bounds", "by_count", "order", "rows", "sorted_place")

    def __init__(self, rows: Array, counts: Array) -> None:
        height = len(counts)
        within = np.argsort(rows.astype(np.uint16) if height <= 1 << 16 else rows, kind="stable")
        self.rows = rows.copy()
        self.by_count = np.argsort(-counts, kind="stable")
        self.sorted_place = np.empty(height, np.intp)
        self.sorted_place[self.by_count] = np.arange(height)
        starts, falling = (np.cumsum(counts) - counts)[self.by_count], -counts[self.by_count]
        reached = np.searchsorted(falling, -np.arange(-int(falling[0])), side="left")
        ends = np.cumsum(reached)
        self.bounds = list(zip((ends - reached).tolist(), ends.tolist()))
        self.order = within.take(np.concatenate([starts[:count] + k for k, count in enumerate(reached.tolist())]))

    def fit(self, rows: Array, height: int) -> bool:
        """Whether these are the rounds for such row numbers of a table of so many rows."""
        return len(self.by_count) == height and np.array_equal(self.rows, rows)
