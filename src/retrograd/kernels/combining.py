"""New arrays that combine others: blocks on a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def blocks(shapes: Sequence[Shape]) -> list[tuple[int, int, int, int]]:
    """The place of each block for arrays of these shapes: its first row, end row, first column and end column.

    The end row and the end column lie just after the block. A vector counts as a row.
    """
    found, row, column = [], 0, 0
    for shape in shapes:
        height, width = (1,) * (2 - len(shape)) + shape
        found.append((row, row + height, column, column + width))
        row, column = row + height, column + width
    return found


def block_diag(xs: Sequence[Any]) -> Any:
    """A matrix with the matrices `xs` one after another on its diagonal, and zeros elsewhere."""
    places = blocks([x.shape for x in xs])
    out = np.zeros((places[-1][1], places[-1][3]), xs[0].dtype)
    for x, (top, bottom, left, right) in zip(xs, places):
        out[top:bottom, left:right] = x
    return out
