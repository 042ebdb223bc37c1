"""torch.backends.mps: Apple's GPUs, of which none can be used here."""

from __future__ import annotations

__all__ = ["is_available", "is_built"]


def is_available() -> bool:
    """Whether tensors can be on Apple's GPU: no."""
    return False


def is_built() -> bool:
    """Whether such GPUs were provided for: no."""
    return False
