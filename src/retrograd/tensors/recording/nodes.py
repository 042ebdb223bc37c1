"""The node that a recorded call makes, with the values that the rules of the needed gradients save.

The quickest closures of `calls` repeat this code, since a Python call would cost more than the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from ...foundations.dtypes import Shape
from ...graph.node import OpNode, Plan, node_class, plan_of
from ...graph.packed import Converted, Packed, look_after_indices
from ...graph.versions import next_number
from ...ops.framework import Op, Save
from ...tensors.state.base import TensorBase

_classes: dict[Op, type[OpNode]] = {}


@cache
def class_of(op: Op) -> type[OpNode]:
    """The node class of an op, the same for all threads."""
    return _classes.setdefault(op, node_class(op))         # without a lock: a finalizer may come in between


def made_node(kind: type[OpNode], plan: Plan | None, edges: tuple[Any, ...], shape: Shape | None,
              dtype: np.dtype[Any] | None, saved: Any) -> OpNode:
    """A node with the class and the plan of an op, and all its fields set."""
    node = kind()
    node.number = next_number()
    node.edges = edges
    node.shape = shape
    node.dtype = dtype
    node.hooks = None
    node.plan = plan
    node.saved = saved
    return node


def making(op: Op) -> Callable[[tuple[Any, ...], Any, Any, Any], OpNode]:
    """`made_node` for an op: a function of the edges, the shape, the dtype and the saved values."""
    return partial(made_node, class_of(op), plan_of(op))


def new_node(op: Op, operands: Any, arrays: Any, edges: tuple[Any, ...], args: tuple[Any, ...],
             results: Sequence[TensorBase]) -> OpNode:
    """A node that saves the values that the needed rules name. The caller still sets its shape and dtype."""
    if not op.saves:
        return made_node(class_of(op), plan_of(op), edges, None, None, None)
    needed = saved_for(op, edges)
    saved: list[Any] = []
    for i, (kind, index) in enumerate(op.saves):
        if i not in needed:
            saved.append(None)
        elif kind == "static":
            saved.append(args[index])
        elif kind == "input":
            saved.append(arrays[index])
        elif kind == "out":
            saved.append(results[index]._array)
        elif op.variadic:
            saved.append([getattr(a, kind) for a in arrays])
        else:
            saved.append(getattr(arrays[index], kind))
    node = made_node(class_of(op), plan_of(op), edges, None, None, tuple(saved))
    look_after_indices(node)
    return node


def keeping(op: Op, mask: int) -> tuple[bool, ...] | None:
    """Which entries of `op.saves` to keep if the inputs in the bit mask require grad; None if no input does."""
    needed = frozenset().union(*(op.uses.get(i, ()) for i in range(op.arity) if mask >> i & 1))
    return tuple(i in needed for i in range(len(op.saves))) if needed else None


def choosing(kept: list[Save]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
    """The function that takes the values to save from (None, input, its shape, its dtype, result, *options)."""
    order = ("nothing", "input", "shape", "dtype", "out")
    at = [len(order) + index - 1 if kind == "static" else order.index(kind) for kind, index in kept]
    if len(at) == 1:
        return itemgetter(slice(at[0], at[0] + 1))           # with a single place, itemgetter returns no tuple
    return itemgetter(*at) if at else None


def taking(op: Op, present: tuple[bool, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...] | None]:
    """The function that takes what an op saves from (None, *operands, *options, result, *strides of operands 1 and 2).

    `present` says which operands have an edge. Raises TypeError if the op saves anything else, or a single value.
    """
    needed, last = _needed(op, present), len(op.arguments) + 1
    at = [0 if i not in needed else last if kind == "out" else last + index if kind == "strides" else index + 1
          for i, (kind, index) in enumerate(op.saves)]
    if len(at) < 2 or not {save.kind for save in op.saves} <= {"static", "input", "out", "strides"}:
        raise TypeError(f"{op.name} does not save several arrays, options and strides, and nothing else")
    return itemgetter(*at)


def saved_for(op: Op, edges: tuple[Any, ...]) -> frozenset[int]:
    """Which entries of `op.saves` are used by the gradients that go along these edges."""
    return _needed(op, () if op.variadic else tuple([edge is not None for edge in edges]))


@cache
def _needed(op: Op, present: tuple[bool, ...]) -> frozenset[int]:
    return frozenset().union(*(at for i, at in op.uses.items() if op.variadic or present[i]))


def look_after_converted(node: OpNode, operands: Any, arrays: Any, first: int = 0) -> None:
    """Make the node notice writes to operands, from the `first` on, whose copies in another dtype it has saved."""
    if not node.op.saved_arrays:
        return
    saved = node.saved and [*node.saved]
    for i in node.op.saved_arrays:
        kind, index = node.saves[i]
        if kind == "input" and index >= first and saved[i] is not None and (
                arrays[index] is not operands[index]._array):
            saved[i] = Converted(saved[i], operands[index]._array, node.edges[index])
            node.saved, node.plan = Packed(saved), None
