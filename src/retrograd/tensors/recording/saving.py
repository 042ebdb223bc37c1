"""Hooks on saved values: what a pack hook is given, what the node keeps, and how the value is unpacked.

While hooks are in force, a `Packer` watches the recording of this thread, and replaces every array that a node saved by
a `Hooked`. `autograd` has the contexts by which users set and nest hooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import DIFFERENTIABLE, Array
from ...foundations.errors import noted
from ...foundations.modes import as_program, local
from ...graph import versions
from ...graph.crossings import original
from ...graph.node import AccumulateGrad
from ...graph.packed import Converted, Indices, Packed, Parcel
from ...tensors.state.base import TensorBase
from ..state.base import faced, meta_of, plain, with_edge
from ..state.dispatch import DISPATCH, shown
from .operands import is_number
from .saved_names import packing_order

if TYPE_CHECKING:
    from ...graph.node import Node

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]

_IN_PLACE = ("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
             "be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
             "issue if you need to perform in-place operations on the input to a pack hook.")


class Hooked(Parcel):
    """The result of a pack hook for one saved value, and the hook that unpacks it.

    `dtype` is the type that the node computes in, if the value has another type. `edge` is the history of the value. A
    result of the node itself has `number`, that of the output, instead, since an edge would keep the node alive.

    If the value belongs to transforms in effect, the hook packs each of its pieces, `packed` is a tuple of the results,
    and `together` makes the array of the pieces again.
    """

    __slots__ = ("dtype", "edge", "number", "packed", "together", "unpack_hook")

    def __init__(self, hooks: Hooks, given: TensorBase, edge: Any, number: int | None, dtype: Any = None) -> None:
        levels = local.thread.levels
        found = levels[-1].pieces(given._array) if levels else None
        if found is None:
            self.packed, self.together = packed(hooks[0], given), None
        else:
            pieces, self.together = found
            self.packed = tuple([packed(hooks[0], plain(piece)) for piece in pieces])
        self.unpack_hook, self.edge, self.number, self.dtype = hooks[1], edge, number, dtype

    def returned(self) -> Any:
        """The tensor that the unpack hook returns. Raises TypeError if the hook returns no tensor."""
        return self._returned(self.packed) if self.together is None else plain(self.together(self._arrays()))

    def _arrays(self) -> list[Array]:
        """The array that the unpack hook returns, or those of all pieces."""
        return [self._returned(each)._array for each in ((self.packed,) if self.together is None else self.packed)]

    def _returned(self, packed: Any) -> Any:
        tensor: Any = as_program(self.unpack_hook, packed)
        if not isinstance(tensor, DISPATCH.tensor):
            raise noted(
                TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                          f"type {type(tensor).__name__}"), "hooks#unpack-hook-returns-a-tensor")
        if isinstance(self.edge, AccumulateGrad) and tensor._array.dtype not in DIFFERENTIABLE:
            raise noted(
                RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
                "hooks#floating-point-from-unpack-hook",
                because=f"the unpack hook returned a tensor of dtype {tensor.dtype} for a leaf that requires grad")
        return tensor

    def unpack(self, node: Node) -> Array:
        arrays = self._arrays()
        if self.dtype is not None:
            arrays = [array.astype(self.dtype) for array in arrays]
        array: Array = arrays[0] if self.together is None else self.together(arrays)
        return array

    def tensor(self, edge: Any) -> Any:
        """The value as users see it, with its history `edge`."""
        tensor = self.returned()
        return tensor if edge is None else with_history(tensor._array, edge)


def origin(node: Any, place: int, value: Any) -> tuple[Any, Any, int | None]:
    """The array of the value in `node.saved[place]`, its edge, or its number if it is a result of the node."""
    if node.steps is None:
        found: tuple[Any, Any, int | None] = node.whence(value)
        return found
    kind, index = node.saves[place]
    array = value.original if isinstance(value, Converted) else value
    return array, original(node.edges[index]) if kind == "input" else None, index if kind == "out" else None


def with_history(array: Array, edge: Any) -> Any:
    """A tensor over `array` with this edge. For an AccumulateGrad it is the leaf, or a tensor that shares the edge."""
    if not isinstance(edge, AccumulateGrad):
        return with_edge(array, edge)
    if edge.variable._array is array:
        return edge.variable
    tensor = with_edge(array, None)
    meta = meta_of(tensor)
    meta.leaf, meta.accumulator = True, weakref.ref(edge)
    return tensor


def packed(hook: Callable[[Any], Any], given: TensorBase) -> Any:
    """The result of a pack hook for a tensor. Raises RuntimeError if the hook wrote to the tensor."""
    thread, array = local.thread, given._array
    before = versions.count(array)
    grad, thread.grad = thread.grad, False
    try:
        value = as_program(hook, faced(shown(given)))
    finally:
        thread.grad = grad
    if versions.count(array) != before:
        raise noted(RuntimeError(_IN_PLACE), "hooks#pack-hook-writes", instead="return a new tensor")
    return value


class Packer:
    """The watcher that calls a pair of hooks for the values that nodes save. `outer` is the packer to restore later."""

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
                values[i] = self._input(original(node.edges[place]), operands[place], value)
        if any(isinstance(value, Parcel) for value in values):
            node.saved, node.plan = Packed(values), None

    def _input(self, edge: Any, operand: TensorBase, value: Array) -> Hooked:
        """Call the hook with the operand itself, unless the saved value is a copy that was made before a write."""
        if isinstance(value, Converted):
            return Hooked(self.hooks, with_history(value.original, edge), edge, None, value.array.dtype)
        # In a recorded pass, a rule gets leaves as tensors with their AccumulateGrad as the edge.
        if operand._array is not value or type(operand._edge) is AccumulateGrad:
            operand = with_history(value, edge)
        return Hooked(self.hooks, operand, edge, None)

    def _output(self, node: Any, place: int, result: TensorBase, value: Array) -> Hooked:
        """Call the hook with the result and its history, even if the result does not have that history yet."""
        edge = node.edge_to(place)
        if result._edge is not edge and not (edge is None and result._edge is None):
            result = with_edge(value, edge)
        return Hooked(self.hooks, result, None, place)


def in_force() -> Packer | None:
    """The packer in force in this thread; its hooks are called for saved values."""
    for watcher in local.thread.watchers:
        if isinstance(watcher, Packer):
            return watcher
    return None
