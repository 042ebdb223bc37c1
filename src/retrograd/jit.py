"""torch.jit: programs that script or trace run as they are, because nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .errors import warn_once
from .names import missing
from .nn.modules.module import Module

__all__ = ["Final", "Future", "ScriptModule", "annotate", "export", "fork", "freeze", "ignore", "interface",
           "is_scripting", "is_tracing", "load", "optimize_for_inference", "save", "script", "script_if_tracing",
           "script_method", "trace", "trace_module", "unused", "wait"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


class ScriptModule(Module):
    """A module. PyTorch compiles the methods of this class; retrograd runs them as they are."""


def _say_eager() -> None:
    warn_once("retrograd does not compile yet: torch.jit runs the program as it is, and the results are the same.")


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
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    _say_eager()
    return mod


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is."""
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is."""
    return fn


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
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: fn


def interface(obj: Any) -> Any:
    """The class as it is. Raises RuntimeError if `obj` is no class."""
    if not isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj


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


class Future:
    """The result of a call that `fork` made."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def done(self) -> bool:
        """Whether the call has ended: yes."""
        return True

    def wait(self) -> Any:
        """The result of the call."""
        return self._result

    value = wait


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """Call the function at once. Returns a future with the result, for `wait`."""
    return Future(func(*args, **kwargs))


def wait(future: Future) -> Any:
    """The result of the call that `fork` made."""
    return future.wait()


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raise NotImplementedError, which says how to save a module."""
    raise NotImplementedError("retrograd writes no TorchScript files: save the numbers of the module with "
                              "torch.save(module.state_dict(), file).")


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> NoReturn:
    """Raise NotImplementedError, which says how to load a module."""
    raise NotImplementedError("retrograd reads no TorchScript files: make the module with its class, and load its "
                              "numbers with module.load_state_dict(torch.load(file)).")
