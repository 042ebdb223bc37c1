"""The gradient graph as a text tree: one line for each node, and its inputs indented below it.

There is no recursion: a graph of any depth prints, up to `max_nodes` lines.
"""

from __future__ import annotations

from typing import Any

from ..graph.node import Node
from .reading import beginnings, label, names_of, shape_text


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
    stack = [(node, index, "", "") for node, index in reversed(beginnings(outputs))]
    while stack:
        if len(lines) >= max_nodes:
            lines.append(f"… (cut after {max_nodes} nodes: max_nodes= shows more)")
            break
        node, index, before, below = stack.pop()
        inputs = [(n, i) for n, i in node.links if n is not None]
        again = node in seen and bool(inputs)
        output = f"output {index}" if node.outputs > 1 else ""
        words = (label(node, names), output, shape_text(node, index), "(see above)" if again else "")
        lines.append(before + " ".join(filter(None, words)))
        seen.add(node)
        if inputs and not again:
            *others, last = inputs
            stack.append((*last, below + "└─ ", below + "   "))
            stack += [(*other, below + "├─ ", below + "│  ") for other in reversed(others)]
    return "\n".join(lines)
