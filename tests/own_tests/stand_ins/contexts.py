"""Contexts of tests: switches that are set for a while, and files that are there for a while."""

from __future__ import annotations

import contextlib
import gc
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch


def _switch(read: Callable[[], Any], write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The context that sets a switch for a while."""

    @contextlib.contextmanager
    def context(value: Any) -> Iterator[None]:
        before = read()
        write(value)
        try:
            yield
        finally:
            write(before)

    return context


set_default_dtype = _switch(torch.get_default_dtype, torch.set_default_dtype)
set_warn_always_context = _switch(torch.is_warn_always_enabled, torch.set_warn_always)


def disable_gc() -> Any:
    """The context without garbage collection."""
    return _switch(gc.isenabled, lambda on: gc.enable() if on else gc.disable())(False)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """The context after which the random numbers go on as if nothing had been drawn."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


class DeterministicGuard:
    """The context of deterministic algorithms."""

    def __init__(self, deterministic: bool, *, warn_only: bool = False) -> None:
        self.deterministic, self.warn_only = deterministic, warn_only

    def __enter__(self) -> None:
        self.before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.warn_only)

    def __exit__(self, *error: object) -> None:
        torch.use_deterministic_algorithms(self.before)


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **kwargs: Any) -> Iterator[str]:
    """The name of a file that is there for a while."""
    with tempfile.NamedTemporaryFile(*args, **kwargs) as file:
        yield file.name


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """The name of a folder that is there for a while."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder
