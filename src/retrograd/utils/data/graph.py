"""The graph of a data pipe: which other pipes it reads."""

from __future__ import annotations

import io
import pickle
from collections.abc import Collection
from typing import Any

from ...foundations.errors import warn
from .datapipes.datapipe import IterDataPipe, MapDataPipe, _DataPipeSerializationWrapper

__all__ = ["traverse", "traverse_dps"]

DataPipeGraph = dict[int, tuple[Any, Any]]
_PIPES = (IterDataPipe, MapDataPipe)


def _stub_unpickler() -> str:
    return "STUB"


class _Finder(pickle.Pickler):
    """Walks through a value as if to pickle it, and collects the pipes on the way."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.found: dict[int, Any] = {}

    def persistent_id(self, value: Any) -> str | None:
        """Collect a pipe, and do not go into it."""
        if isinstance(value, _PIPES):
            self.found.setdefault(id(value), value)
            return "pipe"
        return None

    def reducer_override(self, value: Any) -> Any:
        """Leave out what cannot be pickled, such as a lambda."""
        if isinstance(value, type) or (callable(value) and not hasattr(value, "__dict__")):
            return NotImplemented
        if getattr(value, "__name__", "") == "<lambda>" or "<locals>" in getattr(value, "__qualname__", ""):
            return _stub_unpickler, ()
        try:
            value.__reduce_ex__(2)
        except Exception:
            return _stub_unpickler, ()
        return NotImplemented


def _state(pipe: Any, only_datapipe: bool) -> Any:
    """What a pipe holds. With ``only_datapipe`` only attributes that are pipes or collections, which may hold pipes."""
    state = vars(pipe) if isinstance(pipe, _DataPipeSerializationWrapper) else pipe.__getstate__()
    if not only_datapipe:
        return state
    held = (*_PIPES, Collection)
    if isinstance(state, dict):
        return {name: value for name, value in state.items() if isinstance(value, held)}
    if isinstance(state, list | tuple):
        return [value for value in state if isinstance(value, held)]
    return state if isinstance(state, _PIPES) else None


def traverse_dps(datapipe: Any) -> DataPipeGraph:
    """The graph of a pipe: a dict from the `id` of the pipe to the pipe and the dict of the pipes that it reads.

    Only attributes of a pipe that are pipes, or collections with pipes, are followed. Raises RuntimeError for a value
    that is no pipe.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> source = IterableWrapper(range(3))
    >>> [(pipe, [*below]) == (source, []) for pipe, below in traverse_dps(source).values()]
    [True]
    """
    return _traverse(datapipe, True, set())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> DataPipeGraph:
    """The graph of a pipe, as `traverse_dps` gives it; without ``only_datapipe`` all attributes are followed."""
    warn("`traverse` function is deprecated and will be removed after 1.13. Please use `traverse_dps` instead."
         + ("" if only_datapipe else " And, the behavior will be changed to the equivalent of `only_datapipe=True`."),
         FutureWarning)
    return _traverse(datapipe, bool(only_datapipe), set())


def _traverse(pipe: Any, only_datapipe: bool, seen: set[int]) -> DataPipeGraph:
    if not isinstance(pipe, _PIPES):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in seen:
        return {}
    seen.add(id(pipe))
    finder = _Finder()
    finder.dump(_state(pipe, only_datapipe))
    below: DataPipeGraph = {}
    for one in finder.found.values():
        below.update(_traverse(one, only_datapipe, seen.copy()))
    return {id(pipe): (pipe, below)}
