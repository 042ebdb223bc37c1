"""torch.backends.nnpack: a library of convolutions, which retrograd does not use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["flags", "is_available", "set_flags"]


def is_available() -> bool:
    """Whether convolutions use the library: no."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the switch. Returns the value before: False. It changes nothing."""
    return (False,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A context with another switch. It changes nothing."""
    yield
