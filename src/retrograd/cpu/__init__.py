"""torch.cpu: the questions that programs ask about any kind of device, answered for the CPU."""

from typing import TYPE_CHECKING

from ..names import missing

if TYPE_CHECKING:
    from . import amp as amp                             # imported when a program first names the module

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on the CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use: yes."""
    return True


def device_count() -> int:
    """The number of CPUs: one, with any number of cores."""
    return 1


def current_device() -> str:
    """The current device: "cpu"."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for running work. All work is done already."""


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=["amp"])
