"""torch.jit: `script` and `trace` return the function or module as it is. `torch.compile` compiles."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Union, get_args, get_origin

from ..control_flow import fork, wait
from ..foundations.errors import warn, warn_once
from ..foundations.futures import Future
from ..foundations.names import missing
from ..nn.modules.module import Module

__all__ = ["Attribute", "Error", "Final", "Future", "ScriptModule", "TracerWarning", "annotate",
           "enable_onednn_fusion", "export", "fork", "freeze", "fuser", "ignore", "interface", "is_scripting",
           "is_tracing", "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference",
           "optimized_execution", "save", "script", "script_if_tracing", "script_method", "set_fusion_strategy",
           "trace", "trace_module", "unused", "wait"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Attribute(NamedTuple):
    """A value with its type. PyTorch makes an attribute of a scripted module of it."""

    value: Any
    type: Any


class Error(Exception):
    """An error of a scripted program. retrograd runs programs as they are, and does not raise it."""


JITException = Error


class TracerWarning(Warning):
    """A warning of PyTorch's tracer of programs. retrograd traces no programs, and does not give it."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Say that warnings about libraries are not shown. There are none."""


class ScriptModule(Module):
    """A module. PyTorch compiles the methods of this class; retrograd runs them as they are."""


def _say_eager() -> None:
    warn_once("torch.jit does not compile here: it runs the program as it is, and the results are the same. "
              "torch.compile compiles.")


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function, the class or the module `obj` as it is."""
    _say_eager()
    return obj


def trace(func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True,
          check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False,
          _module_class: Any = None, _compilation_unit: Any = None, example_kwarg_inputs: Any = None,
          _store_inputs: bool = True) -> Any:
    """The function or the module `func` as it is. The example is not computed."""
    _say_eager()
    return func


def trace_module(mod: Module, inputs: dict[str, Any], optimize: Any = None, check_trace: bool = True,
                 check_inputs: Any = None, check_tolerance: float = 1e-5, strict: bool = True,
                 _force_outplace: bool = False, _module_class: Any = None, _compilation_unit: Any = None,
                 example_inputs_is_kwarg: bool = False, _store_inputs: bool = True) -> Module:
    """The module as it is. The examples are not computed. Raises AttributeError if `inputs` is not a dict."""
    if not builtins.isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    _say_eager()
    return mod


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is."""
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is."""
    return fn


_script_if_tracing = script_if_tracing


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is."""
    return fn


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function `drop` as it is, or a decorator. Raises RuntimeError if `drop` is neither a function nor a bool."""
    if callable(drop):
        return drop
    if not builtins.isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: fn


def interface(obj: Any) -> Any:
    """The class as it is. Raises RuntimeError if `obj` is no class."""
    if not builtins.isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj


def _overload(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is. It declares the types of another function of its name."""
    return func


def _overload_method(func: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is. It declares the types of another method of its name."""
    return func


# Containers that do not say what they hold, by the names that errors give to them.
_BARE = {each: each.__name__ for each in (dict, list, tuple)} | {
    getattr(typing, name): name for name in ("Dict", "List", "Optional", "Tuple")}


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's `isinstance`, which also takes types such as `list[int]`: each element must be of the type inside.

    Of the types of a union, the first that says what it holds decides. Raises RuntimeError for a container that does
    not say what it holds.
    """
    if builtins.isinstance(target_type, Container):
        if not builtins.isinstance(target_type, tuple):
            raise RuntimeError("The second argument to `torch.jit.isinstance` must be a type or a tuple of types")
        return any(isinstance(obj, each) for each in target_type)
    name = _BARE.get(target_type)
    if name is not None:
        several = "contained types. Please add" if name[1:] == "ict" else "a contained type. Please add a"
        raise RuntimeError(f"Attempted to use {name} without {several} contained type, e.g. {name}"
                           f"[int{', int' * (name[1:] == 'ict')}]")
    of = get_origin(target_type)
    return builtins.isinstance(obj, target_type) if of is None else _holds(obj, of, target_type)


def _holds(obj: Any, of: Any, kind: Any) -> bool:
    """Whether an object is a container, or of a union, of this type; `of` is the type without what it holds."""
    inside = get_args(kind)
    if of in (Union, UnionType):
        first = next((each for each in inside if get_origin(each) or builtins.isinstance(obj, each)), None)
        return obj is None or (first is not None and isinstance(obj, first))
    if of not in (list, dict, tuple):
        return False
    if obj in ([], {}, ()):
        warn("The inner type of a container is lost when calling torch.jit.isinstance in eager mode. For example, "
             "List[int] would become list and therefore falsely return True for List[float] or List[str].")
    if not builtins.isinstance(obj, of):
        return False
    if of is dict:
        return all(builtins.isinstance(key, inside[0]) and _is_element(value, inside[1]) for key, value in obj.items())
    if of is tuple:
        return len(obj) == len(inside) and all(map(_is_element, obj, inside))
    return all(_is_element(each, inside[0]) for each in obj)


def _is_element(obj: Any, kind: Any) -> bool:
    return isinstance(obj, kind) if get_origin(kind) else builtins.isinstance(obj, kind)


_strategy = [("STATIC", 2), ("DYNAMIC", 10)]


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Choose how often the compiler of scripts specializes. Returns the choice before. It changes nothing else."""
    before, _strategy[:] = [*_strategy], strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Choose whether a library joins operators. It changes nothing."""


def onednn_fusion_enabled() -> bool:
    """Whether a library joins operators: no."""
    return False


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A context with or without optimizations. It changes nothing."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A context with another way to join operators. It changes nothing. Raises Exception for an unknown name."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise Exception(f"unrecognized fuser option (name: {name})")
    yield


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value, whatever its type."""
    return the_value


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """The module as it is. Raises RuntimeError if it is in training."""
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on "
                           "your module before freezing.")
    _say_eager()
    return mod


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """The module as it is."""
    _say_eager()
    return mod


def is_scripting() -> bool:
    """Whether the program is being scripted: no."""
    return False


def is_tracing() -> bool:
    """Whether the program is being traced: no."""
    return False


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raise NotImplementedError, which says how to save a module."""
    raise NotImplementedError("retrograd writes no TorchScript files: save the numbers of the module with "
                              "torch.save(module.state_dict(), file).")


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError, which says how to load a module."""
    raise NotImplementedError("retrograd reads no TorchScript files: make the module with its class, and load its "
                              "numbers with module.load_state_dict(torch.load(file)).")
