"""torch.backends.mps: Apple's GPUs, which retrograd cannot use."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Whether tensors can be on Apple's GPU: no."""
    return False


def is_built() -> bool:
    """Whether this build supports Apple's GPUs: no."""
    return False
