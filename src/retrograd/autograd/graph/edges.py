"""The edge of a tensor's gradient, as users hold it.

`retrograd.graph` defines nodes and edges. This module gives them PyTorch's names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ...graph import node
from ...graph.hooks import RemovableHandle
from ...graph.node import GradientEdge as GradientEdge
from ...tensors.recording.inplace import written
from ...tensors.state.base import TensorBase, edge_of
from ..context import BackwardCFunction


class Node(ABC):
    """The class of every `grad_fn`.

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
        """For each input, the node that made the input and the number of the output."""

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
    """The edge that the gradient of `tensor` goes along: its node, and the number of the node's output.

    `autograd.grad` and `backward` take the edge instead of the tensor. The edge does not keep the tensor alive. Raises
    RuntimeError if the tensor requires no grad.

    >>> import retrograd as torch
    >>> x = torch.tensor(3., requires_grad=True)
    >>> y = x * x
    >>> edge = torch.autograd.graph.get_gradient_edge(y)
    >>> torch.autograd.grad(y * y, edge)
    (tensor(18.),)
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = edge_of(tensor)
    return GradientEdge(edge.node and edge.node.public, edge.index)


def increment_version(tensor: Any) -> None:
    """Count a write to the memory of a tensor, or of several, that autograd could not see.

    A backward pass that needs a value from this memory then raises an error, as after any write in place. Tensors of
    inference mode have no version. Raises RuntimeError at an element that is not a tensor.

    >>> import retrograd as torch
    >>> x = torch.ones(2)
    >>> x.numpy()[0] = 5.
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    try:
        tensors = iter((tensor,) if isinstance(tensor, TensorBase) else tensor)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input. This is a "
                           f"{type(tensor).__name__}.") from None
    for element in tensors:
        if not isinstance(element, TensorBase):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor. This one is a "
                               f"{type(element).__name__}.")
        if not element.is_inference():
            written(element)
