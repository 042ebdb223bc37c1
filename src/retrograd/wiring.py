"""The one place where the layers are wired together: what a lower layer calls, and only a higher layer can define.

A layer imports only from the layers below it. Some classes in lower layers therefore only declare functions or classes,
and `wire` fills them in. The graph shows gradients to users' hooks without knowing tensors. Recorded calls make tensors
without importing the class. Errors name functions whose dotted names only `overrides` knows. What few programs use is
imported at the first need: tensors on the device meta, and `torch.compile`.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from operator import attrgetter
from types import ModuleType, TracebackType
from typing import Any

from .extras import installed
from .foundations import tracebacks
from .foundations.devices import Meta
from .foundations.modes import Compiler, tape
from .foundations.names import PACKAGE, reached
from .graph.faults import Earlier
from .graph.hooks import USER_HOOKS
from .graph.node import SavedReader
from .kernels.native.served import Served
from .ops import _Core
from .tensors.face.subclassing import Wrapping
from .tensors.interim import Interim, by_elements
from .tensors.recording import calls, hooks, saved_values
from .tensors.state.dispatch import DISPATCH
from .tensors.tensor import Tensor

# Where the function of an operator of PyTorch's core is looked for; "" is the package.
_PLACES = ("", "nn.functional", "_C._nn", "special", "linalg", "fft")


def wire() -> None:
    """Fill in what the lower layers declare. The package calls `wire` once, at the end of its import."""
    tracebacks.Silent.add_notes = staticmethod(_about_none)
    tracebacks.install()
    DISPATCH.begin(Tensor)
    DISPATCH.spare(Interim)
    DISPATCH.interim, DISPATCH.by_elements = Interim, by_elements
    USER_HOOKS.shown, USER_HOOKS.carried = hooks.shown, hooks.carried
    USER_HOOKS.call, USER_HOOKS.node = hooks.call, hooks.call_node
    SavedReader.attribute = staticmethod(saved_values.attribute)
    SavedReader.attributes = staticmethod(saved_values.attributes)
    Earlier.facts = staticmethod(_earlier)
    DISPATCH.refused = _refused
    Meta.tools = staticmethod(_meta)
    Compiler.compile = staticmethod(_compile)
    Served.compute = staticmethod(_served)
    Wrapping.begin, Wrapping.make = staticmethod(_begin_dispatch), staticmethod(_make_wrapper)
    _Core.apart, _Core.function = staticmethod(_apart), staticmethod(_function)
    _Core.called, _Core.overloads, _Core.schema = staticmethod(_called), staticmethod(_overloads), staticmethod(_schema)


def _refused(function: Any, found: list[Any], mode: Any) -> TypeError:
    error: TypeError = reached("overrides").refused(function, found, mode)
    return error


def _about_none(error: BaseException, trace: TracebackType | None) -> None:
    reached("autograd.missing_gradient").add_notes(error, trace)


def _earlier(node: Any, order: Sequence[Any]) -> dict[str, str]:
    return reached("autograd.earlier_passes").facts(node, order)  # type: ignore[no-any-return]


def _meta() -> ModuleType:
    return reached("tensors.meta.public")


def _compile(*args: Any, **kwargs: Any) -> Any:
    return reached("compilation.asking").compile(*args, **kwargs)


def _served(kernel: Any, args: tuple[Any, ...]) -> Any:
    """The first call. From then on, kernels call the compiler themselves, if there is one."""
    if tape() is not None:                                  # a traced call may not do anything else
        return None
    if installed("compile"):
        Served.compute = reached("compilation.eager.serving").compute
    else:
        Served.compute = staticmethod(_numpy_serves)
    return Served.compute(kernel, args)


def _numpy_serves(kernel: Any, args: tuple[Any, ...]) -> None:
    return None


def _begin_dispatch() -> None:
    reached("dispatch.modes").begin()


def _make_wrapper(*args: Any, **options: Any) -> Any:
    return reached("dispatch.wrappers").make_wrapper_subclass(*args, **options)


def _called(overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return reached("dispatch.implementations").called(overload, args, kwargs)


def _apart(name: str) -> bool:
    return name in reached("dispatch.implementations").APART


def _overloads(name: str) -> Any:
    return reached("dispatch.core").overloads(name)


def _schema(overload: Any) -> Any:
    return reached("dispatch.core").schema_of(overload)


@cache
def _function(name: str) -> Callable[..., Any] | None:
    """The function of a name in the namespaces for tensors, or else the method."""
    package = sys.modules[PACKAGE]
    if name.startswith("linalg_") and name.removeprefix("linalg_") in dir(package.linalg):
        return getattr(package.linalg, name.removeprefix("linalg_"))  # type: ignore[no-any-return]
    for place in _PLACES:
        home = attrgetter(place)(package) if place else package
        if name in dir(home) and callable(getattr(home, name)):
            return getattr(home, name)  # type: ignore[no-any-return]
    return getattr(Tensor, name, None)


def say_where(functions: Iterable[Any], module: str) -> None:
    """Let recorded functions say the module under which programs know them, so that they can be pickled."""
    for function in functions:
        if getattr(function, "__module__", None) == calls.__name__:
            function.__module__ = module
