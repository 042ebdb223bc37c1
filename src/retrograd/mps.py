"""torch.mps, for programs that can do without Apple's GPU: there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import missing

__all__ = ["device_count", "is_available", "manual_seed"]


def is_available() -> bool:
    """Whether tensors can be on Apple's GPU: not here."""
    return False


def device_count() -> int:
    """How many of them tensors can be on."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of Apple's GPU: does nothing without one."""


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
