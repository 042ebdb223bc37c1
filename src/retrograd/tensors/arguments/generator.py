"""`torch.Generator` and the default generator. A seed gives the same numbers as in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from ...foundations.devices import DeviceLike, checked, device as Device
from ...foundations.errors import kind_of
from ...foundations.sealed import Sealed
from ...kernels.random.twister import DEFAULT_SEED, Twister
from ..state.base import TensorBase, plain


class Generator(metaclass=Sealed, package="torch._C", open=True):
    """A separate stream of random numbers.

    >>> import retrograd as torch
    >>> torch.Generator().manual_seed(7).initial_seed()
    7
    """

    __module__ = "retrograd"                                 # the module under which programs know the class
    __slots__ = ("__weakref__", "twister")

    def __init__(self, device: DeviceLike | None = None) -> None:
        if device is not None and (not isinstance(device, (str, int, Device)) or isinstance(device, bool)):
            raise TypeError(f"Generator(): argument 'device' (position 1) must be torch.device, not {kind_of(device)}")
        checked(device)
        self.twister = Twister(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """The device that draws the numbers: the CPU."""
        return Device("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from a seed, and return the generator itself."""
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise RuntimeError(f"manual_seed expected a long, but got {kind_of(seed)}")
        self.twister.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Restart the stream from a seed that the operating system gives, and return that seed."""
        return self.twister.seed()

    def initial_seed(self) -> int:
        """The seed from which the stream was last started."""
        return self.twister.initial_seed()

    def get_state(self) -> TensorBase:
        """The position in the stream, as a tensor of bytes that PyTorch can read too."""
        state: TensorBase = plain(self.twister.get_state())
        return state

    def set_state(self, new_state: TensorBase) -> Generator:
        """Go to a position that `get_state` returned. Returns the generator. Raises TypeError or RuntimeError for any
        other value.
        """
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {kind_of(new_state)}")
        if new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self.twister.set_state(new_state._array)
        return self

    def clone_state(self) -> Generator:
        """Another generator at the same position."""
        other = Generator()
        other.twister = self.twister.clone()
        return other

    def get_offset(self) -> NoReturn:
        """Raises RuntimeError: only generators of other devices count in such a way."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> NoReturn:
        """Raises RuntimeError: only generators of other devices count in such a way."""
        raise RuntimeError("CPU Generator does not use offset")

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, None, TensorBase]) -> None:
        self.set_state(state[2])


# A program that sets no seed draws other numbers each time it runs. Another generator starts at a seed of its own.
default_generator = Generator()
default_generator.seed()


def twister_of(name: str, generator: Generator | None) -> Twister:
    """The stream to draw from: the generator's, or the default stream for None."""
    if generator is None:
        return default_generator.twister
    if not isinstance(generator, Generator):
        raise TypeError(f"{name}() received an invalid combination of arguments - argument 'generator' must be "
                        f"torch.Generator, not {kind_of(generator)}")
    return generator.twister


def manual_seed(seed: Any) -> Generator:
    """Restart the default stream from a seed. `rand` and the rest then draw the numbers that PyTorch draws."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the default stream from a seed that the operating system gives, and return that seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed from which the default stream was last started."""
    return default_generator.initial_seed()


def get_rng_state() -> TensorBase:
    """The position in the default stream."""
    return default_generator.get_state()


def set_rng_state(new_state: TensorBase) -> None:
    """Go to a position in the default stream that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextmanager
def stream_restored(enabled: bool = True) -> Iterator[None]:
    """A context manager that restores the position in the default stream at its end."""
    state = default_generator.twister.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.twister.set_state(state)


def thread_safe_generator() -> Generator | None:
    """The generator of a worker that is a thread: None, because the workers of a DataLoader are processes.

    None stands for the usual generator in a call, such as `torch.rand(2, generator=None)`.
    """
    return None
