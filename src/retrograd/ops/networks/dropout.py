"""Dropout as one node. The mask is the second result."""

from __future__ import annotations

import numpy as np

from ...kernels.networks import dropout as kernels
from ..choosing import choose
from ..framework import operator

native_dropout = operator("native_dropout", kernels.native_dropout, outputs="out mask", differentiable="out", tensors=1,
                          x=lambda g, mask, scale: np.positive(g) if scale is None else choose(mask, g * scale, 0.0))

# The factors and the summands of alpha dropout, for kept and for dropped elements.
affine = operator("affine", kernels.affine, outputs="slope shift", tensors=1, layout="kept")
