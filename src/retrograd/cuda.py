"""torch.cuda, for programs that can do without: is there a GPU, how many, and the calls that do nothing without one.

retrograd computes on the CPU, so the answers are those of a PyTorch without CUDA.
"""

from __future__ import annotations

__all__ = ["current_device", "device_count", "empty_cache", "is_available", "is_initialized", "manual_seed",
           "manual_seed_all", "memory_allocated", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on a GPU: not here.

    >>> is_available()
    False
    """
    return False


def device_count() -> int:
    """How many GPUs tensors can be on."""
    return 0


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def _refused() -> AssertionError:
    return AssertionError("Torch not compiled with CUDA enabled: retrograd computes on the CPU. Guard the call with "
                          "torch.cuda.is_available().")


def current_device() -> int:
    """The GPU in use. Raises AssertionError, as there is none."""
    raise _refused()


def synchronize(device: object = None) -> None:
    """Wait for a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def memory_allocated(device: object = None) -> int:
    """Bytes that tensors hold on a GPU."""
    return 0


def empty_cache() -> None:
    """Give unused GPU memory back: there is none."""


def manual_seed(seed: int) -> None:
    """Seed the generator of a GPU: does nothing without one."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs: does nothing without any."""
