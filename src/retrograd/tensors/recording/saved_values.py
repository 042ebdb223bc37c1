"""The `_saved_*` and `_raw_saved_*` attributes of nodes: saved values as users read them, and hooks on single ones.

This module must not know how PyTorch names what an operator saves.
"""

from __future__ import annotations

import math
from typing import Any

from ...graph import faults
from ...graph.node import RELEASED, OpNode
from ...graph.packed import Indices, Parcel
from ...graph.versions import written_since
from .saved_names import SCALARS, Attribute, attributes_of
from .saving import Hooked, SavedTensor, origin, with_history

_SAVED, _RAW = "_saved_", "_raw_saved_"
_UNSIGNED = 2**64 - 1
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def attribute(node: OpNode, name: str) -> Any:
    """The value of an attribute of a node of the op table, `_saved_…` or `_raw_saved_…`.

    Raises AttributeError where there is none; RuntimeError where a pass has let the value go, or where its memory was
    written to since.
    """
    raw = name.startswith(_RAW)
    found = attributes_of(node.op).get(name.removeprefix(_RAW if raw else _SAVED))
    if found is None or not name.startswith((_SAVED, _RAW)) or (raw and not _holds_tensors(node.op, found)):
        raise AttributeError(f"'{node.name()}' object has no attribute '{name}'")
    if found.kind == "constant":
        return found.place
    if found.kind != "saved":
        shape = _shape(node, found.place)
        return shape if found.kind == "shape" else math.prod(shape)
    if node.saves[found.place].kind != "static":
        return SavedTensor(node, found.place) if raw else _tensor(node, found.place, _saved(node)[found.place])
    value = _saved(node)[found.place]
    if not isinstance(value, Indices):
        return _encoded(value, name.removeprefix(_SAVED) in SCALARS)
    return tuple([SavedTensor(node, found.place, i) if raw else _tensor(node, found.place, array)
                  for i, array in enumerate(value.arrays)])


def attributes(node: OpNode) -> list[str]:
    """The names of all of them."""
    of_op = attributes_of(node.op)
    return [*[_SAVED + name for name in of_op],
            *[_RAW + name for name, found in of_op.items() if _holds_tensors(node.op, found)]]


def _holds_tensors(op: Any, found: Attribute) -> bool:
    if found.kind != "saved":
        return False
    return op.saves[found.place].kind in ("input", "out") or found.place == op.indices_at


def _saved(node: Any) -> tuple[Any, ...]:
    """What a node saved. Raises RuntimeError where it has been let go."""
    if node.saved is RELEASED:
        raise faults.second_pass(node)
    saved: tuple[Any, ...] = (None,) * len(node.saves) if node.saved is None else node.saved
    return saved


def _shape(node: OpNode, place: int) -> tuple[int, ...]:
    """The shape of an input: of what its gradient is to be, or where it needs none, of what was saved of it."""
    edge = node.edges[place]
    if edge is not None:
        shape: tuple[int, ...] = edge.shape
        return shape
    for i, save in enumerate(node.saves):
        if save == ("input", place):
            value = _saved(node)[i]
            return tuple(value.unpack(node).shape if isinstance(value, Parcel) else value.shape)
    raise AssertionError("an input whose shape is asked for either requires grad or is saved")


def _encoded(value: Any, scalar: bool) -> Any:
    """An option as PyTorch keeps it."""
    if isinstance(value, (tuple, list)):
        return tuple([_encoded(v, scalar) for v in value])
    if type(value) is str:
        return _REDUCTIONS.get(value, value)
    return value & _UNSIGNED if type(value) is int and not scalar else value


def _tensor(node: OpNode, place: int, value: Any) -> Any:
    """A saved value as the tensor it was; None where there is none.

    A leaf is the very tensor. Any other is made anew, over the same memory and with the same history.
    """
    if value is None:
        return None
    if isinstance(value, Hooked):
        return value.tensor(value.edge if value.number is None else node.edge_to(value.number))
    array, edge, number = origin(node, place, value)
    if written_since(array, node.number):
        raise faults.modified(node, array, *(faults.maker(edge) if number is None else (node, number)))
    return with_history(array, edge if number is None else node.edge_to(number))
