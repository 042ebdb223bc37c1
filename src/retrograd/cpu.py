"""torch.cpu: the questions that programs ask of any kind of device, answered for the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import missing

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on the CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether it is in use: yes."""
    return True


def device_count() -> int:
    """How many of them there are: one, whatever its cores."""
    return 1


def current_device() -> str:
    """The one in use: "cpu"."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for what was begun: it is done already."""


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
