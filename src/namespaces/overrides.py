"""torch.overrides: the functions whose calls can be overridden, and how classes and modes override them.

A class overrides calls by a classmethod `__torch_function__(cls, func, types, args=(), kwargs=None)`, and a mode by a
method of that name. `tensors.recording.overriding` decides which of them handles a call.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Self

from . import autograd
from .foundations.errors import noted as _noted
from .foundations.names import missing
from .nn import functional
from .tensors.face.subclassing import kept
from .tensors.recording.overriding import local, overloaded, overridden, takes_over
from .tensors.state.dispatch import DISPATCH
from .tensors.tensor import Tensor

__all__ = [
    "BaseTorchFunctionMode", "TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions",
    "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "has_torch_function_unary",
    "has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property", "resolve_name",
    "wrap_torch_function",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_ROOT = __name__.partition(".")[0]


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Operators that `__torch_function__` is given as a method of another name.
_OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__div__": "div", "__mod__": "remainder", "__matmul__": "matmul", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__ne__": "ne", "__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__pow__": "pow",
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_"}
# Special methods that `__torch_function__` is given under their own names, because they are not operators.
_ASKED = _set("""__array__ __bool__ __complex__ __contains__ __deepcopy__ __dir__ __dlpack__ __dlpack_device__
    __float__ __format__ __getitem__ __index__ __int__ __len__ __reduce_ex__ __repr__ __reversed__ __setitem__
    __setstate__""")
# Methods of tensors that concern the object or its class, or that the package itself calls.
_METHODS_LEFT = _set("""__array_function__ __array_ufunc__ __copy__ __hash__ __init__ __init_subclass__ __iter__
    __new__ __op__ __reduce__ __torch_function__ _accumulate _before_accumulation as_subclass is_shared tensor_data""")
_FUNCTIONS_LEFT = _set("""as_torch compiled_with_cxx11_abi default_generator from_dlpack get_default_device
    get_default_dtype get_printoptions get_rng_state initial_seed is_grad_enabled is_inference_mode_enabled is_storage
    is_tensor load manual_seed printoptions save seed set_default_device set_default_dtype set_printoptions
    set_rng_state""")
# Functions that PyTorch keeps in torch.functional, and so gives another dotted name.
_IN_FUNCTIONAL = _set("""atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist
    chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive unravel_index""")


# The functions that can be overridden

def _root() -> ModuleType:
    return sys.modules[_ROOT]


def _methods() -> Iterator[tuple[str, FunctionType, Any]]:
    """For each method of tensors: its name, the function that is called, and the function that the call stands for."""
    found = {name: value for kind in reversed(Tensor.__mro__[:-1]) for name, value in vars(kind).items()}
    for name in sorted(found, key=lambda name: (name.startswith("__"), name)):
        value = found[name]
        if name in _METHODS_LEFT:
            continue
        if isinstance(value, property):
            yield f"{name}.__get__", value.fget, value.__get__  # type: ignore[misc]
            if value.fset is not None:
                yield f"{name}.__set__", value.fset, value.__set__  # type: ignore[misc]
        elif isinstance(value, FunctionType):
            yield name, value, found.get(_OPERATORS.get(name, name), value)


def _functions(module: ModuleType, names: Iterable[str]) -> Iterator[tuple[str, FunctionType, Any]]:
    for name in names:
        value = getattr(module, name)
        if isinstance(value, FunctionType) and name not in _FUNCTIONS_LEFT:
            yield name, value, value


@functools.cache
def _tables() -> dict[str, list[tuple[str, FunctionType, Any]]]:
    """All functions that can be overridden, by their place."""
    return {"torch": [*_functions(_root(), _root().__all__)],
            "torch.nn.functional": [*_functions(functional, functional.__all__)],
            "torch.autograd": [*_functions(autograd, ["grad"])],
            "torch.Tensor": [*_methods()]}


@functools.cache
def _names() -> dict[Any, str]:
    """The dotted names of functions, methods and property getters. The first of several names counts."""
    names: dict[Any, str] = {}
    for place, entries in _tables().items():
        for name, called, public in entries:
            shown = "torch.functional" if place == "torch" and name in _IN_FUNCTIONAL else place
            names.setdefault(public, f"{shown}.{name}")
            names.setdefault(called, f"{shown}.{name}")
    return names


def refused(function: Any, found: list[Any], mode: Any) -> TypeError:
    """PyTorch's error if every handler returned NotImplemented. It has two forms, by the function's place."""
    name = resolve_name(function) or str(function)
    if name.startswith(("torch.functional.", "torch.nn.functional.")):
        return _refused_of_users(function, found, mode)
    asked = [] if mode is None else [f"  - mode object {mode}\n"]
    asked += [f"  - tensor subclass {type(value)}\n" for value in found]
    return _noted(
        TypeError(f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:"
                  f"\n\n{''.join(asked)}\nFor more information, try re-running with TORCH_LOGS=not_implemented"),
        because="a handler must return a value if it knows the function and all types")


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that can be overridden, by the module or class that has them."""
    places = {"torch": _root(), "torch.nn.functional": functional, "torch.autograd": autograd, "torch.Tensor": Tensor}
    return {places[place]: [public for _, _, public in entries] for place, entries in _tables().items()}


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that can be overridden, a function of the same arguments that returns -1.

    >>> import retrograd as torch
    >>> torch.overrides.get_testing_overrides()[torch.add](torch.ones(1), 2)
    -1
    """
    def override(*args: Any, **kwargs: Any) -> int:
        return -1

    return {public: override for entries in _tables().values() for _, _, public in entries}


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Public functions, and methods of tensors, that cannot be overridden."""
    root = _root()
    return {getattr(root, name) for name in _FUNCTIONS_LEFT if name in root.__all__} | {
        getattr(Tensor, name) for name in _METHODS_LEFT if hasattr(Tensor, name)}


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Properties whose value does not become an instance of a subclass of Tensor: `.grad` and `._base`."""
    return set(kept())


def resolve_name(f: Any) -> str | None:
    """The dotted name of a function that can be overridden, or None for any other object.

    >>> import retrograd as torch
    >>> torch.overrides.resolve_name(torch.nn.functional.relu), torch.overrides.resolve_name(len)
    ('torch.nn.functional.relu', None)
    """
    try:
        return _names().get(f)
    except TypeError:                                    # not hashable
        return None


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether `func` is a method of tensors or the getter of a property."""
    return any(func in (called, public) for _, called, public in _tables()["torch.Tensor"])


