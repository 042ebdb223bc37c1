"""Gradients of gradients of a compiled function: a backward pass that is recorded, or that a transform runs.

The plan of the backward pass computes with arrays, and records nothing. So such a pass needs the graph that the program
itself would have recorded. `Graph` is a description of that of the traced call. The plan of the call runs again, on the
same arguments, for the values that the nodes have saved. Then nodes like those of the program are made, and the engine
runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...graph import versions
from ...graph.node import OtherNode, Output
from ...graph.packed import Indices, Packed
from ...kernels.kinds import replaced, with_numbers
from ...tensors.recording.gradients import run_backward
from ..program.lines import Ref


class To(NamedTuple):
    """An edge of a graph: to an output of a node, or to the end of the graph with this number if `node` is None.

    `output` is None if the node itself is the edge.
    """

    node: int | None
    output: int | None


class InIndex(NamedTuple):
    """The arrays of an index among saved values."""

    arrays: tuple[Any, ...]


class Part(NamedTuple):
    """A node of a graph: its class, the values of its slots, and its edges. In `saved`, a `Ref` stands for an array,
    and `InIndex` for the arrays of an index.
    """

    kind: Any
    slots: dict[str, Any]
    edges: tuple[To | None, ...]
    saved: Any
    packed: bool


class Graph:
    """The graph of the results of a call. `parts` are in the order in which the program has made the nodes.

    `roots` are the edges of the results, and `values` the numbers of the saved values.
    """

    def __init__(self, parts: list[Part], roots: list[To], values: list[int]) -> None:
        self.parts, self.roots, self.values = parts, roots, values

    def made(self, ends: Sequence[Any], outer: Sequence[Any], arrays: dict[int, Array]) -> list[Any]:
        """The edges of the results in a new graph, which leads to `ends`. `arrays` are the saved ones, by number, and
        `outer` are the edges that the program knows the results by.
        """
        nodes: list[Any] = []

        def edge(to: To | None) -> Any:
            if to is None:
                return None
            found = ends[to.output or 0] if to.node is None else nodes[to.node]
            return found if to.node is None or to.output is None else Output(found, to.output)

        for place, part in enumerate(self.parts):
            own = {to.output or 0: edge for to, edge in zip(self.roots, outer, strict=True) if to.node == place}
            node = object.__new__(_result(part.kind) if own else part.kind)
            if own:
                node.outer = own
            for name, value in part.slots.items():
                setattr(node, name, value)
            node.number, node.hooks = versions.next_number(), None
            node.edges = tuple(map(edge, part.edges))
            saved = replaced(part.saved, Ref, lambda ref: arrays[ref.number])
            saved = replaced(saved, InIndex, lambda index: Indices(
                replaced(index.arrays, Ref, lambda ref: arrays[ref.number])))
            node.saved = Packed(saved) if part.packed else saved
            nodes.append(node)
        return [*map(edge, self.roots)]


@cache
def _result(kind: Any) -> Any:
    """The class of a node that has made a result. If the node has saved the result, gradients of it go to the edge that
    the program knows, where its hooks are.
    """
    def edge_to(self: Any, index: int) -> Any:
        return self.outer[index] if index in self.outer else kind.edge_to(self, index)

    return type(kind.__name__, (kind,), {"__slots__": ("outer",), "__module__": kind.__module__, "edge_to": edge_to})


class End(OtherNode):
    """The identity, where a graph that was made again ends. So hooks of leaves are called by the outer pass alone."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """The gradient."""
        return cotangents


class SecondPasses:
    """Recorded backward passes of the results of a recipe.

    `plan` makes what runs the call again for the saved values that lines have made. `made` are the numbers of these
    values. `given` are what each run is given: the place of a tensor among those that the guard finds, or memory
    that each call writes anew. `known` are those of the saved values among the former, by their number, and `fixed`
    those that are the same arrays in each call. `read` are other arrays from outside that the lines read. `used`
    says whether the program has run such a pass.
    """

    def __init__(self, graph: Graph, plan: Callable[[], Callable[..., Any]], made: list[int], given: list[int | Array],
                 known: dict[int, int], fixed: dict[int, Array], read: list[Array]) -> None:
        self.graph, self.plan, self.made, self.given = graph, plan, made, given
        self.known, self.fixed, self.read = known, fixed, read
        self.run: Callable[..., Any] | None = None
        self.used = False

    def of_call(self, inputs: list[Any]) -> SecondPass:
        """Those of one call. `inputs` are the tensors that the guard has found."""
        return SecondPass(self, [each.copy() if isinstance(each, np.ndarray) else with_numbers(inputs[each]._array)
                                 for each in self.given])

    def arrays(self, given: list[Array]) -> dict[int, Array]:
        """The saved values of a call, by their numbers."""
        self.used = True
        run = self.run = self.run or self.plan()
        found: tuple[Array, ...] = run(*given) if self.made else ()
        return {**self.fixed, **{number: given[place] for number, place in self.known.items()},
                **dict(zip(self.made, found, strict=True))}


class SecondPass:
    """The recorded backward passes of one call."""

    __slots__ = ("given", "of")

    def __init__(self, of: SecondPasses, given: list[Array]) -> None:
        self.of, self.given = of, given

    def stale(self, number: int) -> Array | None:
        """What the call has read and was written to since its node, with this number, was made; None if nothing was."""
        return next((array for array in (*self.given, *self.of.read) if versions.written_since(array, number)), None)

    def gradients(self, node: Any, cotangents: list[Any], walk: Any) -> list[Any]:
        """The gradients along the edges of a node, by the pass that the program itself would run."""
        ends = [End((edge,), edge.shape, edge.dtype) for edge in node.edges]
        outer = [node.edge_to(index) for index in range(node.outputs)]
        roots = self.of.graph.made(ends, outer, self.of.arrays(self.given))
        starts = [(root, g) for root, g in zip(roots, cotangents, strict=True) if g is not None]
        found = run_backward(starts, retain_graph=True, create_graph=walk.grad, inputs=ends, capture=True)
        return [found.get(end) for end in ends]
