"""torch.autograd.graph: nodes of the graph and edges to them, as users hold them, and hooks on several at once."""

from ..memory import memory_held
from .edges import GradientEdge, Node, get_gradient_edge, increment_version
from .multi_grad import register_multi_grad_hook

__all__ = [
    "GradientEdge",
    "Node",
    "get_gradient_edge",
    "increment_version",
    "memory_held",
    "register_multi_grad_hook",
]
