"""torch.autograd.graph: nodes of the graph and edges to them, as users hold them.

What a node is and does stands in `retrograd.graph`; this module only gives it PyTorch's names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..graph import node
from ..graph.hooks import RemovableHandle
from ..graph.node import GradientEdge
from ..tensor.state import edge_of
from .context import BackwardCFunction
from .memory import memory_held
from .mutation import allow_mutation_on_saved_tensors
from .saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["Node", "GradientEdge", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
           "get_gradient_edge", "memory_held", "save_on_cpu", "saved_tensors_hooks"]


class Node(ABC):
    """What every `grad_fn` is an instance of.

    >>> import retrograd as torch
    >>> y = torch.ones(2, requires_grad=True).exp()
    >>> isinstance(y.grad_fn, torch.autograd.graph.Node), y.grad_fn.name()
    (True, 'ExpBackward0')
    """

    @abstractmethod
    def name(self) -> str:
        """The name of the operation."""

    @property
    @abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that made it and which of its outputs it is."""

    @property
    @abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes."""

    @abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran."""

    @abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs."""


Node.register(node.Node)
Node.register(BackwardCFunction)


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
    return GradientEdge(edge.node and edge.node.public, edge.index)
