"""The gradient graph in Graphviz's DOT language, and as SVG if the `graphviz` package and program are installed."""

from __future__ import annotations

from typing import Any

from ..graph.node import AccumulateGrad, Node
from .reading import beginnings, label, names_of, shape_text

_HEAD = """\
digraph gradients {
  rankdir=TB;
  node [shape=box, style="rounded,filled", fillcolor="#f3f3f3", fontname="sans-serif"];"""


def dot(outputs: Any, params: Any = None) -> str:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them) as DOT text; leaves are green.

    Arrows point from an operation to its inputs. `params` may name leaves, as in `tree`.

    Raises ValueError for a tensor that requires no grad.
    """
    names = names_of(params)
    number = {node: i for i, node in enumerate(_nodes(outputs))}
    lines = [_HEAD]
    for node, i in number.items():
        text = label(node, names)
        if node.outputs == 1:
            text = f"{text}\n{shape_text(node, 0)}"
        colour = ', fillcolor="#cfe8cf"' if isinstance(node, AccumulateGrad) else ""
        lines.append(f"  n{i} [label={_quoted(text)}{colour}];")
    for node, i in number.items():
        for child, index in node.links:
            if child is not None:
                note = f" [label={_quoted(f'output {index}')}]" if child.outputs > 1 else ""
                lines.append(f"  n{i} -> n{number[child]}{note};")
    return "\n".join([*lines, "}", ""])


def _nodes(outputs: Any) -> list[Node]:
    """Every reachable node once, the nearest first."""
    found = list(dict.fromkeys(node for node, _ in beginnings(outputs)))
    seen = {*found}
    for node in found:
        for child, _ in node.links:
            if child is not None and child not in seen:
                seen.add(child)
                found.append(child)
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def svg(outputs: Any, params: Any = None) -> str:
    """The graph as an SVG picture, for a file or a notebook; the arguments are those of `dot`.

    Raises ImportError without the `graphviz` package, RuntimeError without Graphviz's program `dot`.
    """
    try:
        import graphviz
    except ImportError:
        raise ImportError("svg() needs the graphviz package: pip install 'retrograd[graphviz]', and Graphviz itself "
                          "(its program `dot`)") from None
    try:
        picture: str = graphviz.Source(dot(outputs, params)).pipe(format="svg", encoding="utf-8")
    except graphviz.ExecutableNotFound:
        raise RuntimeError("svg() needs Graphviz's program `dot`, and it was not found on the PATH. Install Graphviz "
                           "(https://graphviz.org/download/), or draw the text that dot() gives elsewhere.") from None
    return picture
