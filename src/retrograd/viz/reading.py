"""The contents of a picture of a gradient graph: where the graph begins, and the text of each node.

Of a node this module reads little more than users see: `links`, `name()`, `variable`, `shape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..autograd import graph
from ..graph.node import AccumulateGrad, Node, behind
from ..nn.modules.module import Module
from ..tensors.state.base import TensorBase, edge_of

Address = tuple[Node, int]      # a node, and the number of one of its outputs


def beginnings(outputs: Any) -> list[Address]:
    """Where the graphs behind a tensor, a node, or several of them begin.

    Raises TypeError for any other object, and ValueError for a tensor that requires no grad, because it has no graph.
    """
    if isinstance(outputs, TensorBase | graph.Node) or not isinstance(outputs, Iterable):
        outputs = [outputs]
    found: list[Address] = []
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


def label(node: Node, names: Mapping[int, str]) -> str:
    """The name of a node: its class, or the given name of a leaf."""
    return names.get(id(node.variable), "leaf") if isinstance(node, AccumulateGrad) else type(node.public).__name__


def shape_text(node: Node, index: int) -> str:
    """The shape of one output of a node, such as '[2, 3]', or '' for an output that is not a tensor."""
    shape = node.shape[index] if node.several else node.shape
    return "" if shape is None else str([*shape])
