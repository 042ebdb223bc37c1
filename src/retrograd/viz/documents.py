"""The document of an observed backward pass, as plain data that JSON can hold. The explorer's page shows it.

`docs/explorer.md` lists the keys of the document.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from types import FrameType
from typing import Any

from ..foundations.errors import Site
from ..graph.node import AccumulateGrad, Node, origin_of, site_of
from ..nn.parameter import Parameter
from ..tensors.recording.inplace import CopySlices
from ..tensors.state.base import StridedView, requires
from ..tensors.tensor import Tensor
from .folding import open_at_first
from .graphs import DrawnNode, drawn
from .groups import groups_as_data, groups_of
from .naming import Names
from .notes import cuts, noted_of
from .observing import Observation, Step
from .saved import SavedValues, held_bytes
from .statements import Statement, shown, statement_of
from .statistics import Facts, number

_ELSEWHERE = "The gradient comes from a backward pass that a node of this pass runs itself."
_UNASKED = "The pass was not asked for the gradient of this leaf."
_AROUND = 2                                             # lines of source around a line


class Document:
    """Builds the document of an observation. `facts` is the result."""

    def __init__(self, seen: Observation, params: Any, frame: FrameType | None, title: str,
                 program: str | None) -> None:
        self.seen = seen
        self.steps = {step.node: (place, step) for place, step in enumerate(seen.steps)}
        self.names = Names(seen.nodes, params, frame)
        graph = drawn([node.public for node in seen.starts], self.names.params, self.names.calls)
        self.number = {node: i for i, node in enumerate(graph.live)}
        self.held = held_bytes([*self.steps, *[node for node in graph.live if node not in self.steps]])
        self.saved = SavedValues(seen.pictures)
        self.sources: dict[str, dict[str, str]] = {}
        self.rules: dict[Statement, int] = {}
        absent = self._absent()
        alone = [DrawnNode("leaf", "AccumulateGrad", name, [tuple(tensor._array.shape)], [str(tensor._array.dtype)], [],
                           (), isinstance(tensor, Parameter)) for name, tensor in absent]
        nodes = [self._node(i, one, live, getattr(live, "variable", None))
                 for i, (one, live) in enumerate(zip(graph.nodes, graph.live, strict=True))]
        nodes += [self._node(i, one, None, tensor)
                  for i, (one, (_, tensor)) in enumerate(zip(alone, absent, strict=True), len(nodes))]
        groups = groups_of(graph._replace(nodes=[*graph.nodes, *alone]), runs=True)
        self.facts: Facts = {
            "title": title, "program": program, "sources": self.sources,
            "rules": [statement._asdict() for statement in self.rules], "nodes": nodes,
            "steps": [self._step(step) for step in seen.steps], "cuts": self._cuts(),
            "groups": groups_as_data(groups), "open": open_at_first(groups, len(nodes)),
            "totals": self._totals(nodes)}

    # Nodes

    def _absent(self) -> list[tuple[str, Any]]:
        """The named parameters that require grad and are not in the graph."""
        there = {id(node.variable) for node in self.number if isinstance(node, AccumulateGrad)}
        return [(name, tensor) for name, tensor in self.names.parameters
                if id(tensor) not in there and tensor._edge is None and requires(tensor)]

    def _node(self, i: int, one: DrawnNode, live: Node | None, leaf: Tensor | None) -> Facts:
        """The facts about a node, or about a parameter `leaf` that has no node in the graph."""
        place, step = (None, None) if live is None else self.steps.get(live, (None, None))
        label, module, kind = one.label, one.module, one.cls
        if leaf is not None:
            label = self.names.leaves.get(id(leaf), label)
            module = label.rpartition(".")[0] or None
            kind = self.names.classes.get(module or "?")
        saved = [] if live is None else self.saved.of(live)
        gradient = None if step is None else step.gradient
        excused = self._why_without(live, leaf) if gradient is None else None
        return {
            "id": i, "kind": one.kind, "name": one.name.rpartition("::")[2], "label": label, "order": place,
            "module": module, "class": kind, "site": None if live is None else self._site(site_of(live)),
            "outputs": [{"shape": None if shape is None else [*shape], "dtype": dtype}
                        for shape, dtype in zip(one.shapes, one.dtypes)],
            "links": [None if link is None else [*link] for link in one.links],
            "rule": None if live is None or leaf is not None else self._rule(live), "saved": saved,
            "gradient": gradient, "picture": None if step is None else step.picture,
            "time": None if step is None or step.time is None else number(step.time),
            "bytes": 0 if live is None else self.held[live], "parameter": one.parameter,
            "value": None if leaf is None else self.saved.shown(leaf._array),
            "problem": _problem(leaf is not None, gradient, saved) if excused is None else None,
            "notes": self._notes(live, step) if excused is None else [excused]}

    def _why_without(self, live: Node | None, leaf: Tensor | None) -> str | None:
        """Why a leaf without a gradient has none although nothing is wrong; None if there is no such reason."""
        if id(leaf) in self.seen.inside:
            return _ELSEWHERE
        wanted = self.seen.wanted
        return _UNASKED if isinstance(live, AccumulateGrad) and wanted is not None and live not in wanted else None

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

    def _notes(self, node: Node | None, step: Step | None) -> list[str]:
        """Sentences about a node that its other facts do not say."""
        if node is None:
            return ["The parameter is not in the graph, so no gradient reaches it."]
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
        if step is not None and step.sparse:
            notes.append("The gradient is sparse: the numbers are those of its stored elements.")
        if isinstance(node, AccumulateGrad) and step is not None and step.gradient is None:
            notes.append("No gradient reaches the leaf.")
        return notes

    # The rest

    def _step(self, step: Step) -> Facts:
        return {"node": self.number[step.node], "frees": self.held[step.node],
                "arrivals": [{"to": self.number[a.to], "output": a.output, "adds": a.adds, "norm": a.norm,
                              "shape": [*a.shape], **({} if a.picture is None else {"picture": a.picture})}
                             for a in step.arrivals]}

    def _cuts(self) -> list[Facts]:
        made = {node.number: i for node, i in self.number.items()}
        leaves = {id(node.variable): i for node, i in self.number.items() if isinstance(node, AccumulateGrad)}
        return [{"node": leaves.get(id(cut.leaf())) if cut.number is None else made.get(cut.number),
                 "tensor": cut.shape, "site": self._site(cut.site), "why": cut.why} for cut in cuts()]

    def _totals(self, nodes: Sequence[Facts]) -> Facts:
        backward = next((self.number[step.node] for step in self.seen.steps if step.bad), None)
        forward = [node for node in self.number if (o := origin_of(node)) is not None and o.bad is not None]
        oldest = min(forward, key=lambda node: node.number, default=None)
        return {"nodes": len(nodes), "bytes": sum(self.held.values()),
                "time": number(sum([step.time or 0 for step in self.seen.steps])),
                "parameters": sum([node["kind"] == "leaf" for node in nodes]),
                "without_gradient": sum([node["problem"] == "none" for node in nodes]), "vanished": self._vanished(),
                "first_bad": {"backward": backward, "forward": None if oldest is None else self.number[oldest]}}

    def _vanished(self) -> list[int] | None:
        """The first and the last step of the longest row of operations at which gradients of zeros arrive.

        `None` if there are no two such operations in a row. A step of a leaf, or without numbers, ends no row.
        """
        best: list[int] = []
        row: list[int] = []
        for place, step in enumerate(self.seen.steps):
            if step.gradient is None or not step.gradient["size"] or isinstance(step.node, AccumulateGrad):
                continue
            row = [*row[:1], place] if step.gradient["norm"] == 0 else []
            best = row if len(row) > 1 and (not best or row[1] - row[0] >= best[1] - best[0]) else best
        return best or None


def _problem(leaf: bool, gradient: Facts | None, saved: Sequence[Facts]) -> str | None:
    """What is wrong at a node: a NaN or an infinity in a gradient or a saved value, or a leaf without a gradient."""
    if leaf and gradient is None:
        return "none"
    seen = [gradient, *[value.get("stats") for value in saved]]
    found = [facts for facts in seen if facts is not None]
    if any([facts["nans"] for facts in found]):
        return "nan"
    return "inf" if any([facts["infs"] for facts in found]) else None
