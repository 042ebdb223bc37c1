"""`allow_mutation_on_saved_tensors`: saved values are copied when their memory is about to be written.

Built on hooks on saved tensors, and on the notice that is given before every write (`graph.versions.before_write`).
This module must not know nodes or operators.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Generator
from typing import Any

import numpy as np

from ..graph.versions import before_write
from ..tensors.state.base import plain
from .saved_tensors import saved_tensors_hooks

_OUTSIDE = ("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
            "originally recorded. Run the backward pass, too, before the context is left, or cleared.")


class _Held:
    """The array that a node saved, or the copy that was made of it before it was written to; None once cleared."""

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        self.array = array


def _bottom(array: Any) -> int:
    """Which memory an array is in, whatever lineage it belongs to."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array)


class _AllowMutationOnSavedContext:
    """The saved values of an open context: those in the memory they were saved from, and those copied away.

    Both are weak: it is the nodes that keep what they saved.
    """

    def __init__(self) -> None:
        self.original: weakref.WeakSet[_Held] = weakref.WeakSet()
        self.cloned: weakref.WeakSet[_Held] = weakref.WeakSet()
        self._in_memory: dict[int, weakref.WeakSet[_Held]] = {}

    def clear(self) -> None:
        """Let go of all saved values. Backward passes that need them raise AssertionError."""
        for held in [*self.original, *self.cloned]:
            held.array = None
        self.original.clear()
        self.cloned.clear()
        self._in_memory.clear()

    def _pack(self, tensor: Any) -> _Held:
        array = tensor._array
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
            raise AssertionError(_OUTSIDE)
        return plain(held.array)

    def _before_write(self, array: Any) -> None:
        """Copy what was saved from the memory that `array` is about to be written over in."""
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
    """While it is open, tensors may be written to though a backward pass needs them: they are copied just before.

    The backward pass uses the values from before the write. It is to be run inside the context, and raises
    AssertionError outside. There is one context at a time, for all threads; opening another raises RuntimeError. What
    other libraries write to the memory, through `numpy()` for example, is not noticed. Also a decorator.

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
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        _open.append(context)
        before_write.append(context._before_write)
        try:
            yield context
        finally:
            _open.remove(context)
            before_write.remove(context._before_write)
            context.clear()
