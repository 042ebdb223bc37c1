"""The gradient graph as a text tree, in Graphviz's DOT language, and as SVG.

Drawing reads the graph and changes nothing. Of a node it reads little more than users see: `links`, `name()`,
`variable`, `shape`. There is no recursion, so a graph of any depth can be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..autograd import graph
from ..graph.node import AccumulateGrad, Node, behind
from ..nn.modules.module import Module
from ..tensors.state.base import TensorBase, edge_of

_Address = tuple[Node, int]      # a node, and the number of one of its outputs

_HEAD = """\
digraph gradients {
  rankdir=TB;
  node [shape=box, style="rounded,filled", fillcolor="#f3f3f3", fontname="sans-serif"];"""


def tree(outputs: Any, params: Any = None, max_nodes: int = 200) -> str:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them) as text, the newest operation first.

    A line has the name of an operation and the shape of its result. A leaf has its name from `params`, which is a
    Module, a dictionary from names to tensors, or the result of `Module.named_parameters()`. Constants are left out. If
    a node occurs again, the lines below it are not repeated. The text has at most `max_nodes` lines.

    Raises ValueError for a tensor that requires no grad, and TypeError for `params` that name no leaves.

    >>> import retrograd as torch
    >>> w, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    >>> y = (w * 2).exp()
    >>> print(tree((y * y + b).sum(), {"w": w, "b": b}))
    SumBackward0 []
    └─ AddBackward0 [3]
       ├─ MulBackward0 [3]
       │  ├─ ExpBackward0 [3]
       │  │  └─ MulBackward0 [3]
       │  │     └─ w [3]
       │  └─ ExpBackward0 [3] (see above)
       └─ b [3]
    """
    names = names_of(params)
    lines: list[str] = []
    seen: set[Node] = set()
    # Still to print: a node, the number of its output, the prefix of its line, and the prefix of the lines below it.
    stack = [(node, index, "", "") for node, index in reversed(_beginnings(outputs))]
    while stack:
        if len(lines) >= max_nodes:
            lines.append(f"… (cut after {max_nodes} nodes: max_nodes= shows more)")
            break
        node, index, before, below = stack.pop()
        inputs = [(n, i) for n, i in node.links if n is not None]
        again = node in seen and bool(inputs)
        output = f"output {index}" if node.outputs > 1 else ""
        words = (_label(node, names), output, _shape_text(node, index), "(see above)" if again else "")
        lines.append(before + " ".join(filter(None, words)))
        seen.add(node)
        if inputs and not again:
            *others, last = inputs
            stack.append((*last, below + "└─ ", below + "   "))
            stack += [(*other, below + "├─ ", below + "│  ") for other in reversed(others)]
    return "\n".join(lines)


def dot(outputs: Any, params: Any = None) -> str:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them) as DOT text; leaves are green.

    Arrows point from an operation to its inputs. `params` may name leaves, as in `tree`.

    Raises ValueError for a tensor that requires no grad.
    """
    names = names_of(params)
    number = {node: i for i, node in enumerate(_nodes(outputs))}
    lines = [_HEAD]
    for node, i in number.items():
        text = _label(node, names)
        if node.outputs == 1:
            text = f"{text}\n{_shape_text(node, 0)}"
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
    found = list(dict.fromkeys(node for node, _ in _beginnings(outputs)))
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


# What is in a picture


def _beginnings(outputs: Any) -> list[_Address]:
    """Where the graphs behind a tensor, a node, or several of them begin.

    Raises TypeError for any other object, and ValueError for a tensor that requires no grad, because it has no graph.
    """
    if isinstance(outputs, TensorBase | graph.Node) or not isinstance(outputs, Iterable):
        outputs = [outputs]
    found: list[_Address] = []
    for output in outputs:
        if not isinstance(output, TensorBase | graph.Node):
            raise TypeError(f"a graph can be drawn from tensors or their grad_fn, not from {type(output).__name__}")
        edge = edge_of(output) if isinstance(output, TensorBase) else behind(output)
        if edge is None:
            raise ValueError("there is no graph to draw: this tensor requires no grad. It was computed from constants, "
                             "or under no_grad(), or detached.")
        found.append((edge.node, edge.index))
    return found


def names_of(params: Module | Mapping[str, Any] | Iterable[tuple[str, Any]] | None) -> dict[int, str]:
    """The names of leaves by identity.

    They come from a Module, from {name: tensor}, or from `Module.named_parameters()`. Raises TypeError for any other
    object.
    """
    if isinstance(params, Module):
        params = params.named_parameters()
    elif isinstance(params, Mapping):
        params = params.items()
    given: Any = () if params is None else params if isinstance(params, Iterable) else [params]
    names: dict[int, str] = {}
    for pair in [given] if isinstance(given, TensorBase) else given:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
                and isinstance(pair[1], TensorBase)):
            raise TypeError("the leaves are named by a Module, by a dictionary {name: tensor}, or by pairs of name and "
                            f"tensor, as Module.named_parameters() gives them; not by {type(pair).__name__}")
        names.setdefault(id(pair[1]), pair[0])
    return names


def _label(node: Node, names: Mapping[int, str]) -> str:
    """The name of a node: its class, or the given name of a leaf."""
    return names.get(id(node.variable), "leaf") if isinstance(node, AccumulateGrad) else type(node.public).__name__


def _shape_text(node: Node, index: int) -> str:
    """The shape of one output of a node, such as '[2, 3]', or '' for an output that is not a tensor."""
    shape = node.shape[index] if node.several else node.shape
    return "" if shape is None else str([*shape])
