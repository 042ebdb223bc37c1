"""torch.backends.openmp: the compiler's threads, which retrograd does not use."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether kernels use these threads: no, they use NumPy."""
    return False
