"""Passes along one route again and again, as for the rows of a Jacobian: only the cotangents at the start differ.

What a pass decides at each node is decided once for all passes, and each pass is one loop over the rules. This is
possible if nobody can see the difference: all nodes take the engine's short way, and there are no hooks or observers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array, is_narrow
from ..foundations.modes import local
from ..kernels.thresholds import PARTS
from . import faults
from .crossings import alive
from .fit import fit
from .node import RELEASED, AccumulateGrad
from .packed import Packed
from .route import Route
from .versions import written_since

if TYPE_CHECKING:
    from ..graph.node import Node

Cotangent = Array


class Line(NamedTuple):
    """A call of the rule for an argument of a node. `edges` has the edge of the argument.

    A rule may also give the gradients of all arguments. Then `argument` is None, and `edges` has all edges.
    """

    node: Any
    argument: int | None
    rule: Callable[..., Any]
    saved: tuple[Any, ...]
    edges: tuple[Any, ...]


def repeated(route: Route, root: Node) -> Callable[[Cotangent], dict[Any, Cotangent]] | None:
    """The function from the cotangent of `root` to the gradients that the route captures; None for an unusual route.

    Raises RuntimeError if a saved value was released or written to.
    """
    thread = local.thread
    if (thread.transform or thread.observer or thread.passing or thread.anomalies is not None
            or root.node not in (route.wanted or ()) or not _is_usual(route) or (alive and route.crosses())):
        return None
    lines = [line for node in route.order for line in _lines(node, route.wanted)]
    targets = [edge for edges in route.capture.values() for edge in edges]

    def run(cotangent: Cotangent) -> dict[Any, Cotangent]:
        found = thread.run(_walk, lines, {root: cotangent})
        return {edge: found[edge] for edge in targets if edge in found}

    return run


def _is_usual(route: Route) -> bool:
    """Whether all nodes run by rules of the package alone, and only leaves are captured."""
    if route.addresses or not all([type(node) is AccumulateGrad for node in route.capture]):
        return False
    for leaf in route.capture:
        if leaf.hooks is not None or (leaf.variable._grad_meta is not None and leaf.variable._grad_meta.hooks):
            return False
    return all([_takes_short_way(node) for node in route.order])


def _takes_short_way(node: Any) -> bool:
    if node.steps is None or node.hooks is not None or type(node.saved) is Packed:
        return False
    usual = node.plan is not None or (node.op.variadic and not node.several)
    in_arrays = node.dtype.kind != "c" and not is_narrow(node.dtype)
    return usual and node.op.known and in_arrays and math.prod(node.shape) < PARTS


def _lines(node: Any, wanted: Any) -> list[Line]:
    """The calls of rules for the edges of a node that are wanted."""
    saved = node.saved
    if saved is RELEASED:
        raise faults.second_pass(node)
    for i in node.op.saved_arrays if saved is not None else ():
        if saved[i] is not None and written_since(saved[i], node.number):
            raise faults.stale(node)
    if node.op.variadic:
        _, rule, places = node.steps[0]
        return [Line(node, None, rule, tuple([saved[i] for i in places]), node.edges)]
    return [Line(node, index, rule, tuple([saved[i] for i in places]), (node.edges[index],))
            for index, rule, places in node.steps if node.edges[index] in wanted]


def _walk(lines: list[Line], sums: dict[Any, Any]) -> dict[Any, Any]:
    """The sums of the gradients by edge, from those at the start."""
    for node, argument, rule, saved, edges in lines:
        cotangent = sums.get(node)
        if cotangent is None:                            # only edges that no rule serves lead here
            continue
        try:
            result = rule(cotangent, *saved)
            results = (result,) if argument is not None else result
        except Exception as error:
            if argument is not None:
                faults.in_rule(error, node, argument)
            raise
        for edge, result in zip(edges, results):
            if edge is None:
                continue
            if result.shape != edge.shape or result.dtype is not edge.dtype:
                result = fit(result, result.shape, result.dtype, edge.shape, edge.dtype)
            held = sums.get(edge)
            sums[edge] = result if held is None else np.add(held, result)
    return sums
