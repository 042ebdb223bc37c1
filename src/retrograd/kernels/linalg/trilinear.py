"""Sums of products of three: two batches of vectors and a stack of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np


def trilinear(x: Any, weight: Any, y: Any) -> Any:
    """The sums over i and j of weight[o, i, j] x[n, i] y[n, j]: (N, O), for x (N, I), weight (O, I, J) and y (N, J)."""
    out, first, second = weight.shape
    rows = x.dot(weight.transpose(1, 0, 2).reshape(first, out * second)).reshape(len(x), out, second)
    return np.matmul(rows, y[:, :, None])[:, :, 0]
