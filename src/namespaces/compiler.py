"""torch.compiler: questions and marks for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from .compilation.asking import BACKENDS, OTHER_BACKENDS, Compiling, Stance, compile, marked
from .compilation.optimized import OptimizedModule
from .foundations.modes import tape
from .foundations.names import missing
from .nn.modules.module import Module

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
           "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "nested_compile_region", "reset",
           "set_enable_guard_collectives", "set_stance"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def is_compiling() -> bool:
    """Whether the program is being compiled: in the first run of a compiled function."""
    return tape() is not None


def is_dynamo_compiling() -> bool:
    """Whether the program is being compiled: in the first run of a compiled function."""
    return tape() is not None


def is_exporting() -> bool:
    """Whether the program is being exported: no."""
    return False


def reset() -> None:
    """Forget what was compiled. Each function is compiled anew at its next call."""
    for compiling in [*Compiling.compiled]:
        compiling.forget()


def cudagraph_mark_step_begin() -> None:
    """Say that a step of training begins. Nothing waits for the beginning of a step."""


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names of backends that `compile` accepts; with `exclude_tags=None`, the experimental ones, too."""
    return sorted(BACKENDS if exclude_tags else BACKENDS + OTHER_BACKENDS)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that computes what `fn` computes, and is not compiled; without `fn`, a decorator.

    A compiled function that calls it runs as it is.
    """
    if fn is None:
        return lambda fn: disable(fn, recursive, reason=reason)
    if not callable(fn):
        raise AssertionError("fn must be callable")
    if isinstance(fn, type):
        return fn
    if isinstance(fn, Module):
        return OptimizedModule(fn)

    def apart(*args: Any, **kwargs: Any) -> Any:
        written = tape()
        if written is not None:
            written.give_up(f"the program calls {getattr(fn, '__name__', fn)}, which torch.compiler.disable keeps out")
        return fn(*args, **kwargs)

    return marked(apart, fn, _torchdynamo_disable=True)


def allow_in_graph(fn: Any) -> Any:
    """The function, or the list of functions, as it is."""
    if isinstance(fn, list | tuple):
        return [allow_in_graph(each) for each in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is."""
    return fn


def nested_compile_region(fn: Callable[..., Any] | None = None, *, options: Any = None, max_reuse_entries: int = 8,
                          reuse_hash_fn: Callable[..., int] | None = None) -> Any:
    """The function as it is; without a function, a decorator."""
    return (lambda fn: fn) if fn is None else fn


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Choose how processes agree on what to compile. Returns the choice before: False."""
    return False


class set_stance:
    """Choose when compiled functions are traced, as a call, a `with` block or a decorator. No choice changes a result.

    - "default": whenever no trace holds.
    - "force_eager": never; compiled functions run as they are.
    - "eager_on_recompile": never; traces that hold are used.
    - "fail_on_recompile": never; a call for which no trace holds raises RuntimeError.
    - "eager_then_compile", "aot_eager_then_compile": from the second call of each function on.

    Raises RuntimeError if `force_backend` is given with another stance than the default, and AssertionError inside of a
    compiled function.

    >>> import retrograd as torch
    >>> double = torch.compile(lambda x: x * 2)
    >>> with torch.compiler.set_stance("force_eager"):
    ...     double(torch.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False,
                 force_backend: str | Callable[..., Any] | None = None) -> None:
        if tape() is not None:
            raise AssertionError(f"Attempt to trace forbidden callable {set_stance}")
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance, self.before = stance, Stance.name
        Stance.name = stance

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs in this stance."""
        Stance.name = self.before

        @wraps(fn)
        def calling(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return calling

    def __enter__(self) -> None:
        Stance.name = self.stance

    def __exit__(self, *error: object) -> None:
        Stance.name = self.before
