"""torch.xpu, for programs that can do without Intel's GPU: there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import missing

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    """Whether tensors can be on Intel's GPU: not here."""
    return False


def device_count() -> int:
    """How many of them tensors can be on."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of Intel's GPU: does nothing without one."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all of them: does nothing without any."""


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
