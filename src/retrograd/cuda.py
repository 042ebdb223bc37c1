"""torch.cuda, for programs that can do without: is there a GPU, how many, and the calls that do nothing without one.

retrograd computes on the CPU, so the answers are those of a PyTorch without CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import missing

__all__ = ["current_device", "device_count", "empty_cache", "get_device_name", "get_device_properties",
           "get_rng_state_all", "is_available", "is_bf16_supported", "is_initialized", "manual_seed",
           "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
           "seed", "seed_all", "set_device", "set_rng_state_all", "synchronize"]


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


def set_device(device: object) -> None:
    """Choose the GPU in use. Raises AssertionError, as there is none."""
    raise _refused()


def get_device_name(device: object = None) -> str:
    """What a GPU is called. Raises AssertionError, as there is none."""
    raise _refused()


def get_device_properties(device: object = None) -> object:
    """What a GPU can do. Raises AssertionError, as there is none."""
    raise _refused()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether GPUs here compute in bfloat16: there are none."""
    return False


def synchronize(device: object = None) -> None:
    """Wait for a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def memory_allocated(device: object = None) -> int:
    """Bytes that tensors hold on a GPU."""
    return 0


def max_memory_allocated(device: object = None) -> int:
    """The most bytes that tensors held on a GPU."""
    return 0


def memory_reserved(device: object = None) -> int:
    """Bytes that were taken on a GPU."""
    return 0


def max_memory_reserved(device: object = None) -> int:
    """The most bytes that were taken on a GPU."""
    return 0


def empty_cache() -> None:
    """Give unused GPU memory back: there is none."""


def manual_seed(seed: int) -> None:
    """Seed the generator of a GPU: does nothing without one."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs: does nothing without any."""


def seed() -> None:
    """Seed the generator of a GPU with a number of its own: does nothing without one."""


def seed_all() -> None:
    """Seed the generators of all GPUs so: does nothing without any."""


def get_rng_state_all() -> list[object]:
    """The states of the generators of all GPUs: there are none."""
    return []


def set_rng_state_all(new_states: object) -> None:
    """Set the states of the generators of all GPUs: does nothing without any."""


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
