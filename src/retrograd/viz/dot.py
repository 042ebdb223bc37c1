"""The gradient graph in Graphviz's DOT language, and as SVG where the `graphviz` package and program are installed."""

from __future__ import annotations

from typing import Any

from ..graph.node import AccumulateGrad


def _nodes(root: Any) -> list[Any]:
    found, seen = [root], {root}
    for node in found:
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                found.append(child)
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def dot(tensor: Any, params: Any = None) -> str:
    """The graph behind `tensor` as DOT text; arrows point from an operation to what it was made from.

    `params` may name leaves, as in `tree`. Raises ValueError for a tensor without a graph.
    """
    root = tensor.grad_fn
    if root is None:
        raise ValueError("this tensor has no graph: no recorded operation made it")
    named = params.items() if isinstance(params, dict) else params or ()
    names = {id(leaf): name for name, leaf in named}
    lines = ["digraph gradients {", "  rankdir=TB;", '  node [shape=box, style="rounded,filled", fillcolor="#f3f3f3"];']
    nodes = _nodes(root)
    number = {node: i for i, node in enumerate(nodes)}
    for node in nodes:
        leaf = isinstance(node, AccumulateGrad)
        label = f"{names.get(id(node.variable), 'leaf')}\n{list(node.shape)}" if leaf else node.name()
        style = ' fillcolor="#cfe8cf"' if leaf else ""
        text = _quoted(label).replace("\n", "\\n")
        lines.append(f"  n{number[node]} [label={text}{style}];")
    for node in nodes:
        for child, index in node.next_functions:
            if child is not None:
                note = f' [label="{index}"]' if child.several else ""
                lines.append(f"  n{number[node]} -> n{number[child]}{note};")
    return "\n".join([*lines, "}"])


def svg(tensor: Any, params: Any = None) -> str:
    """The graph behind `tensor` as SVG text. Needs the `graphviz` package and Graphviz's `dot` program."""
    try:
        import graphviz
    except ImportError:
        raise ImportError("svg() needs the graphviz package: pip install 'retrograd[graphviz]', and Graphviz itself "
                          "(its program `dot`)") from None
    text: str = graphviz.Source(dot(tensor, params)).pipe(format="svg", encoding="utf-8")
    return text
