"""torch._dynamo: names of the compiler behind `torch.compile`. Functions are traced whole; its marks change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..compiler import (
    allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset, set_stance)
from ..foundations.names import inside, late, refused
from ..compilation.optimized import OptimizedModule
from . import config

__all__ = ["OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "disallow_in_graph",
           "explain", "export", "forbid_in_graph", "graph_break", "is_compiling", "is_dynamo_supported",
           "list_backends", "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic",
           "nonstrict_trace", "optimize", "optimize_assert", "register_backend", "reset", "run", "set_stance",
           "skip_frame", "substitute_in_graph"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "eval_frame external_utils"}, __name__))

explain, export = refused("torch._dynamo.explain"), refused("torch._dynamo.export")
disallow_in_graph = forbid_in_graph = allow_in_graph


def is_dynamo_supported() -> bool:
    """Whether programs can be compiled: no."""
    return False


def graph_break(msg: str = "") -> None:
    """Say that the compiled program ends here. This changes nothing."""


def skip_frame(msg: str = "") -> None:
    """Say that this function is not compiled. This changes nothing."""


def mark_dynamic(t: Any, index: Any, *, hint_override: int | None = None, min: int | None = None,
                 max: int | None = None, specialize_on: list[Any] | None = None) -> None:
    """Say that a size of a tensor will change. This changes nothing."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a size of a tensor may change. This changes nothing."""


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a size of a tensor stays the same. This changes nothing."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor stays where it is in memory. This changes nothing."""


def nonstrict_trace(traceable_fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is."""
    return traceable_fn


def run(fn: Any = None) -> Any:
    """The function as it is; without a function, a decorator."""
    return (lambda fn: fn) if fn is None else fn


def optimize(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is, with any backend."""
    return lambda fn: fn


optimize_assert = optimize


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """The backend as it is; without a backend, a decorator. No backend is called."""
    return (lambda compiler_fn: compiler_fn) if compiler_fn is None else compiler_fn


def substitute_in_graph(original_fn: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is. The original function is not replaced."""
    return lambda fn: fn
