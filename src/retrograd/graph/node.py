"""Nodes and edges: what made a value, from what, and what it saved for its derivative.

An *edge* is the node that made a value; for a node of several outputs it is an `Output`, which names one of them.
A node keeps arrays, never tensors, and points only backwards, so a graph dies by reference counts alone.
This module must not know Tensor or how a node is run.
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np

from ..ops.framework import Op, Save, Step

# A version is [how often the memory was written, the place of the last write]; all views of a memory share one.
Version = list[Any]

next_number = itertools.count(1).__next__


class Released:
    """Stands for the saved values of a node that a backward pass has used and let go."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<released>"


RELEASED: Any = Released()


class Node:
    """One recorded operation. PyTorch calls it a `grad_fn`.

    `number` is the order of creation, and so a topological order. `shape` and `dtype` are the result's (tuples of
    them where there are several outputs). `saved` starts with the values its rules use, in the order of `saves`;
    behind them stand, for each saved array in turn, its version and that version's count when it was saved.
    """

    __slots__ = ("__dict__", "__weakref__", "dtype", "edges", "hooks", "number", "saved", "shape")
    number: int
    edges: tuple[Any, ...]
    saved: Any
    shape: Any
    dtype: Any
    hooks: Any

    # A node of the op table is run by its steps; a node that has none defines `apply`.
    steps: ClassVar[tuple[Step, ...] | None] = None
    saves: ClassVar[list[Save]] = []
    holomorphic: ClassVar[bool] = True
    plain: ClassVar[bool] = False          # of the op table, with one output: the engine's short way
    outputs: int = 1

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """Gradients in the order of `edges` (None where there is none), of a node without steps, in the pass `walk`."""
        raise NotImplementedError

    def name(self) -> str:
        """PyTorch's name of the operation, such as 'MulBackward0'."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that made it and which of its outputs it is; (None, 0) for a constant."""
        return tuple((None, 0) if e is None else (e.node, e.index) for e in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes about this node."""
        notes: dict[Any, Any] = self.__dict__.setdefault("_metadata", {})
        return notes

    # An edge that is a node itself stands for its only output.
    @property
    def node(self) -> Node:
        return self

    @property
    def index(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class OpNode(Node):
    """A node of the op table. Each op has a subclass of its own, named as PyTorch names it; recording fills it in."""

    __slots__ = ()
    op: ClassVar[Op]

    @property
    def versions(self) -> tuple[Any, ...]:
        """Version and count, version and count, … of the saved arrays."""
        versions: tuple[Any, ...] = () if self.saved is None else self.saved[len(self.saves):]
        return versions


class OtherNode(Node):
    """A node outside the op table: an end of the graph, one of several outputs, a slice written in place."""

    __slots__ = ()

    def __init__(self, edges: tuple[Any, ...], shape: Any, dtype: Any) -> None:
        self.number = next_number()
        self.edges = edges
        self.saved = None
        self.shape = shape
        self.dtype = dtype
        self.hooks = None


class Output(OtherNode):
    """An edge to one of several outputs of a node. The engine hands its gradient to `parent`."""

    __slots__ = ("parent", "position")

    def __init__(self, parent: Node, position: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        super().__init__((parent,), shape, dtype)
        self.parent, self.position = parent, position

    @property
    def node(self) -> Node:
        return self.parent

    @property
    def index(self) -> int:
        return self.position


class AccumulateGrad(OtherNode):
    """The end of the graph: adds into the `.grad` of a leaf, which it keeps alive. The leaf holds it weakly."""

    __slots__ = ("variable",)

    def __init__(self, variable: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        super().__init__((), shape, dtype)
        self.variable = variable


def node_class(op: Op) -> type[OpNode]:
    """The Node subclass of an op, with PyTorch's name."""
    return type(op.node_name, (OpNode,), {
        "__slots__": (), "__module__": "torch.autograd", "__doc__": f"The backward of `{op.name}`.", "op": op,
        "steps": op.steps, "saves": op.saves, "holomorphic": op.holomorphic,
        "plain": not op.variadic and len(op.differentiable) == 1})
