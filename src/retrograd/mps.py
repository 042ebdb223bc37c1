"""torch.mps, for programs that can run without Apple's GPU: there is none."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "manual_seed"]


def is_available() -> bool:
    """Whether tensors can be on Apple's GPU: no."""
    return False


def device_count() -> int:
    """The number of Apple's GPUs that tensors can be on."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of Apple's GPU. Does nothing, as there is none."""
