"""The gradient graph as text: as a tree, and in the DOT language of Graphviz.

Drawing reads the graph and changes nothing. Of a node it reads little more than users see: `links`, `name()`,
`variable`, `shape`. There is no recursion, so a graph of any depth can be drawn. Leaves are named as in `graph`.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from ..graph.node import AccumulateGrad, Node
from .graphs import beginnings, label_of, on_one_line, reachable, shape_text
from .naming import Names, calling_frame

_LONGEST = 10_000_000            # letters of a tree; each line of a deep one begins with a letter for each line above
_HEAD = """\
digraph gradients {
  rankdir=TB;
  node [shape=box, style="rounded,filled", fillcolor="#f3f3f3", fontname="sans-serif"];"""


def tree(outputs: Any, params: Any = None, max_nodes: int = 200) -> str:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them) as text, the newest operation first.

    A line has the name of an operation and the shape of its result. A leaf has its name from `params`, which is a
    Module, a dictionary from names to tensors, or the result of `Module.named_parameters()`. Other leaves get the names
    of the caller's variables. Constants are left out. If a node occurs again, the lines below it are not repeated. The
    text has at most `max_nodes` lines, and ends earlier if it becomes longer than ten million letters.

    Raises ValueError for a tensor that requires no grad, and TypeError for `params` that name no leaves.

    >>> import retrograd as torch
    >>> w, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    >>> y = (w * 2).exp()
    >>> print(torch.viz.tree((y * y + b).sum()))
    SumBackward0 []
    └─ AddBackward0 [3]
       ├─ MulBackward0 [3]
       │  ├─ ExpBackward0 [3]
       │  │  └─ MulBackward0 [3]
       │  │     └─ w [3]
       │  └─ ExpBackward0 [3] (see above)
       └─ b [3]
    """
    return tree_text(outputs, params, calling_frame(), max_nodes)


def tree_text(outputs: Any, params: Any, frame: FrameType | None, max_nodes: int) -> str:
    """The text of `tree`. `frame` is the program's, whose variables name leaves without a name."""
    begin = beginnings(outputs)
    names = Names(reachable([node for node, _ in begin]), params, frame).leaves
    lines: list[str] = []
    left = _LONGEST
    seen: set[Node] = set()
    # Still to print: a node, the number of its output, the prefix of its line, and the prefix of the lines below it.
    stack = [(node, index, "", "") for node, index in reversed(begin)]
    while stack:
        if len(lines) >= max_nodes or left < 0:
            why = "max_nodes= shows more" if left >= 0 else "the text is too long"
            lines.append(f"… (cut after {len(lines)} nodes: {why})")
            break
        node, index, before, below = stack.pop()
        inputs = [(n, i) for n, i in node.links if n is not None]
        again = node in seen and bool(inputs)
        output = f"output {index}" if node.outputs > 1 else ""
        words = (on_one_line(label_of(node, names)), output, shape_text(node, index), "(see above)" if again else "")
        lines.append(before + " ".join(filter(None, words)))
        left -= len(lines[-1])
        seen.add(node)
        if inputs and not again:
            *others, last = inputs
            stack.append((*last, below + "└─ ", below + "   "))
            stack += [(*other, below + "├─ ", below + "│  ") for other in reversed(others)]
    return "\n".join(lines)


def dot(outputs: Any, params: Any = None) -> str:
    """The graph behind a tensor (or a `grad_fn`, or a sequence of them) as DOT text; leaves are green.

    Arrows point from an operation to its inputs. Leaves are named as in `tree`.

    Raises ValueError for a tensor that requires no grad.
    """
    nodes = reachable([node for node, _ in beginnings(outputs)])
    names = Names(nodes, params, calling_frame()).leaves
    number = {node: i for i, node in enumerate(nodes)}
    lines = [_HEAD]
    for node, i in number.items():
        text = "\n".join(map(on_one_line, label_of(node, names).split("\n")))
        if node.outputs == 1:
            text = f"{text}\n{shape_text(node, 0)}"
        color = ', fillcolor="#cfe8cf"' if isinstance(node, AccumulateGrad) else ""
        lines.append(f"  n{i} [label={_quoted(text)}{color}];")
    for node, i in number.items():
        for child, index in node.links:
            if child is not None:
                note = f" [label={_quoted(f'output {index}')}]" if child.outputs > 1 else ""
                lines.append(f"  n{i} -> n{number[child]}{note};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
