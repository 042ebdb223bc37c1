"""torch.fx.subgraph_rewriter: finds a pattern in a graph, and puts another one in its places."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..foundations.names import missing
from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Match(NamedTuple):
    """A place of a pattern: the last node of the pattern, and the node of the graph for each of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A place of a pattern, as in `Match`, and the nodes that were put there."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node] = field(default_factory=list)


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Put a graph in all places of another one. Both may be functions, modules or traced modules of the same arguments.

    Returns the places. Where two places overlap, the first one counts.
    """
    return [Match(each.anchor, each.nodes_map) for each in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(gm: GraphModule, pattern: Any, replacement: Any = None,
                                 match_filters: list[Callable[..., bool]] | None = None,
                                 ignore_literals: bool = False) -> list[ReplacedPatterns]:
    """`replace_pattern`, in the places for which all filters are true."""
    wanted, new = _graph_of(pattern), _graph_of(replacement)
    found, taken, done = list[dict[Node, Node]](), set[Node](), list[ReplacedPatterns]()
    output = wanted.output_node()
    ends = output.all_input_nodes
    for node in gm.graph.nodes:
        nodes = _matched(ends[0], node, {}, ignore_literals) if ends else None
        if nodes is None or not _closed(nodes, wanted) or len({*nodes} & {*ends}) != len(ends):
            continue
        inner = {there for here, there in nodes.items() if here.op != "placeholder"}
        if inner & taken or not all(test(nodes, gm.graph, wanted) for test in match_filters or []):
            continue
        taken |= inner
        found.append(nodes)
    changed: dict[Node, Node] = {}
    for nodes in found:
        done.append(_put(gm, new, wanted, {here: changed.get(there, there) for here, there in nodes.items()}, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        for target in [node.target for node in new.nodes if node.op in ("call_module", "get_attr")]:
            if not _has(gm, target):
                gm.add_submodule(target, copy.deepcopy(replacement.get_submodule(target)))
    return done


def _has(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _matched(here: Node, there: Any, nodes: dict[Node, Any], ignore: bool) -> dict[Node, Any] | None:
    """The nodes of the graph for those of the pattern, if the results of `here` and `there` are alike; else None."""
    if here in nodes:
        return nodes if nodes[here] is there else None
    if here.op == "placeholder":
        return nodes | {here: there}
    if not isinstance(there, Node) or (here.op, here.target) != (there.op, there.target):
        return None
    found = _alike((here.args, here.kwargs), (there.args, there.kwargs), nodes, ignore)
    return None if found is None else found | {here: there}


def _alike(left: Any, right: Any, nodes: dict[Node, Any], ignore: bool) -> dict[Node, Any] | None:
    """`_matched` for nested arguments."""
    if isinstance(left, Node):
        return _matched(left, right, nodes, ignore)
    if isinstance(left, (list, tuple)):
        if not isinstance(right, (list, tuple)) or len(left) != len(right):
            return None
        pairs = [*zip(left, right, strict=True)]
    elif isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return None
        pairs = [(left[key], right[key]) for key in left]
    else:
        same = not isinstance(right, Node) and type(left) is type(right) and (ignore or left == right)
        return nodes if same else None
    for one, other in pairs:
        found = _alike(one, other, nodes, ignore)
        if found is None:
            return None
        nodes = found
    return nodes


def _closed(nodes: dict[Node, Any], wanted: Graph) -> bool:
    """Whether nobody outside uses a node inside of the pattern, but for its results."""
    ends, there = {*wanted.output_node().all_input_nodes}, {*filter(lambda x: isinstance(x, Node), nodes.values())}
    return all(user in there for here, node in nodes.items() if here.op not in ("placeholder", "get_attr")
               and here not in ends for user in node.users)


def _put(gm: GraphModule, new: Graph, wanted: Graph, nodes: dict[Node, Any], changed: dict[Node, Node],
         ) -> ReplacedPatterns:
    """Put a graph in one place."""
    arguments = [node for node in wanted.nodes if node.op == "placeholder"]
    ends = wanted.output_node().all_input_nodes
    anchor = nodes[ends[0]]
    values = {mine: nodes[theirs] for mine, theirs in zip(
        [node for node in new.nodes if node.op == "placeholder"], arguments, strict=True) if theirs in nodes}
    before = {*gm.graph.nodes}
    users = {user for end in ends for user in nodes[end].users}
    with gm.graph.inserting_before(next((node for node in gm.graph.nodes if node in users), anchor)):
        gm.graph.graph_copy(new, values)
    results = [values[node] for node in new.output_node().all_input_nodes]
    for end, result in zip(ends, results, strict=True):
        nodes[end].replace_all_uses_with(result)
        changed[nodes[end]] = result
    for here in wanted.nodes.__reversed__():
        if here.op not in ("placeholder", "output") and not nodes[here].users:
            gm.graph.erase_node(nodes[here])
    return ReplacedPatterns(ends[0], nodes, [node for node in gm.graph.nodes if node not in before])
