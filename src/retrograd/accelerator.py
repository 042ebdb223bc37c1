"""torch.accelerator, for programs that can run without a GPU: there is none."""

import sys
from typing import Any

from .devices import device, device as _device
from .names import PACKAGE

__all__ = ["current_accelerator", "current_device_index", "device_count", "empty_cache", "is_available",
           "memory_allocated", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on a device other than the CPU: no.

    >>> is_available()
    False
    """
    return False


def device_count() -> int:
    """The number of devices other than the CPU that tensors can be on."""
    return 0


def current_accelerator(check_available: bool = False) -> device | None:
    """The current device: None, so that programs fall back to the CPU."""
    return None


def _refused() -> RuntimeError:
    return RuntimeError("Cannot access accelerator device when none is available. Guard the call with "
                        "torch.accelerator.is_available().")


def current_device_index() -> int:
    """The number of the current device. Raises RuntimeError, as there is none."""
    raise _refused()


def synchronize(device: object = None, /) -> None:
    """Wait for a device. Raises RuntimeError, as there is none."""
    raise _refused()


def memory_allocated(device_index: object = None, /) -> int:
    """Bytes that tensors hold on a device."""
    return 0


def empty_cache() -> None:
    """Free unused memory of a device. There is none."""


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device, such as `torch.cuda`; without a device, `torch.cpu`.

    Raises RuntimeError if there is no such module.
    """
    kind = _device("cpu" if device is None else device).type
    module: Any = sys.modules.get(f"{PACKAGE}.{kind}")
    if module is None:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return module
