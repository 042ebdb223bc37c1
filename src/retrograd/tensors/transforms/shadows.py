"""Tangents, as memory beside memory.

A level of forward mode keeps, for each memory that has a tangent, a *shadow*: memory of the same layout that holds the
tangent. The tangent of an array is the window of the shadow that lies as the array lies in its memory. So every view of
an array with a tangent has the view of the tangent, and who writes to one view writes for all. An array without a
shadow has a tangent of zero.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import DIFFERENTIABLE, F32, F64, Array
from ...foundations.modes import local
from ...graph.versions import count_with, new_lineage
from ...kernels.elementwise.arithmetic import overwrite
from ...kernels.layout import address, owner_of
from ...ops.basic import copy
from ...ops.creation import full_beside
from ...ops.elementwise.arithmetic import copy as copy_elements
from ..recording.inplace import write_over, written
from ..state.base import requires
from .batched import Batched, joined, parts
from .levels import lowest, moving

if TYPE_CHECKING:
    from ...ops.values import Value
    from ..state.base import TensorBase


class Shadow:
    """The tangent of one memory.

    `levels` are those of the leading axes that the shadow has and the memory has not. `memory` is contiguous, and
    `start` is the place in it, in bytes, of the first element of `owner`, which is at the address `place`. `seen` is
    the tangent of all the memory as a NumPy array, and `whole` with its levels. `given` is the tensor that a program
    gave as the tangent, while its numbers are those of the shadow; if it is `shared`, its memory is the shadow.
    """

    __slots__ = ("given", "levels", "memory", "owner", "place", "seen", "shared", "start", "whole")
    owner: Any                                             # a weak reference, which forgets the shadow
    given: Any

    def __init__(self, memory: Any, start: int, levels: tuple[Any, ...], seen: Any, whole: Any) -> None:
        self.memory, self.start, self.levels, self.seen, self.whole = memory, start, levels, seen, whole
        self.place: int | None = None                      # asked for by the first view
        self.given, self.shared = None, False

    def under(self, array: Array, owner: Any, levels: tuple[Any, ...]) -> Any:
        """The tangent of an array in this memory; `levels` are those of the array."""
        if array is owner:
            seen = self.seen
        elif (array.size == owner.size > 0 and array.itemsize == owner.itemsize and array.flags.c_contiguous
              and self.seen.flags.c_contiguous):           # a view of all the memory
            seen = self.seen.view(array.dtype).reshape((*self.seen.shape[:len(self.levels)], *array.shape))
        else:
            if self.place is None:
                self.place = address(owner)
            seen = self.window(array, self.start + address(array) - self.place)
        if levels:
            return joined((*self.levels, *levels), seen)
        return Batched(self.levels, seen) if len(self.levels) == 1 else joined(self.levels, seen)

    def rewritten(self) -> None:
        """Note a write. It is one to the tensor that was given, too, if the tensor has the memory and no history."""
        if self.shared and self.given is not None and not requires(self.given):
            written(self.given)
        else:
            self.given = None

    def window(self, array: Array, offset: int) -> Any:
        """The elements beside those of an array whose first element is `offset` bytes into the memory."""
        lead = len(self.levels)
        shape = (*self.seen.shape[:lead], *array.shape)
        if not array.size:                                 # which may lie behind the end of the memory
            return np.empty(shape, array.dtype)
        return np.ndarray(shape, array.dtype, self.memory, offset, (*self.seen.strides[:lead], *array.strides))


class Shadows:
    """The shadows of one level, by the identity of the array that owns the memory."""

    __slots__ = ("__weakref__", "by_owner", "itself")

    def __init__(self) -> None:
        self.by_owner: dict[int, Shadow] = {}
        self.itself = weakref.ref(self)

    def beside(self, physical: Any) -> Shadow | None:
        """The shadow of the memory of a NumPy array, if it has one."""
        return self.by_owner.get(id(physical if physical.base is None else owner_of(physical)))

    def tangent(self, array: Any) -> Any:
        """The tangent of an array; None if it is zero."""
        physical, levels = (array, ()) if type(array) is np.ndarray else parts(array)
        owner = physical if physical.base is None else owner_of(physical)
        shadow = self.by_owner.get(id(owner))
        if shadow is None:
            return None
        return shadow.whole if physical is owner and not levels else shadow.under(physical, owner, levels)

    def give(self, array: Any, tangent: Any) -> None:
        """Make `tangent`, of the shape and dtype of `array`, its tangent. None stands for zero.

        The tangent is kept without a copy if it lies as the array does and owns its memory; so it must be new.
        """
        physical, levels = (array, ()) if type(array) is np.ndarray else parts(array)
        dtype = physical.dtype
        if dtype is not F32 and dtype is not F64 and dtype not in DIFFERENTIABLE:
            return
        owner = physical if physical.base is None else owner_of(physical)
        shadow = self.by_owner.get(id(owner))
        if tangent is None:
            if shadow is not None:
                shadow.rewritten()
                self._write(shadow.under(physical, owner, levels), full_beside(array, array.shape, array.dtype, 0))
            return
        given, given_levels = (tangent, ()) if type(tangent) is np.ndarray else parts(tangent)
        lead = len(given_levels) - len(levels)
        if shadow is None and given_levels[lead:] == levels and (
                physical.flags.c_contiguous or (physical.flags.forc and not lead)) and (
                physical is owner or _covers(physical, owner)):
            if given.base is None and given.strides[lead:] == physical.strides and given.flags.forc:
                pass
            elif physical.flags.c_contiguous and not moving(tangent) and lowest() is None:
                given = given.copy()
            else:
                given = memory(given.shape, given.dtype) if lead else memory_like(physical)
                self._write(joined(given_levels, given), tangent)
            seen = given if physical is owner else given.reshape((*given.shape[:lead], *owner.shape))
            whole: Any = seen
            if lead:
                whole = tangent if seen is tangent.array and not levels else Batched(given_levels[:lead], seen)
            shadow = Shadow(given, 0, given_levels[:lead], seen, whole)
            self._keep(owner, shadow)
            return
        extra = tuple([level for level in given_levels if level not in levels])
        if shadow is None or not set(extra) <= set(shadow.levels):
            shadow = self._widened(owner, shadow, extra, given, given_levels)
        if shadow.given is not None:
            shadow.rewritten()
        self._write(shadow.under(physical, owner, levels), tangent)

    def share(self, array: Any, tensor: TensorBase) -> bool:
        """Make the memory of a tensor the tangent of an array that owns its memory. False if it does not lie alike."""
        given = tensor._array
        if type(array) is not np.ndarray or type(given) is not np.ndarray or lowest() is not None:
            return False
        if given.dtype != array.dtype or given.strides != array.strides or moving(given):
            return False
        if owner_of(array) is not array:
            return False
        if not (given.flags.forc and given.flags.writeable and array.flags.forc):
            return False
        shadow = Shadow(given, 0, (), given, given)
        shadow.shared = True
        self._keep(array, shadow)
        return True

    def _keep(self, owner: Any, shadow: Shadow) -> None:
        key = id(owner)
        self.by_owner[key] = shadow
        shadow.owner = weakref.ref(owner, partial(_forget, self.itself, key))

    def _widened(self, owner: Any, shadow: Shadow | None, extra: tuple[Any, ...], given: Any,
                 given_levels: tuple[Any, ...]) -> Shadow:
        """A shadow of the memory with axes for more levels, zero or with what the former shadow held."""
        had = () if shadow is None else shadow.levels
        more = tuple([level for level in extra if level not in had])
        sizes = (*[given.shape[given_levels.index(level)] for level in more],
                 *(shadow.seen.shape[:len(had)] if shadow else ()))
        made = _zeros_like(owner, (*more, *had), sizes)
        self._keep(owner, made)
        if shadow is not None:
            self._write(made.under(owner, owner, ()), joined(had, shadow.seen))
        return made

    @staticmethod
    def _write(view: Any, tangent: Value) -> None:
        """Write a tangent over the memory of another. Levels below may find tangents of their own in it."""
        (array, hidden), (given, given_hidden) = parts(view), parts(tangent)
        if hidden == given_hidden and not moving(view, tangent):
            put(array, given)
        else:
            copy.write(put_over, view, tangent)


def put(array: Array, numbers: Any) -> None:
    """Write numbers over NumPy memory that no level in effect has a tangent for."""
    write = lowest()
    if write is None:
        np.copyto(array, numbers, casting="unsafe")
    else:
        write(copy_elements, partial(write_over, copy_elements, overwrite), (array, array, numbers), True)


def memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """New memory, which is written over."""
    below_all = local.thread.below
    return np.empty(shape, dtype) if below_all is None else below_all.zeros(shape, dtype)


def memory_like(array: Array) -> Any:
    """New memory that lies as an array does, which is contiguous."""
    if lowest() is None:
        return np.empty_like(array)
    return memory(array.shape, array.dtype) if array.flags.c_contiguous else memory(array.shape[::-1], array.dtype).T


def alike(array: Array) -> Any:
    """The array, as memory of its own for shadows; in the same place if no level in effect has a tangent for it."""
    return copy.run(array, "K") if moving(array) else apart(array)


def apart(array: Array) -> Any:
    """The same memory, as memory of its own for shadows. Writes to either are counted together."""
    physical, levels = parts(array)
    alone = new_lineage(physical)
    count_with(alone, physical)
    below_all = local.thread.below
    if below_all is not None:
        below_all.alike(alone, physical)
    return Batched(levels, alone) if levels else alone


def put_over(view: Any, tangent: Value) -> None:
    """Write an array over another, for NumPy arrays."""
    np.copyto(view, tangent, casting="unsafe")


def _covers(array: Array, owner: Any) -> bool:
    """Whether a view has all the memory of its owner, in the owner's order."""
    return (array.size == owner.size > 0 and array.dtype is owner.dtype
            and array.flags.c_contiguous and owner.flags.c_contiguous)


def _forget(shadows: Any, key: int, reference: Any) -> None:
    found = shadows()
    if found is not None:
        found.by_owner.pop(key, None)


def _zeros_like(owner: Any, levels: tuple[Any, ...], sizes: tuple[int, ...]) -> Shadow:
    """A shadow of zeros, with leading axes of these sizes for the levels."""
    spans = [(n - 1) * stride for n, stride in zip(owner.shape, owner.strides)] if owner.size else []
    low, high = sum([s for s in spans if s < 0]), sum([s for s in spans if s > 0]) + owner.itemsize
    strides, step = [], high - low
    for n in reversed(sizes):
        strides.append(step)
        step *= n
    below_all, room = local.thread.below, (step // owner.itemsize,)
    zeros = np.zeros(room, owner.dtype) if below_all is None else below_all.zeros(room, owner.dtype)
    shape = (*sizes, *owner.shape)
    seen = np.empty(shape, owner.dtype) if not owner.size else np.ndarray(
        shape, owner.dtype, zeros, -low, (*reversed(strides), *owner.strides))
    return Shadow(zeros, -low, levels, seen, joined(levels, seen))
