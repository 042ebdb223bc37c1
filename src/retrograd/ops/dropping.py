"""Dropout that is one node, with the mask for a second result."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import dropping as kernels
from .framework import operator


def _kept(g: Any, mask: Any, scale: Any) -> Any:
    return g if scale is None else np.where(mask, g * scale, np.zeros_like(g))


native_dropout = operator("native_dropout", kernels.native_dropout, outputs="out mask", differentiable="out", tensors=1,
                          x=_kept)
