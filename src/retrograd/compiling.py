"""torch.compile, which checks its arguments as PyTorch does and runs the program as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

from .errors import warn_once

__all__ = ["compile"]

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
# PyTorch's backends. Those in the second tuple are experimental, or help to find faults.
BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
OTHER_BACKENDS = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts", "eager",
                  "eager_debug", "eager_noexcept", "pre_dispatch_eager", "ts")


class InvalidBackend(RuntimeError):
    """A backend has a name that PyTorch does not know."""


class Modules:
    """The class of modules, and what `compile` makes of a module. `wiring` fills them in."""

    kind: ClassVar[type]
    optimized: ClassVar[Callable[[Any], Any]]


def compile(model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable[..., Any] | None = None, mode: str | None = None,
            options: dict[str, Any] | None = None, name: str | None = None, disable: bool = False,
            recompile_limit: int | None = None, isolate_recompiles: bool = False, shapes_spec: Any = None) -> Any:
    """A function or module that computes what `model` computes; without `model`, a decorator.

    Nothing is compiled: the options change no result. Of a module, the result is an `OptimizedModule`. Raises
    RuntimeError if `mode` and `options` are both given, or if the mode or the backend is not one of PyTorch's.
    """
    if model is None:
        def decorate(model: Any) -> Any:
            if model is None:
                raise RuntimeError("Model can't be None")
            return compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
                           name=name, disable=disable, recompile_limit=recompile_limit,
                           isolate_recompiles=isolate_recompiles, shapes_spec=shapes_spec)
        return decorate
    _check_arguments(mode, options, backend)
    if disable:
        return model
    _check_dynamic(dynamic)
    model = getattr(model, "_torchdynamo_orig_callable", model)      # what was compiled before
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    _say_eager()
    if isinstance(model, Modules.kind):
        return Modules.optimized(model)
    return model if isinstance(model, type) else marked(model, _torchdynamo_orig_callable=model)


def _check_arguments(mode: Any = None, options: Any = None, backend: Any = None) -> None:
    """Raise PyTorch's error if a mode and options are both given, or if the mode or the backend has an unknown name."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if backend is None or backend == "inductor":
        if mode and mode not in MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    elif isinstance(backend, str) and backend not in BACKENDS + OTHER_BACKENDS:
        raise InvalidBackend(f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available "
                             "backends.")


def _check_dynamic(dynamic: Any) -> None:
    """Raise PyTorch's error if `dynamic` is neither None nor a bool."""
    if not (dynamic is None or isinstance(dynamic, bool)):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")


def _say_eager() -> None:
    """Say once that nothing is compiled."""
    warn_once("retrograd does not compile yet: torch.compile runs the program as it is, and the results are the same.")


def marked(function: Callable[..., Any], **attributes: Any) -> Callable[..., Any]:
    """A new function with these attributes that calls `function`, as PyTorch's compiler makes one."""

    @wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    vars(calling).update(attributes)
    return calling
