"""torch.xpu, for programs that can run without Intel's GPU: there is none."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Whether tensors can be on Intel's GPU: no."""
    return False


def device_count() -> int:
    """The number of Intel's GPUs that tensors can be on."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of Intel's GPU. Does nothing, as there is none."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all of Intel's GPUs. Does nothing, as there are none."""
