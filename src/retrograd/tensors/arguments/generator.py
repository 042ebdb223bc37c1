"""`torch.Generator`, and the one that is used where none is given. PyTorch's numbers for PyTorch's seeds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...devices import checked, device as Device
from ...kernels.random.twister import DEFAULT_SEED, Twister
from ...names import missing
from ..state.base import TensorBase, plain


class Generator:
    """A stream of random numbers of its own.

    >>> Generator().manual_seed(7).initial_seed()
    7
    """

    __module__ = "retrograd"                                 # where programs know it from
    __slots__ = ("twister",)

    def __init__(self, device: Any = "cpu") -> None:
        checked(device)
        self.twister = Twister(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        """Where the numbers are drawn."""
        return Device("cpu")

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream from a seed, and return the generator itself."""
        if not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        self.twister.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Restart the stream from a seed of the operating system's, and return that seed."""
        return self.twister.seed()

    def initial_seed(self) -> int:
        """The seed that the stream was last started from."""
        return self.twister.initial_seed()

    def get_state(self) -> TensorBase:
        """The position in the stream, as a tensor of bytes that PyTorch understands too."""
        state: TensorBase = plain(self.twister.get_state())
        return state

    def set_state(self, new_state: TensorBase) -> None:
        """Go to a position that `get_state` gave. Raises TypeError or RuntimeError for what is none."""
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self.twister.set_state(new_state._array)

    def clone_state(self) -> Generator:
        """Another generator at the same position."""
        other = Generator()
        other.twister = self.twister.clone()
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.twister.get_state(),)


def _restored(state: Any) -> Generator:
    generator = Generator()
    generator.twister.set_state(state)
    return generator


default_generator = Generator()


def twister_of(name: str, generator: Any) -> Twister:
    """The stream to draw from: a generator's, or the default one for None."""
    if generator is None:
        return default_generator.twister
    if not isinstance(generator, Generator):
        raise TypeError(f"{name}() received an invalid combination of arguments - argument 'generator' must be "
                        f"torch.Generator, not {type(generator).__name__}")
    return generator.twister


def manual_seed(seed: Any) -> Generator:
    """Restart the default stream from a seed: `rand` and the rest then draw what PyTorch draws after this seed."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Restart the default stream from a seed of the operating system's, and return that seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default stream was last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> TensorBase:
    """The position in the default stream."""
    return default_generator.get_state()


def set_rng_state(new_state: TensorBase) -> None:
    """Go to a position in the default stream that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Within a `with` statement, draw from the default stream as one likes: afterwards it is where it was before."""
    state = default_generator.twister.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.twister.set_state(state)


_NAMES = ("fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state")

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, _NAMES, shown="torch.random")
