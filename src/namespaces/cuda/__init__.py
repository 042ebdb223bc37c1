"""torch.cuda, for programs that can run without a GPU: the questions about GPUs, and calls that do nothing.

retrograd computes on the CPU, so the answers are those of a PyTorch without CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..accelerator import device_count, empty_cache, is_available
from ..foundations.errors import OutOfMemoryError, noted as _noted
from ..foundations.names import inside, late

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from . import amp as amp, random as random           # imported when a program first names the module

__all__ = ["Event", "OutOfMemoryError", "Stream", "current_device", "device_count", "empty_cache", "get_device_name",
           "get_device_properties", "get_rng_state", "get_rng_state_all", "initial_seed", "is_available",
           "is_bf16_supported", "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
           "max_memory_reserved", "memory_allocated", "memory_reserved", "seed", "seed_all", "set_device",
           "set_rng_state", "set_rng_state_all", "synchronize"]

_initialized = False
_FACTS = {"because": "retrograd computes on the CPU", "instead": "call it only if torch.cuda.is_available()"}


class Stream:
    """A queue of work on a GPU. Programs name the class in annotations; it has no instances."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Raise RuntimeError, as there is no GPU."""
        raise _noted(RuntimeError("torch.cuda.Stream requires CUDA support"), **_FACTS)


class Event:
    """A point in a queue of work on a GPU. Programs name the class in annotations; it has no instances."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Raise RuntimeError, as there is no GPU."""
        raise _noted(RuntimeError("Tried to instantiate dummy base class Event"), **_FACTS)


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def _refused() -> AssertionError:
    return _noted(AssertionError("Torch not compiled with CUDA enabled"), **_FACTS)


def _lazy_init() -> None:
    raise _refused()


def _lazy_call(callable: Callable[[], object], **kwargs: object) -> None:
    """Call a function when the first GPU is used: never."""


def current_device() -> int:
    """The current GPU. Raises AssertionError, as there is none."""
    raise _refused()


def set_device(device: object) -> None:
    """Choose the current GPU. Raises AssertionError, as there is none."""
    raise _refused()


def get_device_name(device: object = None) -> str:
    """The name of a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def get_device_properties(device: object = None) -> object:
    """The properties of a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPUs compute in bfloat16: there are none."""
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
    """Bytes that are reserved on a GPU."""
    return 0


def max_memory_reserved(device: object = None) -> int:
    """The most bytes that were reserved on a GPU."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of a GPU. Does nothing, as there is none."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs. Does nothing, as there are none."""


def seed() -> None:
    """Seed the generator of a GPU with a random number. Does nothing, as there is none."""


def seed_all() -> None:
    """Seed the generators of all GPUs with a random number. Does nothing, as there are none."""


def get_rng_state(device: object = "cuda") -> object:
    """The state of the generator of a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def set_rng_state(new_state: object, device: object = "cuda") -> None:
    """Set the state of the generator of a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def initial_seed() -> int:
    """The seed of the generator of a GPU. Raises AssertionError, as there is none."""
    raise _refused()


def get_rng_state_all() -> list[object]:
    """The states of the generators of all GPUs: an empty list, since there are no GPUs."""
    return []


def set_rng_state_all(new_states: object) -> None:
    """Set the states of the generators of all GPUs. Does nothing, as there are none."""


if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "amp nvtx random"}, __name__))
