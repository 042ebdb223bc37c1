"""The graph of the results of a traced call, as a description: what gradients of gradients need (`second_passes`).

Nodes of operators can be made again. Of a custom Function, of a write through a view and of hooks on saved tensors,
nobody knows what their nodes hold: then there are no gradients of gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...graph.node import AccumulateGrad, OpNode, Output
from ...graph.packed import Converted, Indices, Packed
from ..execution.again import again
from ..execution.plan import planned
from ..passes import effects
from ..program import constants
from ..program.lines import Line, Program
from ..program.sizes import plain as plain_sizes
from ..program.stand_in_numbers import is_traced
from ..program.stand_ins import let_go
from ..repeat.second_passes import Graph, InIndex, Part, SecondPasses, To
from .borders import Border
from .known_tensors import KnownTensors
from .results import is_hooked
from .traced import Traced
from .tracing import Tape

if TYPE_CHECKING:
    from ...graph.node import Node


class _Unknown(Exception):
    """Something in the graph that cannot be made again."""


def graph_of(edges: Iterable[Any], leaves: dict[int, int]) -> Graph | None:
    """The graph that some edges lead to; None if it cannot be made again. `leaves` are the places of the leaves."""
    try:
        return _Reader(leaves).graph([*edges])
    except _Unknown:
        return None


class _Reader:
    """Reads a graph. `numbers` are those of the values that nodes have saved."""

    def __init__(self, leaves: dict[int, int]) -> None:
        self.leaves, self.places, self.numbers = leaves, dict[int, int](), dict[int, None]()

    def graph(self, edges: list[Any]) -> Graph:
        """The description of the graph."""
        nodes, waiting = dict[int, Any](), [edge.node for edge in edges]
        while waiting:
            node = waiting.pop()
            if id(node) not in nodes and not isinstance(node, (AccumulateGrad, Border)):
                if not isinstance(node, OpNode) or is_hooked(node) or not node.op.known:
                    raise _Unknown
                nodes[id(node)] = node
                waiting += [edge.node for edge in node.edges if edge is not None]
        ordered = sorted(nodes.values(), key=lambda node: node.number)
        self.places = {id(node): place for place, node in enumerate(ordered)}
        parts = [self._part(node) for node in ordered]
        return Graph(parts, [self._to(edge) for edge in edges], [*self.numbers])

    def _to(self, edge: Any) -> To:
        node = edge.node
        if isinstance(node, (AccumulateGrad, Border)):
            place = self.leaves.get(id(node.variable if isinstance(node, AccumulateGrad) else node.tensor))
            if place is None:
                raise _Unknown
            return To(None, place)
        return To(self.places[id(node)], edge.index if type(edge) is Output else None)

    def _part(self, node: Node) -> Part:
        slots = {"shape": plain_sizes(node.shape), "dtype": node.dtype, "plan": node.plan}
        if node.several:
            slots["outputs"] = node.outputs
        saved, packed = node.saved, type(node.saved) is Packed
        if saved is not None and not isinstance(saved, tuple):               # released
            raise _Unknown
        return Part(type(node), slots, tuple([None if edge is None else self._to(edge) for edge in node.edges]),
                    None if saved is None else tuple(map(self._value, saved)), packed)

    def _value(self, value: Any) -> Any:
        """A saved value, with a `Ref` for each array that is another one in each call."""
        value = plain_sizes(value)
        if type(value) is Converted:                       # the call runs again on the same arguments, or not at all
            value = value.array
        if type(value) is Traced:
            self.numbers[value.number] = None
            return value.ref
        if type(value) is Indices:
            return InIndex(tuple(map(self._value, value.arrays)))
        if type(value) is tuple or type(value) is list:
            return type(value)(map(self._value, value))
        if type(value) is np.ndarray or (constants.is_constant(value) and not is_traced(value)) or (
                isinstance(value, (np.dtype, slice))):
            return value
        raise _Unknown


def second_passes(tape: Tape, lines: list[Line], graph: Graph, known: KnownTensors,
                  renewed: list[Array]) -> SecondPasses | None:
    """What computes gradients of gradients; None if the call cannot run again. `renewed` is memory that each call
    writes anew before its run.
    """
    values = tape.values
    made = [number for number in graph.values if values[number].source == "line"]
    program = Program(values, lines, tape.inputs, made)
    written, program = effects.all_memory_written(program), program._replace(lines=effects.that_make(made, program))
    read = {number for line in program.lines for number in line.reads} | {*graph.values}
    outside = {values[number].memory for number in read} & {value.memory for value in values
                                                            if value.source == "outside"}
    if written & outside or any(map(effects.draws, program.lines)):
        return None
    anew = {tape.outside(array).number: array for array in renewed}
    others = {number for number in read if values[number].source == "outside"} - {*known.given, *anew}
    touched = {values[number].memory for number in read}
    places_given = {number: place for number, place in known.given.items() if values[number].memory in touched}
    given: list[int | Array] = [*places_given.values(), *anew.values()]
    numbers = [*places_given, *anew]
    kept = {value.number for value in values if value.source == "constant"} | others
    copied = [value.copied() for value in values]
    let_go(copied, kept)
    make = partial(_run, program._replace(values=copied), numbers, tape.native)
    places = {number: place for place, number in enumerate(numbers) if number in graph.values}
    fixed = {number: values[number].like for number in graph.values
             if number not in places and values[number].source != "line"}
    return SecondPasses(graph, make, made, given, places, fixed, [values[number].like for number in others])


def _run(program: Program, given: list[int], native: bool) -> Callable[..., tuple[Array, ...]]:
    """What runs the lines again, for arrays in the order of `given`."""
    make = partial(planned, program, given, native)
    plan = make()
    places, run = [given.index(number) for number in plan.given], again(plan, make)
    return lambda *arrays: run(*[arrays[place] for place in places])
