"""torch.backends.mkl: Intel's library of matrix products, which retrograd does not use."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether kernels use the library: no, they use NumPy."""
    return False
