"""What the nodes of a graph have saved: values with their statistics, and the memory that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..autograd.function_node import FunctionNode, SavedOutput
from ..autograd.memory import owner_below, saved_by
from ..foundations.dtypes import Array
from ..graph.node import AccumulateGrad, Node, OpNode
from ..graph.packed import Converted, Indices, Parcel
from ..graph.versions import count
from ..kernels.sparse.arrays import SparseLike
from ..tensors.recording.inplace import CopySlices
from ..tensors.recording.saved_names import attributes_of
from ..tensors.recording.saving import Hooked
from ..tensors.state.base import TensorBase
from .statistics import Facts, Pictures, statistics

_WORDS = 120                                             # of the text of a value that is no array


class SavedValues:
    """Describes saved values. Each array is looked at once, also if several nodes have saved it."""

    def __init__(self, pictures: Pictures) -> None:
        self.pictures = pictures
        self.seen: dict[tuple[Any, ...], tuple[Any, Facts]] = {}

    def of(self, node: Node) -> list[Facts]:
        """The saved values of a node, in the order of their names."""
        return [self._described(name, value) for name, value in named_values(node)]

    def shown(self, array: Array) -> Facts | None:
        """The statistics and the picture of the value of a leaf; None for an array without numbers."""
        facts = self._facts(array) if isinstance(array, np.ndarray | SparseLike) else None
        return None if facts is None else {"stats": facts["stats"], "picture": facts["picture"]}

    def _described(self, name: str, value: Any) -> Facts:
        if isinstance(value, Converted):
            value = value.array
        elif isinstance(value, TensorBase):
            value = value._array
        elif isinstance(value, SavedOutput):
            value = value.array
        if isinstance(value, np.ndarray | SparseLike):
            return {"name": name, **self._facts(value)}
        if isinstance(value, Hooked):
            return {"name": name, "value": f"what a hook on saved tensors made: {_text(value.packed)}"}
        return {"name": name, "value": _text(value)}

    def _facts(self, array: Any) -> Facts:
        key: tuple[Any, ...] = (id(array),)
        if isinstance(array, np.ndarray):
            key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        if key not in self.seen:
            self.seen[key] = array, {                    # the array is kept, so that no other has its address
                "shape": [*array.shape], "dtype": str(array.dtype), "bytes": array.nbytes, "version": count(array),
                "stats": statistics(array), "picture": self.pictures.of(array)}
        return self.seen[key][1]


def _text(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<a {type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= _WORDS else text[:_WORDS - 1] + "…"


def named_values(node: Node) -> Iterator[tuple[str, Any]]:
    """The values that a node has saved, with the names that PyTorch gives to them."""
    saved: Any = node.saved
    if isinstance(node, OpNode) and isinstance(saved, tuple):
        for name, found in attributes_of(node.op).items():
            value = saved[found.place] if found.kind == "saved" else None
            if isinstance(value, Indices):
                yield from ((f"{name}[{i}]", array) for i, array in enumerate(value.arrays) if array is not None)
            elif value is not None:
                yield name, value
    elif isinstance(node, CopySlices) and node.inner is not None:
        yield from named_values(node.inner)
    elif isinstance(node, FunctionNode):
        if isinstance(saved, tuple):
            yield from ((f"saved_tensors[{i}]", value) for i, value in enumerate(saved) if value is not None)
        yield from ((f"ctx.{name}", value) for name, value in node.attributes.items())
    elif isinstance(saved, Parcel | np.ndarray):
        yield "saved", saved


def held_bytes(nodes: Sequence[Node]) -> dict[Node, int]:
    """The bytes of memory that each node holds by saved values. `nodes` are in the order of a pass.

    Memory that several nodes hold counts for the last of them, after which it is freed. Memory of leaves counts for
    none.
    """
    last: dict[int, tuple[Node, Any]] = {}
    leaves = {id(owner_below(node.variable._array)) for node in nodes if isinstance(node, AccumulateGrad)}
    for node in nodes:
        for thing in saved_by(node):
            array = thing._array if isinstance(thing, TensorBase) else thing
            if isinstance(array, np.ndarray | SparseLike):
                owner = owner_below(array)
                if id(owner) not in leaves:
                    last[id(owner)] = node, owner
    held = dict.fromkeys(nodes, 0)
    for node, owner in last.values():
        held[node] += owner.nbytes
    return held
