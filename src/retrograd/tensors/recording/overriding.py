"""`__torch_function__`: which modes and arguments handle a call of a public function, and in which order.

Plain tensors cost nothing extra. A public function must check the type of its tensor argument anyway, so it checks
whether the type is in `DISPATCH.inert`. Calls with other types come here. While a mode is entered or a profile is open
in some thread, that set is empty, and every call comes here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import is_
from typing import Any

import numpy as np

from ...foundations.devices import device
from ...foundations.dtypes import dtype
from ...foundations.errors import warn
from ..arguments.data import is_foreign
from ..arguments.options import layout, memory_format
from ..state.base import TensorBase
from ..state.dispatch import DISPATCH, UNHANDLED


class _Here:
    """The state of one thread: whether arguments handle calls, and the modes that are entered, the innermost last.

    `casting` is what autocast does with a call that no other handler takes; None while autocast is off. `calling` is
    the call that a handler has passed on; None if no handler has.
    """

    __slots__ = ("calling", "casting", "enabled", "modes")

    def __init__(self) -> None:
        self.calling: tuple[Any, tuple[Any, ...]] | None = None
        self.casting: Callable[[Any, tuple[Any, ...], Mapping[str, Any]], Any] | None = None
        self.enabled = True
        self.modes: list[Any] = []


class _Local(threading.local):
    def __init__(self) -> None:
        self.thread = _Here()


local = _Local()


# The types of options, and numbers: such arguments handle no calls.
DISPATCH.spare(bool, int, float, complex, str, type(None), slice, type(...), np.ndarray, type, dtype, device, layout,
               memory_format)


class _Switch:
    """A context in which no argument handles calls. If `modes_aside`, modes handle none either."""

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
    """A context in which the `__torch_function__` of arguments is not called."""


class DisableTorchFunction(_Switch):
    """A context in which neither the `__torch_function__` of arguments nor that of a mode is called."""

    modes_aside = True


def disabled_torch_function_impl(func: Any, types: Any, args: tuple[Any, ...] = (),
                                 kwargs: dict[str, Any] | None = None) -> Any:
    """The `__torch_function__` of a class whose instances handle no calls, such as Parameter: it calls the function."""
    return passed_on(func, args, kwargs or {})


def disabled_torch_dispatch_impl(func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """The `__torch_dispatch__` of a class whose instances handle no calls below autograd, such as Tensor."""
    return NotImplemented


def passed_on(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a function that no argument handles.

    Raises TypeError if the function comes back with the same arguments: then it asks them in another way than this
    package does, and so belongs to another package.
    """
    thread = local.thread
    before = thread.calling
    if before is not None and not thread.enabled and before[0] == func and _same(before[1], args):
        raise TypeError(f"{_name(func)}() is a function of another package, and takes no tensor of retrograd. Hand it "
                        "the numbers: x.detach().numpy()")
    thread.calling = func, args
    try:
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    finally:
        thread.calling = before


def _same(args: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(args) == len(others) and all(map(is_, args, others))


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", function))


def _refuse_foreign(function: Callable[..., Any], value: Any) -> None:
    """Raise TypeError for a tensor of PyTorch itself: it would pass the call back, without an end."""
    kind = type(value)
    if is_foreign(kind):
        raise TypeError(f"{_name(function)}() is a function of retrograd, and takes no tensor of another package: "
                        f"{kind.__module__}.{kind.__name__}. Hand it the numbers: "
                        "retrograd.from_numpy(x.detach().numpy())")


# The handlers of a call

def takes_over(value: Any) -> bool:
    """Whether a value handles calls: its class has a `__torch_function__` of its own that is not disabled."""
    kind = type(value)
    if kind in DISPATCH.inert or kind is DISPATCH.tensor:
        return False
    hook = getattr(kind, "__torch_function__", None)
    return hook is not None and hook is not disabled_torch_function_impl and not isinstance(value, type)


def overloaded(values: Iterable[Any]) -> list[Any]:
    """The first value of each type that handles calls. Values of a subclass come before those of its bases.

    The elements of lists and tuples count as values.
    """
    found: list[Any] = []
    inert = DISPATCH.inert
    for value in values:
        kind = type(value)
        if kind in inert:
            continue
        for part in value if kind is list or kind is tuple else (value,):
            if type(part) not in inert and takes_over(part):
                insert_handler(found, part)
    return found


def insert_handler(found: list[Any], value: Any) -> None:
    """Put a value that handles calls into its place, if none of its type is there."""
    kind = type(value)
    if all(type(other) is not kind for other in found):
        found.insert(next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found)), value)


