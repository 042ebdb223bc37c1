"""torch.autograd.graph: nodes of the graph and edges to them, as users hold them, and hooks on several at once."""

from .edges import GradientEdge, Node, get_gradient_edge

__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
]
