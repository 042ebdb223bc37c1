"""The reports of anomaly mode: where a NaN of a backward pass comes from, and at which node any error happened.

PyTorch's sentence comes first. Then come the gradient with numbers, the line that recorded the node, and the first
non-finite value of the graph, forward or backward.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundations.errors import at, noted, warn
from .bad_values import BadValues, described, has_nan, made
from .node import AccumulateGrad, origin_of

if TYPE_CHECKING:
    from ..graph.node import Node

_NO_SITE = "No forward pass information available. Enable detect anomaly during forward pass for more information."


class Found(NamedTuple):
    """A NaN in the gradient of `node` along its edge `place`. `culprit` says who is to blame, if that is known."""

    node: Any
    place: int
    what: str
    gradient: Any
    operands: Sequence[tuple[str, Any]]
    culprit: str

    def made(self) -> BadValues | None:
        """The bad values that this node made of finite values, if there are any."""
        return made(self.what, self.gradient, self.operands, is_elementwise(self.node))


def is_elementwise(node: Any) -> bool:
    """Whether element i of the node's results and gradients depends only on element i of its operands."""
    return node.steps is not None and node.op.kind == "elementwise"


def operand_names(node: Node, count: int) -> list[str]:
    """The names that a report gives to the first operands of a node."""
    op = getattr(type(node), "op", None)
    if op is None:
        return [f"its input {i}" for i in range(count)]
    if op.variadic:
        return [f"{op.arguments[0]}[{i}]" for i in range(count)]
    return [*op.arguments, *[f"its input {i}" for i in range(len(op.arguments), count)]][:count]


def recorded_at(node: Node) -> str:
    """'X, recorded at program.py:3', with the source line; then the same for the node whose pass made X."""
    origin = origin_of(node)
    if origin is None or origin.site is None:
        return f"{node.name()}; where is not known: anomaly mode was off then, or it is not an operation"
    text = f"{node.name()}, recorded at {at(origin.site)}"
    if origin.parent is not None:
        text += f"\nin the backward of {recorded_at(origin.parent)}"
    return text


def nan_error(found: Found, order: Iterable[Any], first: tuple[Any, BadValues] | None,
              outside: Iterable[Any]) -> RuntimeError:
    """The error for a NaN in a backward pass over `order`. `first` is the first bad gradient that the pass noted."""
    node = found.node
    inputs = node.inputs_shown()
    number = found.place if inputs is None else inputs.index(found.place)
    bad = described(found.what, found.gradient, found.operands, is_elementwise(node))
    assert bad is not None
    earlier = [found.culprit] if found.culprit else _earlier(found, [*order], first, outside) or [
        "all values that led to it in the graph are finite; its other inputs are not known"]
    return noted(RuntimeError(f"Function '{node.name()}' returned nan values in its {number}th output."),
                 "anomaly#nan-in-gradient", found=str(bad), recorded=recorded_at(node), because="\n".join(earlier))


def _where(node: Node, found: Found) -> str:
    """Where a node was recorded, as a further sentence; empty for the node that the report has already named."""
    return "" if node is found.node else f"\n{recorded_at(node)}"


def _earlier(found: Found, order: list[Any], first: tuple[Any, BadValues] | None, outside: Iterable[Any]) -> list[str]:
    """Where the NaN was before this node: in the backward pass, in the forward pass, or in the data."""
    lines: list[str] = []
    if any([name.startswith("grad") and has_nan(value) for name, value in found.operands]):
        lines.append("the gradients that came to it have no nan, but their sum has one: inf and -inf were added.")
    oldest_first = order[::-1]
    for node in oldest_first:
        origin = origin_of(node)
        if origin is not None and origin.bad is not None:
            bad, inside = origin.bad
            lines.append(f"the first bad value of the forward pass: {bad}{_where(node, found)}")
            if inside is not None:
                lines.append(f"inside of it: {inside}.")
            break
    if first is not None and (first[0], first[1].what) != (found.node, found.what):
        node, bad = first
        lines.append(f"the first bad value of the backward pass: {bad}{_where(node, found)}")
    if not lines and found.node.steps is not None and found.made() is not None:
        return ["it is the first bad value of the graph: all its inputs are finite."]
    if not lines:
        lines = _infinite(found, order)
    if not lines:
        lines = _in_data(found, [node for node in oldest_first if node.number <= found.node.number])
        lines += [f"outside of the graph: {raised}." for raised in outside]
    return lines


