"""torch.accelerator, for programs that can run without a GPU: there is none."""

from typing import TYPE_CHECKING, Any

from .foundations.devices import device, device as _device
from .foundations.errors import noted
from .foundations.names import missing, reached

__all__ = ["current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count",
           "device_index", "empty_cache", "empty_host_cache", "get_device_capability", "get_memory_info",
           "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
           "memory_reserved", "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
           "set_device_idx", "set_device_index", "set_stream", "synchronize"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


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
    return noted(
        RuntimeError("Cannot access accelerator device when none is available."),
        instead="guard the call with torch.accelerator.is_available()")


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
    if kind not in ("cpu", "cuda", "mps", "mtia", "xpu"):
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return reached(kind)


def current_device_idx() -> int:
    """The old name of `current_device_index`."""
    raise _refused()


def current_stream(device: Any = None, /) -> Any:
    """The queue of work of a device. Raises RuntimeError, as there is none."""
    raise _refused()


def set_stream(stream: Any) -> None:
    """Choose a queue of work. Raises RuntimeError, as there is no device."""
    raise _refused()


def set_device_index(device: Any, /) -> None:
    """Choose a device by its number. Raises RuntimeError, as there is none."""
    raise _refused()


def set_device_idx(device: Any, /) -> None:
    """The old name of `set_device_index`."""
    raise _refused()


class device_index:
    """A context with another current device. With None it changes nothing; otherwise it raises RuntimeError."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise _refused()

    def __exit__(self, *exc_info: object) -> None:
        pass


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """What a device can do. Raises RuntimeError, as there is none."""
    raise _refused()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The free and the whole memory of a device. Raises RuntimeError, as there is none."""
    raise _refused()


def memory_reserved(device_index: Any = None, /) -> int:
    """Bytes that are set aside for tensors. Raises RuntimeError, as there is no device."""
    raise _refused()


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that tensors held at once. Raises RuntimeError, as there is no device."""
    raise _refused()


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that were set aside at once. Raises RuntimeError, as there is no device."""
    raise _refused()


def memory_stats(device_index: Any = None, /) -> Any:
    """Counts about the memory of a device. Raises RuntimeError, as there is none."""
    raise _refused()


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Begin the count of the most bytes anew. Raises RuntimeError, as there is no device."""
    raise _refused()


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Begin the counts anew. Raises RuntimeError, as there is no device."""
    raise _refused()


def empty_host_cache() -> None:
    """Free memory for copies to a device. Raises RuntimeError, as there is no device."""
    raise _refused()
