"""The document of an observed backward pass, as plain data that JSON can hold. The explorer's page shows it.

`docs/explorer.md` lists the keys of the document.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from types import FrameType
from typing import Any

from ..errors import Site
from ..graph.node import AccumulateGrad, Node, Nowhere, OpNode, origin_of, site_of
from ..autograd.function_node import FunctionNode
from ..tensors.recording.inplace import CopySlices
from ..tensors.state.base import StridedView, requires
from .naming import Names, noted_of
from .observing import Observation, Step
from .notes import cuts
from .saved import SavedValues, held_bytes
from .statements import Statement, shown, statement_of
from .statistics import Facts, number

_AROUND = 2                                             # lines of source around a line


class Document:
    """Builds the document of an observation. `facts` is the result."""

    def __init__(self, seen: Observation, params: Any, frame: FrameType | None, title: str,
                 program: str | None) -> None:
        self.seen = seen
        self.steps = {step.node: (place, step) for place, step in enumerate(seen.steps)}
        self.number = {node: i for i, node in enumerate(seen.nodes)}
        self.names = Names(seen.nodes, params, frame)
        self.held = held_bytes([*[step.node for step in seen.steps],
                                *[node for node in seen.nodes if node not in self.steps]])
        self.saved = SavedValues(seen.pictures)
        self.sources: dict[str, dict[str, str]] = {}
        self.rules: dict[Statement, int] = {}
        nodes = [self._node(node) for node in seen.nodes]
        nodes += self._absent(len(nodes))
        steps = [self._step(step) for step in seen.steps]
        self.facts: Facts = {
            "title": title, "program": program, "sources": self.sources,
            "rules": [statement._asdict() for statement in self.rules], "nodes": nodes, "steps": steps,
            "cuts": self._cuts(), "groups": [], "totals": self._totals(nodes)}

    # Nodes

    def _node(self, node: Node) -> Facts:
        place, step = self.steps.get(node, (None, None))
        leaf = isinstance(node, AccumulateGrad)
        path = self.names.modules.get(node)
        name = self.names.leaves.get(id(node.variable)) if isinstance(node, AccumulateGrad) else None
        saved = self.saved.of(node)
        gradient = None if step is None else step.gradient
        return {
            "id": self.number[node], "kind": kind_of(node), "name": _class_name(node),
            "label": name or ("leaf" if leaf else _class_name(node)), "order": place, "module": path,
            "class": None if path is None else self.names.classes.get(path), "site": self._site(site_of(node)),
            "outputs": _outputs(node), "links": [self._link(child, index) for child, index in node.links],
            "rule": None if leaf else self._rule(node), "saved": saved, "gradient": gradient,
            "picture": None if step is None else step.picture,
            "time": None if step is None or step.time is None else number(step.time),
            "bytes": self.held[node], "parameter": leaf,
            "problem": _problem(leaf, gradient, saved, node), "notes": self._notes(node, step)}

    def _link(self, child: Node | None, index: int) -> list[int] | None:
        return None if child is None else [self.number[child], index]

    def _rule(self, node: Node) -> int | None:
        statement = statement_of(node)
        return None if statement is None else self.rules.setdefault(statement, len(self.rules))

    def _site(self, site: Site | None) -> Facts | None:
        """A line of the program, whose text goes to the sources."""
        if site is None:
            return None
        file, line = site.code.co_filename, site.line
        lines = self.sources.setdefault(shown(file), {})
        for i in range(max(1, line - _AROUND), line + _AROUND + 1):
            text = linecache.getline(file, i, None)
            if text:
                lines.setdefault(str(i), text.rstrip())
        return {"file": shown(file), "line": line, "function": site.code.co_name}

    def _notes(self, node: Node, step: Step | None) -> list[str]:
        """Sentences about a node that its other facts do not say."""
        notes: list[str] = []
        origin, noted = origin_of(node), noted_of(node)
        if origin is not None and origin.bad is not None:
            notes.append(f"Forward, bad values of finite ones: {origin.bad[0]}")
        if step is not None and step.bad:
            inputs = ", ".join([str(place) for place in step.bad])
            notes.append(f"The gradient that arrived is finite, and the gradient for input {inputs} is not.")
        if isinstance(node, CopySlices):
            notes.append("A write in place through a view: the gradient of the written part goes to what was written, "
                         "the rest to the base as it was before.")
        elif noted is not None and noted.writes:
            notes.append("The operation wrote over its first operand, in place.")
        if isinstance(node, StridedView):
            notes.append("The view was taken again, since its base was written to after the view was made.")
        if node.hooks is not None and (node.hooks.pre or node.hooks.post or any([h for _, h in node.hooks.tensor])):
            notes.append("Hooks of the program run here.")
        if isinstance(node, AccumulateGrad) and step is not None and step.gradient is None:
            notes.append("No gradient reaches the leaf.")
        return notes

    def _absent(self, first: int) -> list[Facts]:
        """Parameters that require grad and are not in the graph, as nodes of their own."""
        there = {id(node.variable) for node in self.seen.nodes if isinstance(node, AccumulateGrad)}
        absent = [(name, tensor) for name, tensor in self.names.parameters
                  if id(tensor) not in there and tensor._edge is None and requires(tensor)]
        return [{
            "id": i, "kind": "leaf", "name": "AccumulateGrad", "label": name, "order": None,
            "module": name.rpartition(".")[0], "class": self.names.classes.get(name.rpartition(".")[0]), "site": None,
            "outputs": [{"shape": [*tensor._array.shape], "dtype": str(tensor._array.dtype)}], "links": [],
            "rule": None, "saved": [], "gradient": None, "picture": None, "time": None, "bytes": 0, "parameter": True,
            "problem": "none", "notes": ["The parameter is not in the graph, so no gradient reaches it."],
        } for i, (name, tensor) in enumerate(absent, first)]

    # The rest

    def _step(self, step: Step) -> Facts:
        return {"node": self.number[step.node], "frees": self.held[step.node],
                "arrivals": [{"to": self.number[a.to], "output": a.output, "adds": a.adds, "norm": a.norm,
                              "shape": [*a.shape]} for a in step.arrivals]}

    def _cuts(self) -> list[Facts]:
        made = {node.number: i for node, i in self.number.items()}
        leaves = {id(node.variable): i for node, i in self.number.items() if isinstance(node, AccumulateGrad)}
        return [{"node": leaves.get(id(cut.leaf())) if cut.number is None else made.get(cut.number),
                 "tensor": cut.shape, "site": self._site(cut.site), "why": cut.why} for cut in cuts()]

    def _totals(self, nodes: Sequence[Facts]) -> Facts:
        backward = next((self.number[step.node] for step in self.seen.steps if step.bad), None)
        forward = [node for node in self.seen.nodes if (o := origin_of(node)) is not None and o.bad is not None]
        oldest = min(forward, key=lambda node: node.number, default=None)
        return {"nodes": len(nodes), "bytes": sum(self.held.values()),
                "time": number(sum([step.time or 0 for step in self.seen.steps])),
                "parameters": sum([node["parameter"] for node in nodes]),
                "without_gradient": sum([node["problem"] == "none" for node in nodes]),
                "first_bad": {"backward": backward, "forward": None if oldest is None else self.number[oldest]}}


def kind_of(node: Node) -> str:
    """The sort of a node: 'leaf', 'operator', 'view', 'write' or 'function'."""
    if isinstance(node, AccumulateGrad):
        return "leaf"
    if isinstance(node, CopySlices):
        return "write"
    if isinstance(node, FunctionNode):
        return "function"
    if isinstance(node, StridedView | Nowhere) or (isinstance(node, OpNode) and node.op.view):
        return "view"
    return "operator"


def _class_name(node: Node) -> str:
    return node.name().rpartition("::")[2]


def _outputs(node: Node) -> list[Facts]:
    pairs = [*zip(node.shape, node.dtype, strict=True)] if node.several else [(node.shape, node.dtype)]
    return [{"shape": None if shape is None else [*shape], "dtype": None if dtype is None else str(dtype)}
            for shape, dtype in pairs]


def _problem(leaf: bool, gradient: Facts | None, saved: Sequence[Facts], node: Node) -> str | None:
    """What is wrong at a node: a NaN or an infinity in a gradient or a saved value, or a leaf without a gradient."""
    if leaf and gradient is None:
        return "none"
    seen = [gradient, *[value.get("stats") for value in saved]]
    found = [facts for facts in seen if facts is not None]
    if any([facts["nans"] for facts in found]):
        return "nan"
    return "inf" if any([facts["infs"] for facts in found]) else None
