"""torch.cuda.nvtx: marks for the profiler of graphics cards. There is none, as in a PyTorch without CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _refused() -> RuntimeError:
    return RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def range_push(msg: str) -> int:
    """Begin a range. Raises RuntimeError, as does every function of this module."""
    raise _refused()


def range_pop() -> int:
    """End a range."""
    raise _refused()


def range_start(msg: str) -> int:
    """Begin a range that may end in another thread."""
    raise _refused()


def range_end(range_id: int) -> None:
    """End a range that `range_start` began."""
    raise _refused()


def mark(msg: str) -> None:
    """Note an event."""
    raise _refused()


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range for a block, or for each call of a function. Raises RuntimeError when it begins."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
