"""torch._jit_internal: marks for the compiler of scripts. No script is compiled, so the marks change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from .jit import (
    Future,
    _overload as _overload,
    _overload_method as _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)

__all__ = ["BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Final", "Future", "boolean_dispatch",
           "export", "ignore", "is_scripting", "unused"]

T = TypeVar("T")


class _BroadcastingList(Generic[T]):
    """An annotation: a list of so many elements, or one element that stands for all."""


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList
BroadcastingList4 = BroadcastingList5 = BroadcastingList6 = _BroadcastingList


def _copy_to_script_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The method as it is."""
    return fn


def boolean_dispatch(arg_name: str, arg_index: int, default: bool, if_true: Callable[..., Any],
                     if_false: Callable[..., Any], module_name: str, func_name: str) -> Callable[..., Any]:
    """A function that calls `if_true` or `if_false`, by an argument that is a bool."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_false.__doc__ or if_true.__doc__
    fn.__module__, fn.__name__ = module_name or fn.__module__, func_name or fn.__name__
    return fn
