"""`allow_mutation_on_saved_tensors`: saved values are copied just before their memory is written.

The context uses hooks on saved tensors, and the notice before every write (`graph.versions.before_write`).
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Generator
from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import noted
from ..graph.versions import before_write
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from .saved_tensors import saved_tensors_hooks

_OUTSIDE = ("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
            "originally recorded.")


class _Held:
    """The array that a node saved, or its copy from before a write. None once the context was cleared."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array


def _bottom(array: Array) -> int:
    """The identity of an array's memory, for all lineages."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array)


class _AllowMutationOnSavedContext:
    """The saved values of an open context: values in their original memory, and copied values.

    The references are weak, because the nodes keep the saved values.
    """

    def __init__(self) -> None:
        self.original: weakref.WeakSet[_Held] = weakref.WeakSet()
        self.cloned: weakref.WeakSet[_Held] = weakref.WeakSet()
        self._in_memory: dict[int, weakref.WeakSet[_Held]] = {}
        self._lock = threading.RLock()                   # all threads announce their writes here

    def clear(self) -> None:
        """Release all saved values. A backward pass that needs them raises AssertionError."""
        for held in [*self.original, *self.cloned]:
            held.array = None
        self.original.clear()
        self.cloned.clear()
        self._in_memory.clear()

    def _pack(self, tensor: Tensor) -> _Held:
        array = tensor._array
        with self._lock:
            thread = self._in_memory.setdefault(_bottom(array), weakref.WeakSet())
            for held in thread:
                if held.array is array:
                    return held
            held = _Held(array)
            thread.add(held)
            self.original.add(held)
            return held

    def _unpack(self, held: _Held) -> Any:
        if held.array is None:
            raise noted(AssertionError(_OUTSIDE), "in-place#backward-outside-of-mutation",
                        instead="run the backward pass inside the context too, before it is cleared")
        return plain(held.array)

    def _before_write(self, array: Array) -> None:
        """Copy the saved values in the memory that is about to be overwritten through `array`."""
        with self._lock:
            thread = self._in_memory.get(_bottom(array), ())
            for held in [*thread]:
                if np.may_share_memory(held.array, array):
                    held.array = held.array.copy("K")
                    self._in_memory[_bottom(array)].discard(held)
                    self.original.discard(held)
                    self.cloned.add(held)


_open: list[_AllowMutationOnSavedContext] = []           # one at most, for all threads


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Generator[_AllowMutationOnSavedContext]:
    """Allow writes to tensors that a backward pass needs: their values are copied just before the write.

    The backward pass uses the values from before the write. It must run inside the context; outside it raises
    AssertionError. Only one context can be open in the process; opening a second one raises RuntimeError. The context
    does not notice writes by other libraries, for example through `numpy()`. It is also a decorator.

    >>> import retrograd as torch
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     a = torch.ones(2, requires_grad=True)
    ...     b = a.clone()
    ...     out = (b ** 2).sum()
    ...     b = b.mul_(10)
    ...     out.backward()
    >>> a.grad
    tensor([2., 2.])
    """
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context._pack, context._unpack):
        if _open:
            raise noted(
                RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested"), "in-place#nested-mutation")
        _open.append(context)
        before_write.append(context._before_write)
        try:
            yield context
        finally:
            _open.remove(context)
            before_write.remove(context._before_write)
            context.clear()