def _infinite(found: Found, order: list[Any]) -> list[str]:
    """The node that gave an infinite gradient, if no node was seen to make it infinite."""
    if all([np.isfinite(value).all() for name, value in found.operands if name.startswith("grad")]):
        return []
    giver = next((node for node in order if any([e is not None and e.node is found.node for e in node.edges])), None)
    if giver is None:
        return ["the gradient that started the pass is not finite."]
    return ["the gradient came to it infinite, and no node made it infinite from finite values. So it was multiplied "
            f"by an infinite constant, in {giver.name()} or before.{_where(giver, found)}"]


def _in_data(found: Found, nodes: list[Any]) -> list[str]:
    """The leaf or constant that was bad from the start, or else the first node that is known to have a bad operand."""
    leaves: set[Any] = set()
    for node in nodes:
        for edge in node.edges:
            if isinstance(edge, AccumulateGrad) and edge not in leaves:
                leaves.add(edge)
                bad = described(f"a leaf of shape {list(edge.shape)}", edge.variable._array)
                if bad is not None:
                    return [f"it was in the data: {bad} It is used by {node.name()}.{_where(node, found)}"]
    for node in nodes:
        saved = dict(found.operands) if node is found.node else _inputs_of(node)
        for name, array in saved.items():
            if name == "grad" or not isinstance(array, np.ndarray):
                continue
            bad = described(name, array)
            if bad is None:
                continue
            edge = _edge_of(node, name)
            if edge is None:
                return [f"it was in the data: {bad} It is a constant to {node.name()}.{_where(node, found)}"]
            return [f"it was there in the forward pass: {bad} It came from {edge.node.name()}. No leaf behind this "
                    "node has it, and no node made it from finite values. So a constant brought it in, such as data or "
                    f"a target.{_where(edge.node, found)}"]
    return []


def _inputs_of(node: Any) -> dict[str, Any]:
    """The inputs that a node of the op table has saved and still keeps, by name."""
    if type(node.saved) is not tuple or node.steps is None or node.op.variadic:
        return {}
    return {node.op.arguments[place]: value for (kind, place), value in zip(node.saves, node.saved)
            if kind == "input"}


def _edge_of(node: Node, name: str) -> Any:
    """The edge to the node that made the operand of this name. For a result this is the node itself."""
    op = getattr(type(node), "op", None)
    if op is None or name not in op.arguments:
        return node
    place = op.arguments.index(name)
    return node.edges[place] if place < len(node.edges) else None


def explain(error: Exception, node: Node) -> None:
    """Add a note to an error that ended a pass: which node the pass was at, and where that node was recorded."""
    noted(error, "anomaly#node-of-an-error", node=recorded_at(node))


def tell(node: Node | None) -> None:
    """Warn of the node that failed and of the nodes it was recorded in. PyTorch warns so before the error comes."""
    induced = False
    while node is not None:
        origin = origin_of(node)
        site = None if origin is None else origin.site
        if site is None:
            text = f"Error detected in {node.name()}. {_NO_SITE}"
        elif induced:
            text = (f"\n\nPrevious calculation was induced by {node.name()}. Traceback of forward call that induced "
                    f"the previous calculation:\n{site.frame_text()}")
        else:
            text = (f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
                    f"{site.frame_text()}")
        try:
            warn(text)
        except UserWarning as warning:  # if warnings are errors, the error that follows must not be lost
            print(f"UserWarning: {warning}", file=sys.stderr)
        node, induced = None if origin is None else origin.parent, True
