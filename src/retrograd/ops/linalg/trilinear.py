"""Sums of products of three factors. The derivative by a factor is again such a sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.linalg import matrix as kernels
from ..framework import Op, operator
from ..shape import t
from .matrix import mm


def _weight(g: Any, x: Any, y: Any, weight_shape: Any) -> Any:
    pairs = np.expand_dims(x, 2) * np.expand_dims(y, 1)
    return np.reshape(mm(t(g), np.reshape(pairs, (x.shape[0], x.shape[1] * y.shape[1]))), weight_shape)


trilinear: Op = operator("trilinear", kernels.trilinear, tensors=3,
                         x=lambda g, weight, y: trilinear(g, np.transpose(weight, (1, 0, 2)), y),
                         weight=_weight,
                         y=lambda g, x, weight: trilinear(g, np.transpose(weight, (2, 0, 1)), x))