def is_tensor_like(inp: Any) -> bool:
    """Whether the object is a tensor or has `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# For the user's own functions

def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments, or a mode, overrides calls at present."""
    return bool(local.thread.modes) or (local.thread.enabled and any(map(takes_over, relevant_args)))


def has_torch_function_unary(tensor: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """`has_torch_function` of arguments that are not in a tuple."""
    return has_torch_function(relevant_args)


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any,
                          **kwargs: Any) -> Any:
    """Hand a call of `public_api(*args, **kwargs)` over to a mode or to one of the arguments.

    Raises TypeError if all of them return NotImplemented.
    """
    found = overloaded(relevant_args) if local.thread.enabled else []
    return overridden(public_api, found, args, kwargs, _refused_of_users)


def _refused_of_users(function: Callable[..., Any], found: list[Any], mode: Any) -> TypeError:
    within = "" if mode is None else f" nor in mode {mode}"
    name = resolve_name(function) or f"{function.__module__}.{function.__name__}"
    return TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: "
                     f"{[type(value) for value in found]}{within}")


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """A decorator for functions whose calls can be overridden. `dispatcher(*args)` returns the arguments to ask."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


# Modes

class TorchFunctionMode:
    """A context that overrides all calls of public functions inside it, with any arguments.

    Derive a class with a method `__torch_function__(self, func, types, args=(), kwargs=None)`. While a mode
    handles a call it is inactive, so the calls that it makes go to the mode around it and to the arguments' classes.

    >>> import retrograd as torch
    >>> class Counting(torch.overrides.TorchFunctionMode):
    ...     calls = 0
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         self.calls += 1
    ...         return func(*args, **(kwargs or {}))
    >>> with Counting() as counting:
    ...     x = torch.ones(2) + 1
    >>> counting.calls
    2
    """

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Self:
        DISPATCH.watch(1)
        local.thread.modes = [*local.thread.modes, self]
        return self

    def __exit__(self, *error: object) -> None:
        local.thread.modes = local.thread.modes[:-1]
        DISPATCH.watch(-1)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes no call."""

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        return func(*args, **(kwargs or {}))
