"""torch.linalg: matrices and vectors. A namespace only: what computes is in `tensor.functions`."""

from __future__ import annotations

from ..tensor.functions.matrix import matmul
from ..tensor.functions.rearranging import diagonal

__all__ = ["diagonal", "matmul"]
