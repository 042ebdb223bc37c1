"""The gradient graph as a text tree: one line a node, its inputs below it. Reads nodes through their public face.

No recursion: a graph of any depth prints, up to `max_nodes` lines.
"""

from __future__ import annotations

from typing import Any

from ..graph.node import AccumulateGrad


def _label(node: Any, index: int, names: dict[int, str]) -> str:
    """'MulBackward0 [2, 3]', or for a leaf 'AccumulateGrad weight [2, 3]'."""
    shape = node.shape[index] if node.several else node.shape
    text = node.name()
    if isinstance(node, AccumulateGrad):
        variable = node.variable
        text += f" {names[id(variable)]}" if id(variable) in names else ""
    suffix = f" output {index}" if node.several else ""
    return f"{text} {list(shape)}{suffix}"


def tree(tensor: Any, params: Any = None, max_nodes: int = 200) -> str:
    """The graph behind `tensor` as text, newest operation first; a node met again is marked and not expanded.

    `params` may name leaves: a dictionary of name to tensor, or what `Module.named_parameters()` gives. At most
    `max_nodes` lines are printed.

    >>> import retrograd as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> print(tree((x * 2).sum(), {"x": x}))
    SumBackward0 []
    └─ MulBackward0 [3]
       └─ AccumulateGrad x [3]
    """
    root = tensor.grad_fn if hasattr(tensor, "grad_fn") else tensor
    if root is None:
        return f"(no graph: a {'leaf' if tensor.requires_grad else 'constant'} of shape {list(tensor.shape)})"
    named = params.items() if isinstance(params, dict) else params or ()
    names = {id(leaf): name for name, leaf in named}
    lines: list[str] = []
    seen: set[Any] = set()
    stack: list[tuple[Any, int, str, str]] = [(root, getattr(tensor, "output_nr", 0), "", "")]
    while stack:
        if len(lines) == max_nodes:
            lines.append(f"… (more than {max_nodes} nodes; max_nodes= shows more)")
            break
        node, index, first, rest = stack.pop()
        again = node in seen and bool(node.next_functions)
        lines.append(first + _label(node, index, names) + (" (above)" if again else ""))
        if again:
            continue
        seen.add(node)
        children = [(n, i) for n, i in node.next_functions if n is not None]
        for place, (child, child_index) in reversed([*enumerate(children)]):
            last = place == len(children) - 1
            stack.append((child, child_index, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))
    return "\n".join(lines)
