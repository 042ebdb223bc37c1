"""Dropout that is one node, with the mask for a second result."""

from __future__ import annotations

from typing import Any

from ...kernels.networks import dropout as kernels
from ..choosing import choose
from ..framework import operator


def _kept(g: Any, mask: Any, scale: Any) -> Any:
    return g if scale is None else choose(mask, g * scale, 0.0)


native_dropout = operator("native_dropout", kernels.native_dropout, outputs="out mask", differentiable="out", tensors=1,
                          x=_kept)

# What is multiplied and added where alpha dropout keeps and drops.
affine = operator("affine", kernels.affine, outputs="slope shift", tensors=1, layout="kept")
