"""torch.autograd.graph: nodes of the graph and edges to them, as users hold them.

What a node is and does stands in `retrograd.graph`; this module only gives it PyTorch's names.
"""

from __future__ import annotations

from typing import Any

from ..graph.node import GradientEdge, Node
from ..tensor.state import edge_of

__all__ = ["Node", "GradientEdge", "get_gradient_edge"]


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge that the gradient of `tensor` goes along: its node, and which output of the node it is.

    It stands for the tensor where `autograd.grad` and `backward` take tensors, and does not keep it alive. Raises
    RuntimeError where the tensor requires no grad.

    >>> import retrograd as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.get_gradient_edge(y)
    >>> torch.autograd.grad(y * y, edge)
    (tensor(18.),)
    """
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge.node, edge.index)
