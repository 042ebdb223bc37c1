"""The functions that make a network bend."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.elementwise import elementary as kernels
from ..domains import promoted
from ..framework import Op, elementwise, operator


def _nothing(g: Any, result: Any) -> Any:
    """Which side of the kink something lies on changes nowhere."""
    return np.zeros_like(result)


threshold_backward: Op = operator("threshold_backward", kernels.threshold_backward, tensors=2,
                                  g=lambda g, result: threshold_backward(g, result), result=_nothing)
relu = elementwise("relu", kernels.relu, x=lambda g, out: threshold_backward(g, out), domain=promoted(
    b=RuntimeError("Boolean inputs not supported for relu"), c="clamp is not supported for complex types"))
sigmoid = elementwise("sigmoid", kernels.sigmoid, domain="float", x=lambda g, out: g * (out * (1 - out)))
