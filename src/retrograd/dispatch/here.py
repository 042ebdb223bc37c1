"""What dispatch knows in one thread: the modes that are entered, and which tensor stands for which array."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..foundations.modes import Transform, local as modes
from ..tensors.recording.operands import constant_numbers, is_number
from ..tensors.state.base import TensorBase, plain
from .wrapped import WrapperArray


class Pending:
    """A call that a handler has received: `run` computes it for other arrays in the places of those of `args`."""

    __slots__ = ("args", "func", "kwargs", "run")

    def __init__(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                 run: Callable[[dict[int, Any]], Any]) -> None:
        self.func, self.args, self.kwargs, self.run = func, args, kwargs, run


class Here:
    """The state of one thread.

    `modes` are the modes that may handle the next call, the innermost last. `handling` says that a handler runs, so
    operators are called below autograd. `disabled` says that nobody handles calls. `under` is the transform below all
    modes, and `outside` the state of the thread before the first mode was entered.

    `pending` are the calls that handlers have received, the innermost last. `passing` is a call of a public function
    that goes on to the function itself. `last` is the name of the last operator that handlers have received, with its
    arguments. `norm` holds the arguments of a batch norm that its operator here does not have. `saved` are the
    identities of the arrays that the node of a running rule has saved.

    `tensors` holds tensors that were seen, by the identity of their arrays, and `fresh` those that handlers have
    returned and that are not yet results. `numbers` are the constants of the package.
    """

    __slots__ = ("disabled", "fresh", "handling", "last", "modes", "norm", "numbers", "outside", "passing", "pending",
                 "saved", "tensors", "under")

    def __init__(self) -> None:
        self.modes: list[Any] = []
        self.handling = self.disabled = False
        self.pending: list[Pending] = []
        self.passing: tuple[Any, tuple[Any, ...]] | None = None
        self.tensors: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.fresh: dict[int, Any] = {}
        self.numbers: dict[int, Any] = {}
        self.last: tuple[str, tuple[Any, ...]] = ("", ())
        self.norm: tuple[Any, ...] = ()
        self.outside: tuple[Any, ...] = ()
        self.saved: set[int] | None = None
        self.under: Transform | None = None

    def note(self, tensor: Any) -> None:
        """Remember a tensor by its array. The array of a wrapper knows its tensor."""
        if type(tensor._array) is not WrapperArray:
            self.tensors[id(tensor._array)] = tensor

    def tensor_of(self, array: Any) -> Any:
        """The tensor that a handler is given for an array; a number for a constant of the package."""
        if type(array) is np.ndarray and is_number(array):
            return self._number(array)
        if type(array) is WrapperArray:
            return array.tensor()
        key = id(array)
        for found in (self.fresh.get(key), self.tensors.get(key)):
            if found is not None and found._array is array:
                return found
        made = plain(array)
        self.note(made)
        return made

    def _number(self, array: Any) -> Any:
        """The Python number that a 0-d constant stands for."""
        if id(array) not in self.numbers:
            self.numbers = constant_numbers()
        return self.numbers.get(id(array), array.item())


class _Local(threading.local):
    def __init__(self) -> None:
        self.here = Here()


local = _Local()


@contextmanager
def beneath(stack: list[Any], transform: Transform | None) -> Iterator[None]:
    """A context below autograd: only the modes of `stack` handle calls, and `transform` stands on the seam."""
    here, thread = local.here, modes.thread
    before = here.modes, here.handling, thread.transform, thread.grad, thread.levels, thread.watchers, here.passing
    here.modes, here.handling, here.passing = stack, True, None
    thread.transform, thread.grad, thread.levels, thread.watchers = transform, False, (), ()
    try:
        yield
    finally:
        (here.modes, here.handling, thread.transform, thread.grad, thread.levels, thread.watchers,
         here.passing) = before


def each_tensor(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with `change` of each tensor in its place, in lists, tuples and dicts too."""
    if isinstance(value, TensorBase):
        return change(value)
    if type(value) is list:
        return [each_tensor(part, change) for part in value]
    if isinstance(value, tuple):
        parts = [each_tensor(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if type(value) is dict:
        return {key: each_tensor(part, change) for key, part in value.items()}
    return value
