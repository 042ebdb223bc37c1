"""How many threads the BLAS behind NumPy uses: one, while threads of our own call it.

OpenBLAS's threads wait for each other at every product. That costs more than small products do, and more yet where
several of our threads ask for products at once. Its number of threads is the process's, so it is set when the first
part of a program begins such work and put back when the last ends. Must not know what the products are for.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.linalg import _umath_linalg

# OpenBLAS in NumPy's wheels, whose names say what built it and how long its integers are, and OpenBLAS of a system.
_NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads64_",
          "openblas_{}_num_threads")


class _Control(NamedTuple):
    get: Callable[[], int]
    set: Callable[[int], None]


@lru_cache(maxsize=1)
def _control() -> _Control | None:
    """OpenBLAS's functions for its threads; None for another BLAS, or where they are out of reach."""
    beside = Path(np.__file__).parent.with_name("numpy.libs")
    for path in (_umath_linalg.__file__, *map(str, beside.glob("*openblas*"))):
        try:
            library = ctypes.CDLL(path)     # which NumPy has loaded, with what it is linked to
        except OSError:
            continue
        for name in _NAMES:
            if hasattr(library, name.format("set")):
                return _Control(getattr(library, name.format("get")), getattr(library, name.format("set")))
    return None


class _Use:
    """How many are inside `alone`, and how many threads there were before."""

    lock = threading.Lock()
    inside = before = 0

    @classmethod
    def forget(cls) -> None:
        """A forked process has none of the threads that were inside."""
        cls.lock = threading.Lock()
        if cls.inside and (control := _control()):
            control.set(cls.before)
        cls.inside = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Use.forget)


def can_be_alone() -> bool:
    """Whether `alone` has an effect."""
    return _control() is not None


@contextmanager
def alone() -> Iterator[None]:
    """Within, each product is computed by the thread that asks for it."""
    control = _control()
    if control is None:
        yield
        return
    with _Use.lock:
        if not _Use.inside:
            _Use.before = control.get()
            control.set(1)
        _Use.inside += 1
    try:
        yield
    finally:
        with _Use.lock:
            _Use.inside -= 1
            if not _Use.inside:
                control.set(_Use.before)
