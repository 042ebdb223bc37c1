"""The functions that make a network bend."""

from __future__ import annotations

import numpy as np

from ..kernels import elementary as kernels
from .domains import promoted
from .framework import pointwise

relu = pointwise("relu", kernels.relu, x=lambda g, out: np.where(out <= 0, 0.0, g), domain=promoted(
    b=RuntimeError("Boolean inputs not supported for relu"), c="clamp is not supported for complex types"))
sigmoid = pointwise("sigmoid", kernels.sigmoid, domain="float", x=lambda g, out: g * (out * (1 - out)))
