"""What a tensor keeps alive: the memory of each node behind it, in bytes, with the line that recorded the node.

The module reads tensors, nodes and contexts, and changes none of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import Site, noted
from ..graph.node import AccumulateGrad, Node, site_of
from ..graph.packed import Parcel
from ..kernels.kinds import OtherArray
from ..tensors.recording.inplace import CopySlices
from ..tensors.state.base import TensorBase
from .function_node import FunctionNode

_SHOWN = 20


class Held(NamedTuple):
    """What one node, leaf or tensor holds: the number of `arrays`, their `contents`, and `bytes` of memory.

    Shared memory counts for its first holder. `site` is the line that recorded a node, if it is known.
    """

    name: str
    arrays: int
    bytes: int
    contents: tuple[str, ...]
    site: Site | None


class MemoryHeld:
    """The result of `memory_held`: `rows`, the greatest first, and `total`, in bytes. Its text is a table."""

    def __init__(self, rows: Iterable[Held]) -> None:
        self.rows = sorted(rows, key=lambda row: row.bytes, reverse=True)
        self.total = sum([row.bytes for row in self.rows])

    def __repr__(self) -> str:
        return f"<memory held: {self.total:,} bytes by {len(self.rows)}>"

    def __str__(self) -> str:
        lines = [("bytes", "held by", "what", "recorded at")]
        lines += [(f"{row.bytes:,}", row.name, ", ".join(row.contents), "" if row.site is None else str(row.site))
                  for row in self.rows[:_SHOWN]]
        widths = [max([len(line[column]) for line in [*lines, (f"{self.total:,}", "", "")]]) for column in range(3)]
        text = [f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in lines]
        if len(self.rows) > _SHOWN:
            text.append(f"and {len(self.rows) - _SHOWN} more")
        text.append(f"{self.total:>{widths[0]},}  in all")
        if not any([row.site for row in self.rows]):
            text.append("Lines are known for operations recorded after "
                        "torch.autograd.set_detect_anomaly(True, check_nan=False).")
        return "\n".join(text)


def memory_held(tensors: Any) -> MemoryHeld:
    """The memory that a tensor, or several tensors together, keep alive: their own, and that of their graphs.

    A graph holds the values that nodes saved, the attributes of Functions' contexts, and the leaves with their
    gradients. Shared memory counts once. A view counts as the whole memory that it keeps alive. The memory that hooks
    keep is not known. Raises TypeError for any argument but a tensor or a sequence of tensors.

    >>> import retrograd as torch
    >>> x = torch.ones(1000, requires_grad=True)
    >>> y = x.exp()
    >>> print(torch.autograd.graph.memory_held(y))
    bytes  held by       what           recorded at
    4,000  the tensor    float32[1000]
    4,000  a leaf        float32[1000]
        0  ExpBackward0  float32[1000]
    8,000  in all
    Lines are known for operations recorded after torch.autograd.set_detect_anomaly(True, check_nan=False).
    """
    alone = isinstance(tensors, TensorBase)
    listed = [tensors] if alone else [*tensors] if isinstance(tensors, Iterable) else None
    search = _Search()
    for i, tensor in enumerate([tensors] if listed is None else listed):
        if not isinstance(tensor, TensorBase):
            kind = type(tensor).__name__
            raise noted(
                TypeError("memory_held(): argument 'tensors' must be Tensor or a sequence of Tensors, "
                          f"not {(kind if listed is None else f'{type(tensors).__name__} of {kind}')}"),
                "anomaly#memory-held-takes-tensors")
        if id(tensor) not in search.seen:
            search.rows.append(search.held("the tensor" if alone else f"tensor {i}", [tensor._array], None))
        search.meet(tensor)
    while search.tensors or search.nodes:
        if search.tensors:
            search.enter(search.tensors.pop())
        else:
            search.open(search.nodes.pop())
    return MemoryHeld(search.rows)


class _Search:
    """A walk over all that a tensor holds. `tensors` and `nodes` still have to be visited."""

    def __init__(self) -> None:
        self.rows: list[Held] = []
        self.tensors: list[Any] = []
        self.nodes: list[Node] = []
        self.seen: set[int] = set()
        self.counted: set[int] = set()

    def meet(self, thing: Any) -> None:
        """Put a tensor or a node on the list when it is met for the first time."""
        if thing is not None and id(thing) not in self.seen:
            self.seen.add(id(thing))
            (self.tensors if isinstance(thing, TensorBase) else self.nodes).append(thing)

    def enter(self, tensor: TensorBase) -> None:
        """Meet what a tensor leads to: its history, its base, its gradient."""
        meta = tensor._grad_meta
        if tensor._edge is not None:
            self.meet(tensor._edge.node)
        if meta is not None:
            self.meet(meta.base)
            if meta.grad is not None:
                self.rows.append(self.held("a gradient", [meta.grad._array], None))
                self.meet(meta.grad)

    def open(self, node: Node) -> None:
        """Add the row of a node, and meet what the node leads to."""
        if isinstance(node, AccumulateGrad):
            self.rows.append(self.held("a leaf", [node.variable._array], None))
            self.meet(node.variable)
            return
        found = [*saved_by(node)]
        for thing in found:
            if isinstance(thing, TensorBase):
                self.meet(thing)
        arrays = [thing._array if isinstance(thing, TensorBase) else thing for thing in found]
        if arrays:
            self.rows.append(self.held(node.name(), arrays, site_of(node)))
        for edge in node.edges:
            if edge is not None:
                self.meet(edge.node)

    def held(self, name: str, arrays: list[Array], site: Site | None) -> Held:
        """The row for some arrays. Memory that was counted before adds nothing."""
        size = 0
        for array in arrays:
            owner = owner_below(array)
            if id(owner) not in self.counted:
                self.counted.add(id(owner))
                size += owner.nbytes
        return Held(name, len(arrays), size, tuple([f"{array.dtype}{[*array.shape]}" for array in arrays]), site)


def saved_by(node: Node) -> Iterator[Any]:
    """The arrays and tensors that a node itself holds for its rules."""
    yield from _inside(node.saved)
    if isinstance(node, CopySlices):
        yield from saved_by(node.inner)
    if isinstance(node, FunctionNode):
        for value in node.attributes.values():
            yield from _inside(value)


def _inside(value: Any) -> Iterator[Any]:
    """The arrays and tensors in a value: the value itself, or the contents of a container or a packed value."""
    if isinstance(value, (np.ndarray, TensorBase, OtherArray)):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _inside(inner)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for inner in value:
            yield from _inside(inner)
    elif isinstance(value, Parcel):
        for inner in gc.get_referents(value):
            yield from _inside(inner)


def owner_below(array: Any) -> Any:
    """The array that owns the memory, below all views, lineages and stride tricks. A sparse array owns its parts."""
    below: Any = array.base
    while below is not None:
        if isinstance(below, np.ndarray):
            array = below
        below = below.obj if isinstance(below, memoryview) else getattr(below, "base", None)
    return array
