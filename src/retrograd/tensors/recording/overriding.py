"""`__torch_function__`: who takes a call of a public function over, in which order, and what a tensor's own does.

Plain tensors pay nothing for it. Until something may take calls over (a class derived from Tensor, a mode) no
function asks; then the code of every public function is exchanged, once and in one place (`retrograd.overrides`
knows which they are), for code that asks. A function's identity, and every reference to it, stay, so that `func` is
the very function that programs name. Must not know which functions there are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from ..state.base import Results, TensorBase

# What holds no tensors and takes nothing over: the usual types of other arguments.
_INERT = frozenset((bool, int, float, complex, str, type(None), slice, type(...)))


class _Here:
    """What is switched in one thread: whether the classes of arguments are asked, and the modes, the innermost last."""

    __slots__ = ("enabled", "modes")

    def __init__(self) -> None:
        self.enabled = True
        self.modes: list[Any] = []


class _Local(threading.local):
    def __init__(self) -> None:
        self.thread = _Here()


local = _Local()


class Overriding:
    """How all public functions are made to ask. Named once, by the layer that knows them."""

    begin: Callable[[], None]


def disabled_torch_function_impl(*args: Any, **kwargs: Any) -> Any:
    """The `__torch_function__` of a class whose instances take nothing over, such as Parameter."""
    return NotImplemented


class _Switch:
    """A context in which no argument takes a call over; modes do, unless they are put aside as well."""

    modes_aside = False

    def __enter__(self) -> None:
        thread = local.thread
        self._before = thread.enabled, thread.modes
        thread.enabled = False
        if self.modes_aside:
            thread.modes = []

    def __exit__(self, *error: object) -> None:
        local.thread.enabled, local.thread.modes = self._before


class DisableTorchFunctionSubclass(_Switch):
    """Within it, the `__torch_function__` of arguments is not called."""


class DisableTorchFunction(_Switch):
    """Within it, neither the `__torch_function__` of arguments nor that of a mode is called."""

    modes_aside = True


# Who is asked

def _plain(values: Iterable[Any]) -> bool:
    """Whether all values are plain tensors or inert: the usual case, and the quick look."""
    tensor = Results.tensor
    for value in values:
        kind = type(value)
        if kind is not tensor and kind not in _INERT:
            return False
    return True


def takes_over(value: Any) -> bool:
    """Whether a value takes calls over."""
    kind = type(value)
    if kind in _INERT or kind is Results.tensor:
        return False
    hook = getattr(kind, "__torch_function__", None)
    return hook is not None and hook is not disabled_torch_function_impl and not isinstance(value, type)


def overloaded(values: Iterable[Any]) -> list[Any]:
    """The first value of each type that takes calls over: those of a subclass before those of its bases.

    Lists and tuples among the values are looked into.
    """
    found: list[Any] = []
    for value in _flat(values):
        kind = type(value)
        if takes_over(value) and all(type(other) is not kind for other in found):
            place = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
            found.insert(place, value)
    return found


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


@contextmanager
def mode_aside() -> Iterator[Any]:
    """Put the innermost mode aside, as it is while it handles a call, so that what it calls goes past it."""
    thread = local.thread
    mode, before = thread.modes[-1], thread.modes
    thread.modes = before[:-1]
    try:
        yield mode
    finally:
        thread.modes = before


def overridden(function: Any, found: list[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
               refused: Callable[[Any, list[Any], Any], TypeError]) -> Any:
    """What the innermost mode, or else the first of `found` that is willing, makes of a call of `function`.

    Where all return NotImplemented, the error that `refused` makes is raised.
    """
    types, mode = tuple(map(type, found)), None
    if local.thread.modes:
        with mode_aside() as mode:
            result = mode.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for value in found:
        result = value.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise refused(function, found, mode)


# What a tensor's own does

def torch_function(cls: type[Any], func: Any, types: Any, args: tuple[Any, ...], kwargs: Any, keep: Any) -> Any:
    """Call `func` as for plain tensors, and make its results instances of `cls`, unless func is in `keep`.

    NotImplemented where another type takes part that `cls` is not derived from.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in keep else _converted(result, cls)


def _converted(result: Any, cls: type[Any]) -> Any:
    if isinstance(result, TensorBase):
        tensor: Any = result
        return tensor if isinstance(tensor, cls) else tensor.as_subclass(cls)
    if isinstance(result, (tuple, list)) and any(isinstance(item, (TensorBase, tuple, list)) for item in result):
        return type(result)(_converted(item, cls) for item in result)
    return result


# The exchange

def _stand_in(*args: Any, __dispatch: Callable[..., Any], **kwargs: Any) -> Any:
    """The code of a function that asks; what it calls it finds among its keyword defaults."""
    return __dispatch(*args, **kwargs)


@cache
def _stand_in_with(cells: int) -> CodeType:
    """The same for a function within another, of which it uses so many variables: Python wants as many here.

    Compiled, not made of the code above: only so does a frame of it hold them, as whoever looks into it expects.
    """
    names = ", ".join(f"cell{i}" for i in range(cells))
    source = f"def outer({names}):\n def inner(*args, __dispatch, **kwargs):\n  return __dispatch(*args, **kwargs)\n"
    module = compile(f"{source}  {names}\n return inner", __file__, "exec")
    outer = next(code for code in module.co_consts if isinstance(code, CodeType))
    return next(code for code in outer.co_consts if isinstance(code, CodeType))


def _code_for(function: FunctionType) -> CodeType:
    code = function.__code__
    own = _stand_in_with(len(code.co_freevars)) if code.co_freevars else _stand_in.__code__
    return own.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def exchange(function: FunctionType, name: str, public: Any, refused: Callable[[Any, list[Any], Any], TypeError],
             operator: bool, for_modes: bool) -> None:
    """From now on, let those who take calls over have those of `function`, as calls of `public`.

    Of an `operator`, a refusal is NotImplemented, so that Python asks the other operand. What is `for_modes` is not
    handed over to arguments.
    """
    original = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                            function.__closure__)
    original.__kwdefaults__, original.__annotations__ = function.__kwdefaults__, function.__annotations__
    original.__qualname__ = function.__qualname__        # which Python names where the arguments do not fit
    original.__dict__.update(function.__dict__)          # of one that is guarded, whose signature it has

    def dispatch(*args: Any, **kwargs: Any) -> Any:
        thread = local.thread
        if not thread.modes and (for_modes or not thread.enabled or (not kwargs and _plain(args))):
            return original(*args, **kwargs)
        found = overloaded((*args, *kwargs.values())) if thread.enabled and not for_modes else []
        if not found and not thread.modes:
            return original(*args, **kwargs)
        try:
            return overridden(public, found, args, kwargs, refused)
        except TypeError:
            if operator:
                return NotImplemented
            raise

    # In this order, since other threads may call the function in between.
    function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), "__dispatch": dispatch}
    function.__code__ = _code_for(function)
    function.__wrapped__ = original  # type: ignore[attr-defined]     # whose signature is shown
    function.__name__ = name                             # which `func` shows to those who are handed a call
