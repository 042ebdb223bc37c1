"""Saved values in the hands of hooks: what a pack hook is given, what is kept of it, and how it is had again.

While hooks are in force a `Packer` watches this thread's recording, and puts a `Hooked` in place of every array that a
node saved. This module must not know how users name or nest hooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...dtypes import DIFFERENTIABLE
from ...graph import versions
from ...graph.node import AccumulateGrad
from ...graph.packed import Converted, Indices, Packed, Parcel
from ...modes import local
from ..state.base import Results, meta_of, plain, with_edge
from .saved_names import packing_order

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]

_IN_PLACE = ("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
             "be modified by in-place operations as this can lead to unexpected side-effects. Hand back a new tensor, "
             "and write to that.")


class Hooked(Parcel):
    """What a pack hook made of one saved value, and the hook that makes a tensor of it again.

    `dtype` is the one that the node computes in, where that is not the value's own. `edge` is where the value came
    from; a value that the node itself made has the number of the output instead, since the edge would hold the node.
    """

    __slots__ = ("dtype", "edge", "number", "packed", "unpack_hook")

    def __init__(self, hooks: Hooks, given: Any, edge: Any, number: int | None, dtype: Any = None) -> None:
        self.packed = packed(hooks[0], given)
        self.unpack_hook, self.edge, self.number, self.dtype = hooks[1], edge, number, dtype

    def returned(self) -> Any:
        """The tensor that the unpack hook gives. Raises TypeError where it is none."""
        tensor: Any = self.unpack_hook(self.packed)
        if not isinstance(tensor, Results.tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(tensor).__name__}")
        if isinstance(self.edge, AccumulateGrad) and tensor._array.dtype not in DIFFERENTIABLE:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients. The unpack "
                               f"hook gave one of dtype {tensor.dtype} for a leaf that requires grad.")
        return tensor

    def unpack(self, node: Any) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = self.returned()._array
        return array if self.dtype is None else array.astype(self.dtype)

    def tensor(self, edge: Any) -> Any:
        """The value as users see it, with the history it had: `edge`."""
        tensor = self.returned()
        return tensor if edge is None else with_history(tensor._array, edge)


def origin(node: Any, place: int, value: Any) -> tuple[Any, Any, int | None]:
    """Of a value in `node.saved[place]` that is a tensor's: its array, the edge it came by, or which result it is."""
    if node.steps is None:
        found: tuple[Any, Any, int | None] = node.whence(value)
        return found
    kind, index = node.saves[place]
    array = value.original if isinstance(value, Converted) else value
    return array, node.edges[index] if kind == "input" else None, index if kind == "out" else None


def with_history(array: np.ndarray[Any, Any], edge: Any) -> Any:
    """A tensor over `array` that came by `edge`: the leaf of an AccumulateGrad, or one that shares it, or no leaf."""
    if not isinstance(edge, AccumulateGrad):
        return with_edge(array, edge)
    if edge.variable._array is array:
        return edge.variable
    tensor = with_edge(array, None)
    meta = meta_of(tensor)
    meta.leaf, meta.accumulator = True, weakref.ref(edge)
    return tensor


def packed(hook: Callable[[Any], Any], given: Any) -> Any:
    """What a pack hook makes of a tensor. Raises RuntimeError where it wrote to it."""
    thread, array = local.thread, given._array
    grad, thread.grad = thread.grad, False
    before = versions.count(array)
    try:
        value = hook(given)
    finally:
        thread.grad = grad
    if versions.count(array) != before:
        raise RuntimeError(_IN_PLACE)
    return value


def is_number(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array stands for a Python number, which no hook is shown."""
    return array.ndim == 0 and not array.flags.writeable


class Packer:
    """The watcher that hands what nodes save to a pair of hooks. `outer` is the one in force when it no longer is."""

    __slots__ = ("hooks", "outer")

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any], outer: Packer | None) -> None:
        self.hooks, self.outer = (pack, unpack), outer

    def __call__(self, node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Replace the values that the node saved."""
        if node.saved is None:
            return
        if node.steps is None:
            node.repack(partial(Hooked, self.hooks), results)
            return
        values: list[Any] = [*node.saved]
        for i in packing_order(node.op):
            value, (kind, place) = values[i], node.saves[i]
            if isinstance(value, Indices):
                values[i] = Indices(tuple([
                    array if array is None else Hooked(self.hooks, plain(array), None, None)
                    for array in value.arrays]))
            elif value is None or kind not in ("input", "out"):
                continue
            elif kind == "out":
                values[i] = self._output(node, place, results[place], value)
            elif not is_number(operands[place]._array):
                values[i] = self._input(node.edges[place], operands[place], value)
        if any(isinstance(value, Parcel) for value in values):
            node.saved, node.plan = Packed(values), None

    def _input(self, edge: Any, operand: Any, value: Any) -> Hooked:
        """The hook is given the operand itself, unless what was saved is a copy of it made before a write."""
        if isinstance(value, Converted):
            return Hooked(self.hooks, with_history(value.original, edge), edge, None, value.array.dtype)
        # Where a pass is recorded, a rule sees leaves as what their AccumulateGrad made.
        if operand._array is not value or type(operand._edge) is AccumulateGrad:
            operand = with_history(value, edge)
        return Hooked(self.hooks, operand, edge, None)

    def _output(self, node: Any, place: int, result: Any, value: np.ndarray[Any, Any]) -> Hooked:
        """The hook is given the result, with its history also where that is yet to be noted."""
        edge = node.edge_to(place)
        if result._edge is not edge and not (edge is None and result._edge is None):
            result = with_edge(value, edge)
        return Hooked(self.hooks, result, None, place)


def in_force() -> Packer | None:
    """The packer of this thread, whose hooks are given what is saved."""
    for watcher in local.thread.watchers:
        if isinstance(watcher, Packer):
            return watcher
    return None
