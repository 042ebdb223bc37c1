"""The choice between two values by a condition, for rules: without branches where they are arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.elementwise import choosing as kernels


def choose(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, y elsewhere. Tensors, and whatever else stands behind an array, record a where."""
    if type(condition) is np.ndarray:
        return kernels.where(condition, x, y)
    return np.where(condition, x, y)
