"""Arrays put together in new ones: blocks on a diagonal. Must not know ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def blocks(shapes: Sequence[Shape]) -> list[tuple[int, int, int, int]]:
    """The first row, the last, the first column and the last of the blocks that arrays of these shapes become.

    The last ones are not in it. A vector is a row.
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
