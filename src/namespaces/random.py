"""torch.random: the functions that set and keep the state of random numbers. All of them but `fork_rng` are also in
`torch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .accelerator import get_device_module
from .foundations.names import missing
from .tensors.arguments.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
    stream_restored,
    thread_safe_generator,
)

__all__ = ["Generator", "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state", "thread_safe_generator"]


@contextmanager
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True, _caller: str = "fork_rng",
             _devices_kw: str = "devices", device_type: str | None = None) -> Iterator[None]:
    """A context manager that restores the position in the default stream at its end.

    `devices` are other devices whose streams are restored, of the kind `device_type`. There are none, so a device in
    `devices` raises PyTorch's error.

    >>> import retrograd as torch
    >>> generator = torch.manual_seed(0)
    >>> with torch.random.fork_rng(devices=[]):
    ...     inside = torch.rand(2)
    >>> torch.equal(torch.rand(2), inside)
    True

    Raises RuntimeError for a kind of device that does not exist.
    """
    if device_type == "meta":
        yield
        return
    module = get_device_module(device_type or "cuda")
    with stream_restored(enabled):
        if enabled:
            for device in range(module.device_count()) if devices is None else devices:
                module.get_rng_state(device)
        yield


if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
