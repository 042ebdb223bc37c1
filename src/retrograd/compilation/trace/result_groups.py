"""Which results of a traced call have one node: groups of results, each with a backward pass of its own.

A program may register a hook on a result, ask for its gradient, or keep it. The gradient of a result that others are
computed from comes through the others, too. So the backward pass of a group ends at the results of the groups before
it. A pass frees what the nodes on its way have saved. So results that share such nodes are in one group, and the pass
of a result in another group is still possible.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.function_node import FunctionNode
from ...graph.node import AccumulateGrad, OpNode
from ..program.undoing import Undo
from .borders import Border
from .traced import Traced
from .tracing import Tape

if TYPE_CHECKING:
    from ...graph.node import Node

_Address = tuple[int, int]


def _address(edge: Any) -> _Address:
    return id(edge.node), edge.index


def _below(edge: Any, ends: Container[_Address] = ()) -> tuple[dict[int, Any], set[_Address]]:
    """The nodes behind an edge, and all edges between them, as far as the edges `ends`."""
    nodes, addresses, waiting = dict[int, Any](), set[_Address](), [edge.node]
    while waiting:
        node = waiting.pop()
        if id(node) not in nodes and not isinstance(node, (AccumulateGrad, Border)):
            nodes[id(node)] = node
            for inner in node.edges:
                if inner is not None and inner.node is not None:
                    addresses.add(_address(inner))
                    waiting += [] if _address(inner) in ends else [inner.node]
    return nodes, addresses


def _saves(node: Node) -> bool:
    """Whether a pass frees something that a node has saved."""
    if not isinstance(node, OpNode):
        return True
    saved = node.saved
    return saved is not None and (type(saved) is not tuple or any(
        [type(value) in (Traced, np.ndarray) for value in saved]))


def grouped(made: Sequence[Any], places: Sequence[int]) -> list[list[int]]:
    """The places of results in groups. Each result comes after the results that it is computed from."""
    if len(places) < 2:
        return [[*places]]
    edges = {place: _address(made[place]._edge) for place in places}
    uses = {place: _below(made[place]._edge)[1] for place in places}
    depths = dict[int, int]()
    for place in sorted(places, key=lambda place: made[place]._edge.node.number):
        depths[place] = max([depths[other] + 1 for other in depths if edges[other] in uses[place]], default=0)
    found = list[list[int]]()
    for depth in range(max(depths.values()) + 1):
        ends = {edges[place] for place in places if depths[place] < depth}
        groups = _apart(made, [place for place in places if depths[place] == depth], ends)
        found += sorted(groups, key=lambda group: max([made[place]._edge.node.number for place in group]))
    return found                                           # a pass goes from new results to old ones


def _apart(made: Sequence[Any], places: list[int], ends: set[_Address]) -> list[list[int]]:
    """The places in groups that share no node which saves something. In a group, new results come first."""
    groups = list[tuple[list[int], set[int]]]()
    for place in places:
        group, saving = [place], {number for number, node in _below(made[place]._edge, ends)[0].items() if _saves(node)}
        for other in [each for each in groups if not saving.isdisjoint(each[1])]:
            groups.remove(other)
            group, saving = [*other[0], *group], saving | other[1]
        groups.append((group, saving))
    return [sorted(group, key=lambda place: -made[place]._edge.node.number) for group, _ in groups]


def frees(edges: Iterable[Any]) -> bool:
    """Whether a pass from some edges frees something, so that no other pass can come after it."""
    return any([_saves(node) for edge in edges for node in _below(edge)[0].values()])


def lead_through_views(results: Sequence[Any], views: Sequence[Any]) -> bool:
    """Whether a result is computed from a view that is another result, and that each repetition takes of its base."""
    ends = {_address(view._edge) for view in views if view._edge is not None and view._edge.node is not None}
    return bool(ends) and any([not ends.isdisjoint(_below(result._edge)[1]) for result in results
                               if result._edge is not None and result._edge.node is not None])


def cut(tape: Tape, made: Sequence[Any], group: Sequence[int], before: Sequence[int], undo: Undo) -> None:
    """Have the graph of a group end at the results of the groups before it, until the exit of `undo`."""
    borders = {_address(made[place]._edge): Border(tape, made[place]) for place in before}
    for node in [node for place in group for node in _below(made[place]._edge)[0].values()]:
        if not any([edge is not None and edge.node is not None and _address(edge) in borders for edge in node.edges]):
            continue
        if not isinstance(node, (OpNode, FunctionNode)):
            tape.give_up("a result is computed from another one, by a write through a view")
            return
        undo.put(node, "edges", tuple([
            edge if edge is None or edge.node is None else borders.get(_address(edge), edge) for edge in node.edges]))
    for place, border in zip(before, borders.values(), strict=True):
        border.closed, border.number = True, border.edges[0].node.number     # passes go from new nodes to old ones
        undo.note(partial(_give_back, made[place], border))
        made[place]._edge = border


def _give_back(tensor: Any, border: Border) -> None:
    if tensor._edge is border:
        tensor._edge = border.edges[0]
