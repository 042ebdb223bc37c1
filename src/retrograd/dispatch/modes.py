"""Modes: how they are entered, and what a program may ask about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..foundations.modes import before_message, local as modes
from ..ops import _Core
from ..tensors.recording.gradients import Kinds
from ..tensors.recording.overriding import disabled_torch_dispatch_impl
from ..tensors.state.dispatch import DISPATCH
from . import compositions, implementations
from .calls import dispatch, handled, own_operator
from .core import overload
from .handler import handler
from .here import local
from .passes import DispatchPass, watch_saving
from .wrapped import WrapperArray


class Below:
    """Stands below the levels of transforms of functions, so that modes see the calls that the levels make."""

    inside = property(lambda self: True, lambda self, value: None)
    by_rule = property(lambda self: False, lambda self, value: None)
    tape = None
    record = staticmethod(dispatch)

    @staticmethod
    def inner(array: Any) -> Any:
        """The array itself."""
        return array

    outer = constant = inner

    @staticmethod
    def alike(alone: Any, array: Any) -> None:
        """Nothing is noted of memory."""

    @staticmethod
    def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
        """New memory."""
        return np.zeros(shape, dtype)


_BELOW = Below()


class TorchDispatchMode:
    """A mode below autograd: while it is entered, `__torch_dispatch__` receives each call of an operator.

    The method gets the operator, such as `torch.ops.aten.mul.Tensor`, the types of arguments that handle calls
    themselves, the arguments, and those given by name. It returns the result. While it runs, the mode is aside, so
    `func(*args, **kwargs)` runs the operator.

    >>> import retrograd as torch
    >>> from retrograd.utils._python_dispatch import TorchDispatchMode
    >>> class Names(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> x = torch.ones(2, requires_grad=True)
    >>> with Names():
    ...     y = x.exp() * 2
    aten.exp.default
    aten.detach.default
    aten.mul.Tensor
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Return the result of a call. Each mode defines this method."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *error: object) -> None:
        _pop_mode()

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether the mode belongs to a compiler. None does."""
        return False

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A new mode, to be entered."""
        return cls(*args, **kwargs)


def has_handler(kind: type[Any]) -> bool:
    """Whether tensors of a class handle calls below autograd."""
    hook = getattr(kind, "__torch_dispatch__", None)
    return hook is not None and hook is not disabled_torch_dispatch_impl


def _push_mode(mode: Any) -> None:
    """Enter a mode."""
    before_message("enters a dispatch mode")
    _set_stack([*local.here.modes, mode])
    DISPATCH.watch(1)


def _pop_mode(k: Any = None) -> Any:
    """Leave the innermost mode, and return it."""
    *others, mode = local.here.modes
    _set_stack(others)
    DISPATCH.watch(-1)
    return mode


def _set_stack(stack: list[Any]) -> None:
    """Have these modes be entered. The first one puts `dispatch` on the seam, and the last one takes it off."""
    here, thread = local.here, modes.thread
    had, here.modes = here.modes, stack
    if here.handling:
        return
    if stack and not had:
        here.outside = thread.transform, thread.below, thread.passing, thread.watchers, here.under
        if not thread.levels:
            here.under, thread.transform = thread.transform, dispatch
        thread.below, thread.passing = _BELOW, DispatchPass.make
        thread.watchers = (*thread.watchers, watch_saving)
    elif had and not stack:
        thread.transform, thread.below, thread.passing, thread.watchers, here.under = here.outside


def _get_current_dispatch_mode() -> Any:
    """The innermost mode; None if none is entered."""
    stack = local.here.modes
    return stack[-1] if stack else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes that are entered, the innermost last."""
    return [*local.here.modes]


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    """A context in which the innermost mode is aside."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """A context in which no mode handles calls."""
    stack = local.here.modes
    _set_stack([])
    try:
        yield stack
    finally:
        _set_stack(stack)


class no_dispatch:
    """A context in which neither modes nor classes handle calls: operators run on the memory of tensors."""

    def __enter__(self) -> None:
        here = local.here
        self._before, here.disabled = here.disabled, True

    def __exit__(self, *error: object) -> None:
        local.here.disabled = self._before


class _DisableTorchDispatch(no_dispatch):
    """A context in which neither modes nor classes handle calls: operators run on the memory of tensors."""


class _Wired:
    """Whether the parts of dispatch are in their places."""

    done = False


def _number(tensor: Any) -> Any:
    return handled(overload("_local_scalar_dense.default"), (tensor,), {})


def begin() -> None:
    """Put the parts of dispatch in their places, once."""
    if not _Wired.done:
        _Wired.done = True
        DISPATCH.add_fallback(handler)
        _Core.handler = staticmethod(own_operator)
        compositions.begin()
        implementations.begin()
        WrapperArray.number = staticmethod(_number)
        Kinds.recorded = Kinds.checked = DispatchPass.make


begin()