def flat(values: Iterable[Any]) -> Iterator[Any]:
    """The values, with the elements of lists and tuples in place of these."""
    for value in values:
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


def tensors_in(values: Any, within: tuple[Any, ...] = ()) -> list[TensorBase]:
    """The tensors in arguments, in lists, tuples and dicts too. `within` holds the containers that lead to `values`.

    A container that holds itself is not entered again.
    """
    found: list[TensorBase] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple, dict)) and not any([value is outer for outer in within]):
            found += tensors_in(value.values() if isinstance(value, dict) else value, (*within, value))
    return found


@contextmanager
def mode_aside() -> Iterator[Any]:
    """Disable the innermost mode while it handles a call, so that it does not handle the calls that it makes."""
    thread = local.thread
    mode, before = thread.modes[-1], thread.modes
    thread.modes = before[:-1]
    try:
        yield mode
    finally:
        thread.modes = before


def overridden(function: Callable[..., Any], found: list[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
               refused: Callable[[Any, list[Any], Any], TypeError]) -> Any:
    """The result of a call of `function`, from the innermost mode or the first of `found` that handles it.

    If all return NotImplemented, the error that `refused` makes is raised.
    """
    types, mode = tuple(map(type, found)), None
    if local.thread.modes:
        with mode_aside() as mode:
            result = mode.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for value in found:
        _refuse_foreign(function, value)
        handler = value.__torch_function__
        if getattr(handler, "__self__", None) is value:
            warn("Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, "
                 "please define it as a classmethod.", UserWarning)
        result = handler(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise refused(function, found, mode)


def answers(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments that handle a call, whatever they stand for."""
    return overloaded((*args, *kwargs.values())) if local.thread.enabled else []


def handled(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], *,
            for_modes: bool = False) -> Any:
    """The result that a mode or an argument gives to a call of `function`; UNHANDLED if none of them handles calls.

    The result for sparse tensors counts as given by them. If the call is `for_modes`, only modes handle it. Raises
    TypeError if all handlers return NotImplemented.
    """
    thread = local.thread
    found = [] if for_modes else answers(args, kwargs)
    if not found and not thread.modes:
        answer = UNHANDLED if thread.casting is None else thread.casting(function, args, kwargs)
        handler = DISPATCH.fallback
        return answer if answer is not UNHANDLED or handler is None else handler(function, args, kwargs)
    return overridden(function, found, args, kwargs, DISPATCH.refused)


def handled_operator(method: str, args: tuple[Any, ...]) -> Any:
    """As `handled`, for one of Python's operators that stands for a method: NotImplemented in place of a TypeError, so
    that Python asks the other operand.
    """
    try:
        return handled(getattr(DISPATCH.tensor, method), args, {})
    except TypeError:
        return NotImplemented


def answered(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result that an argument gives to a call of `function`; UNHANDLED if none handles calls."""
    found = answers(args, kwargs)
    return overridden(function, found, args, kwargs, DISPATCH.refused) if found else UNHANDLED


def asked(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result that a mode or an argument gives to a call of an operator that a program has defined, which no sparse
    tensor knows; UNHANDLED if none of them handles calls.
    """
    found = answers(args, kwargs)
    if not found and not local.thread.modes:
        return UNHANDLED
    return overridden(function, found, args, kwargs, DISPATCH.refused)


def cast_by_autocast(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a call within a composed function if autocast casts its operands; UNHANDLED otherwise."""
    casting = local.thread.casting
    return UNHANDLED if casting is None else casting(function, args, {})


# The `__torch_function__` of Tensor

def torch_function(cls: type[Any], func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                   keep: Any) -> Any:
    """Call `func` as for plain tensors, and make its results instances of `cls`, unless `func` is in `keep`.

    Returns NotImplemented if `cls` is not derived from all of `types`.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    result = passed_on(func, args, kwargs or {})
    if func in keep:
        return result
    with DisableTorchFunctionSubclass():
        return _converted(result, cls)


def _converted(result: Any, cls: type[Any]) -> Any:
    if isinstance(result, TensorBase):
        tensor: Any = result
        return tensor if isinstance(tensor, cls) else tensor.as_subclass(cls)
    if isinstance(result, (tuple, list)) and any(isinstance(item, (TensorBase, tuple, list)) for item in result):
        return type(result)(_converted(item, cls) for item in result)
    return result
