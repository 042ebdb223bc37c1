"""What an overload of the core computes if a program calls it by itself: the public function, or the operator here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ..ops import _Core
from ..ops.overloads import OpOverload
from ..tensors.recording.calls import recorded
from .calls import Parts, handled
from .core import overloads
from .here import local


def begin() -> None:
    """Put the functions in their places."""
    Parts.implementation = staticmethod(implementation)


def called(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an overload that a program has called: by the next handler, if a handler calls it."""
    return handled(func, args, kwargs) if local.here.handling else implementation(func)(*args, **kwargs)


@cache
def implementation(func: OpOverload) -> Callable[..., Any]:
    """The function that computes an overload."""
    packet = func.overloadpacket
    op = vars(packet).get("op")
    if op is not None:
        return recorded(op)
    name = packet.__name__
    return BY_HAND.get(str(func)) or BY_HAND.get(name) or partial(packet.compute)


BY_HAND: dict[str, Callable[..., Any]] = {}
