"""What the classes of a call's arguments mean: the classes that need no further check, and who else handles a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.forks import held
from ...foundations.modes import local

if TYPE_CHECKING:
    from .base import TensorBase

# A handler of calls. It is called with the function and its arguments, and returns UNHANDLED for a call that it leaves.
Handler = Callable[[Any, tuple[Any, ...], Mapping[str, Any]], Any]

UNHANDLED: Any = object()


class Dispatch:
    """The one object `DISPATCH`, which all calls of the process read. Slots of an object are quicker than a class's.

    - `tensor` is the class of results. `wiring` fills it in.
    - `plain` is the same class. Operands of this class need no further check. While some thread has entered a mode or
      opened a profile, no operand has the class `plain`.
    - `inert` holds the types of arguments that handle no calls themselves: Tensor, Parameter and the usual types of
      options. Like `plain`, it is empty while every call must be looked at.
    - `fallback` handles calls with tensors over other kinds of arrays than NumPy's, if no mode and no class does. It
      is None until the package of sparse tensors or of meta tensors is imported.
    - `interim` is the class of the tensors that only rules see. `by_elements` makes one with a rule that works element
      by element. `refused` makes the error if every handler returns NotImplemented. `wiring` fills these in.
    """

    __slots__ = ("_lock", "_usual", "_watching", "by_elements", "fallback", "inert", "interim", "plain", "refused",
                 "tensor")

    def __init__(self) -> None:
        self.tensor: type[Any] = object
        self.plain: type[Any] = object
        self.inert: frozenset[type] = frozenset()
        self.fallback: Handler | None = None
        self.interim: type[Any] = object
        self.by_elements: Callable[..., Any] | None = None
        self.refused: Callable[[Any, list[Any], Any], TypeError]
        self._usual: set[type] = set()
        self._watching = 0
        self._lock = threading.RLock()                       # a finalizer may enter a mode
        held(self._lock)

    def spare(self, *kinds: type) -> None:
        """Add classes, whose instances handle no calls, to the usual types."""
        with self._lock:
            self._usual.update(kinds)
            self._renew()

    def begin(self, tensor: type) -> None:
        """Make a class that of results, and add it to the usual types. `wiring` calls this once."""
        self.tensor = tensor
        self.spare(tensor)

    def watch(self, change: int) -> None:
        """Make every thread look at every call (`change` is 1), or end this (-1). Calls may nest."""
        with self._lock:
            self._watching += change
            self._renew()

    def add_fallback(self, handler: Handler) -> None:
        """Ask a handler, and the handlers added before it if it returns UNHANDLED."""
        before = self.fallback

        def asked(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
            answer = handler(function, args, kwargs)
            return answer if answer is not UNHANDLED or before is None else before(function, args, kwargs)

        self.fallback = asked

    def _renew(self) -> None:
        usual = frozenset(self._usual)                      # made before: then no finalizer comes in between
        self.inert = frozenset() if self._watching else usual
        self.plain = Dispatch if self._watching else self.tensor


DISPATCH = Dispatch()


# Wrappers of tensors

def is_wrapper(tensor: TensorBase) -> bool:
    """Whether a tensor wraps other tensors, with which its class computes."""
    return type(tensor._array) is not np.ndarray and hasattr(tensor._array, "shown")


def handlers_see(*tensors: Any) -> bool:
    """Whether handlers below autograd see a call: a dispatch mode is entered, or one of the tensors is a wrapper."""
    thread = local.thread
    entered = thread.below is not None and thread.below.tape is None
    return not thread.levels and (entered or any([is_wrapper(each) for each in tensors]))


def shown(tensor: TensorBase) -> Any:
    """The tensor that programs see for a new tensor: over the array of a wrapper, one of the class of the wrapper."""
    show = None if type(tensor._array) is np.ndarray else getattr(tensor._array, "shown", None)
    return tensor if show is None else show(tensor)
