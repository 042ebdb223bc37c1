"""torch.multiprocessing: Python's `multiprocessing`, for processes that share the memory of tensors.

A tensor that is an argument of a new process moves into shared memory. Both processes then see each write. A queue
sends shared memory as such. A queue copies the elements of other tensors.
"""

import multiprocessing
from multiprocessing import *

from . import reductions, spawn as _spawn
from .spawn import ProcessContext, ProcessExitedException, ProcessRaisedException, SpawnContext, spawn, start_processes

_strategies = {"file_descriptor", "file_system"}


class _Chosen:
    """The strategy that a program has chosen."""

    strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names of PyTorch's ways to share memory. Here all names mean the same: a file without a name."""
    return _strategies


def get_sharing_strategy() -> str:
    """The name that `set_sharing_strategy` got. The name changes nothing."""
    return _Chosen.strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept a name of `get_all_sharing_strategies`. Raises AssertionError for another name."""
    if new_strategy not in _strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_strategies}")
    _Chosen.strategy = new_strategy


reductions.init_reductions()

__all__ = ["ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
           "get_all_sharing_strategies", "get_sharing_strategy", "reductions", "set_sharing_strategy", "spawn",
           "start_processes", *multiprocessing.__all__]
