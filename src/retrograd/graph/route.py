"""The route of a backward pass: the nodes that it walks, newest first, and which edges lead to what is asked for.

Passes from the same edges to the same inputs have the same route, so it is found once for all rows of a Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from .crossings import Crossing
from .node import AccumulateGrad, Output
from .packed import Packed

_by_number = attrgetter("number")


class Route:
    """The way from the edges `roots`. `inputs` are the edges to stop at; None means every leaf.

    `order` has the nodes without the leaves. `wanted` are the edges and nodes that lead to an input; None means all.
    """

    def __init__(self, roots: Iterable[Any], inputs: Sequence[Any] | None, capture: bool) -> None:
        self.addresses: dict[Any, list[Output]] = {}     # node of several outputs -> its edges met
        # Leaf -> the number of edges that owe it a gradient. A leaf accumulates as soon as none is due.
        self.due: dict[AccumulateGrad, int] = {}
        # Node -> the edges to capture gradients of at this node; and the nodes that lead on to another target.
        self.capture: dict[Any, list[Any]] = {}
        self.leading: set[Any] = set()
        self.order = self._collect(roots)
        self.wanted: set[Any] | None = None
        if inputs is not None:
            self.wanted = wanted = self._leading_to([edge.node for edge in inputs if edge.node is not None])
            self.order = [node for node in self.order if node in wanted]
            if capture:
                for edge in inputs:
                    self.capture.setdefault(edge.node, []).append(edge)

    def crosses(self) -> bool:
        """Whether the route leads over a border of a transform's level, or to the array of a wrapper."""
        for node in self.order:
            saved = node.saved
            if (saved is not None and _saves_wrapper(saved)) or isinstance(node, Crossing):
                return True
        return any([type(leaf.variable._array) is not np.ndarray and hasattr(leaf.variable._array, "shown")
                    for leaf in self.due])

    def _collect(self, roots: Iterable[Any]) -> list[Any]:
        """Every reachable node, newest first, without the leaves."""
        due = self.due
        order: list[Any] = []
        seen: set[Any] = {None}                     # None: a missing edge needs no entry
        for edge in roots:
            if type(edge) is AccumulateGrad:
                due[edge] = 0
            else:
                self._meet(edge, seen, order)
        for node in order:
            for edge in node.edges:
                if type(edge) is AccumulateGrad:
                    due[edge] = due.get(edge, 0) + 1
                elif edge not in seen:
                    if type(edge) is Output:
                        self._meet(edge, seen, order)
                    else:                           # `_meet`, inline: a call for each node of a long chain is slow
                        seen.add(edge)
                        order.append(edge)
        order.sort(key=_by_number, reverse=True)
        return order

    def _meet(self, edge: Any, seen: set[Any], order: list[Any]) -> None:
        """Note an edge that is seen for the first time, and the node behind it."""
        seen.add(edge)
        if type(edge) is Output:
            self.addresses.setdefault(edge.node, []).append(edge)
            edge = edge.node
            if edge in seen:
                return
            seen.add(edge)
        order.append(edge)

    def _leading_to(self, targets: Iterable[Any]) -> set[Any]:
        """The edges that lead to a target. The pass computes only their gradients."""
        wanted = set(targets)
        for node in reversed(self.order):
            for edge in node.edges:
                if edge in wanted:
                    self.leading.add(node)
                elif type(edge) is Output and edge.node in wanted:
                    wanted.add(edge)
                    self.leading.add(node)
            if node in self.leading:
                wanted.add(node)
        return wanted


def _saves_wrapper(saved: Any) -> bool:
    """Whether a node has saved the array of a wrapper, or may have: hooks keep values of any kind."""
    if type(saved) is tuple or type(saved) is list:
        return any([type(value) is not np.ndarray and hasattr(value, "shown") for value in saved])
    return type(saved) is Packed
