"""torch.compile: checks its arguments as PyTorch does, and hands a function to the compiler at its first call.

Until then, this module needs nothing else of the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar
from weakref import WeakSet

from ..foundations.names import PACKAGE, reached
from ..graph.locks import moment

__all__ = ["compile"]

_HOME = f"{PACKAGE}.compiling"                             # the module under which programs know what is here
MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
# What runs the plans of the compiler: NumPy alone, or machine code through llvmlite.
EXECUTORS = ("numpy", "llvm")
# Traces before we stop compiling a function: LIMIT by default, MOST_SHAPES with `dynamic=True`.
LIMIT, MOST_SHAPES = 8, 256
# PyTorch's backends. Those in the second tuple are experimental, or help to find faults.
BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
OTHER_BACKENDS = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts", "eager",
                  "eager_debug", "eager_noexcept", "pre_dispatch_eager", "ts")


class InvalidBackend(RuntimeError):
    """A backend has a name that PyTorch does not know."""

    __module__ = _HOME


def compile(model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: str | Callable[..., Any] | None = None, mode: str | None = None,
            options: dict[str, Any] | None = None, name: str | None = None, disable: bool = False,
            recompile_limit: int | None = None, isolate_recompiles: bool = False, shapes_spec: Any = None) -> Any:
    """A function or module that computes what `model` computes; without `model`, a decorator.

    The first call traces the function: it may contain a whole training step. Later calls run the trace without the
    function's own Python, as long as everything that the function can reach is as it was; otherwise it is traced
    again. The function may branch on numbers of tensors, and may return them. If it does anything else with numbers,
    such as to print them, it runs as it is, and a warning names the line; with `fullgraph` it raises RuntimeError.
    `compile.explain` shows what is made of a call. For a module, the result is an `OptimizedModule`.

    The backend says what runs the plan: NumPy ("numpy") or machine code ("llvm"). By default it is machine code if the
    package `llvmlite` is installed. The first two or three shapes are traced; then one plan serves all sizes, if the
    traces show how the program depends on the sizes. With `dynamic=True`, this plan follows from the first two traces,
    and with `dynamic=False` each shape is traced by itself. With a higher `recompile_limit`, more than eight traces are
    kept. `mode` and `options` change nothing. Raises RuntimeError if `mode` and `options` are both given, or if the
    mode or the backend is not one of PyTorch's.

    >>> import retrograd as torch
    >>> @torch.compile
    ... def f(x):
    ...     return (x.sin() * x).sum()
    >>> f(torch.ones(3)), f(torch.zeros(3))
    (tensor(2.5244), tensor(0.))
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
    limit = recompile_limit or (MOST_SHAPES if dynamic else LIMIT)
    if isinstance(model, reached("nn.modules.module").Module):
        return reached("compilation.optimized").OptimizedModule(
            model, lambda function: Compiling(function, fullgraph, backend, limit, dynamic))
    if isinstance(model, type):
        return model
    compiling = Compiling(model, fullgraph, backend, limit, dynamic)

    def calling(*args: Any, **kwargs: Any) -> Any:
        run: Any = compiling.run if Stance.name == "default" else compiling
        return run(*args, **kwargs)

    return marked(calling, model, _torchdynamo_orig_callable=model)


class Stance:
    """When compiled functions may be traced: what `torch.compiler.set_stance` has chosen."""

    __module__ = _HOME
    name: ClassVar[str] = "default"


class Compiling:
    """A function that is compiled at its first call. With a backend that compiles nothing, it runs as it is.

    `backend` says what runs the plans: NumPy alone ("numpy"), machine code ("llvm"), or what there is.
    """

    __module__ = _HOME
    compiled: ClassVar[WeakSet[Compiling]] = WeakSet()

    def __init__(self, function: Callable[..., Any], whole: bool, backend: Any, limit: int,
                 dynamic: bool | None = None) -> None:
        self.function, self.whole, self.backend, self.limit = function, whole, backend, limit
        self.dynamic = dynamic
        self.run: Any = self._first if backend in (None, *BACKENDS, *EXECUTORS) else function
        self.called = False                                # in a stance in which the first call is not traced
        Compiling.compiled.add(self)

    def _first(self, *args: Any, **kwargs: Any) -> Any:
        compiled = reached("compilation.compiled").Compiled(
            self.function, self.whole, self.backend, self.limit, self.dynamic)
        with moment:
            if self.run == self._first:                    # no other thread was quicker
                self.run = compiled
        return self.run(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns."""
        if Stance.name != "default":
            return self._in_stance()(*args, **kwargs)
        return self.run(*args, **kwargs)

    def _in_stance(self) -> Callable[..., Any]:
        """What a call runs if the stance is not the default."""
        if Stance.name == "force_eager" or self.run is self.function:
            return self.function
        if Stance.name in ("eager_on_recompile", "fail_on_recompile"):
            return self._known
        first, self.called = not self.called, True
        return self.function if first else self.run

    def _known(self, *args: Any, **kwargs: Any) -> Any:
        """A call that is not traced: it repeats a traced call, or runs as it is, or raises RuntimeError."""
        if self.run != self._first and self.run.knows(args, kwargs):
            return self.run(*args, **kwargs)
        if Stance.name == "fail_on_recompile":
            code = getattr(self.function, "__code__", None)
            where = "" if code is None else (f" filename: '{code.co_filename}', function name: '{code.co_name}', "
                                             f"line number: {code.co_firstlineno}")
            raise RuntimeError(f"Detected recompile when torch.compile stance is 'fail_on_recompile'.{where}")
        return self.function(*args, **kwargs)

    def forget(self) -> None:
        """Compile the function anew at its next call."""
        if self.run is not self.function:
            self.run = self._first


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run `function(*args, **kwargs)` once, and return what `compile` makes of this call: its text is the plan.

    >>> import retrograd as torch
    >>> x = torch.ones(3)
    >>> print(torch.compile.explain(lambda x: (x * 2).sum(), x).reason)
    None
    """
    return reached("compilation.explaining").explain(function, *args, **kwargs)


compile.explain = explain  # type: ignore[attr-defined]


def _check_arguments(mode: Any = None, options: Any = None, backend: Any = None) -> None:
    """Raise PyTorch's error if a mode and options are both given, or if the mode or the backend has an unknown name."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if backend is None or backend == "inductor":
        if mode and mode not in MODES:
            raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    elif isinstance(backend, str) and backend not in BACKENDS + OTHER_BACKENDS + EXECUTORS:
        raise InvalidBackend(f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()` for available "
                             "backends.")


def _check_dynamic(dynamic: Any) -> None:
    """Raise PyTorch's error if `dynamic` is neither None nor a bool."""
    if not (dynamic is None or isinstance(dynamic, bool)):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")


def marked(function: Callable[..., Any], like: Callable[..., Any], **attributes: Any) -> Callable[..., Any]:
    """A new function, which now has these attributes and looks like `like`, as PyTorch's compiler makes it."""
    vars(wraps(like)(function)).update(attributes)
    return function


for _each in (compile, explain, marked):
    _each.__module__ = _HOME
