"""The exponential of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.linalg import matrix_exponential as kernels
from ..framework import Op, operator
from ..shape import transpose


def _derivative(g: Any, x: Any) -> Any:
    """The derivative at the transposed matrix in the direction g: a block of the exponential of [[x', g], [0, x']]."""
    n = x.shape[-1]
    across = transpose(x, -1, -2)
    above = np.concatenate([across, g], axis=-1)
    below = np.concatenate([np.zeros_like(across), across], axis=-1)
    return matrix_exp(np.concatenate([above, below], axis=-2))[..., :n, n:]


matrix_exp: Op = operator("linalg_matrix_exp", kernels.matrix_exp, x=_derivative)
