"""torch.backends.openmp: threads of the compiler's, which is not used here."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether kernels use it: no, they are NumPy's."""
    return False
