"""The edge of a tensor's gradient, as users hold it, and a hook on the gradients of several tensors at once.

`retrograd.graph` defines nodes and edges. This module gives them PyTorch's names. A hook on several gradients asks the
running pass which gradients will come.
"""

from __future__ import annotations

import functools
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from ...foundations.errors import noted
from ...foundations.modes import local
from ...graph import node
from ...graph.engine import Pass
from ...graph.hooks import RemovableHandle
from ...graph.node import GradientEdge as GradientEdge
from ...tensors.recording.inplace import written
from ...tensors.state.base import TensorBase, edge_of, stands_as_leaf
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
    def _sequence_nr(self) -> int:
        """The order of the node among those of its thread."""

    @property
    @abstractmethod
    def _input_metadata(self) -> Sequence[Any]:
        """The shapes and dtypes of the gradients that the node gets."""

    @abstractmethod
    def _register_hook_dict(self, tensor: Any) -> None:
        """Call the hooks of a dictionary of `tensor` before the node runs."""

    @abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran."""

    @abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs."""


Node.register(node.Node)
Node.register(BackwardCFunction)


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
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
        raise noted(
            RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients"),
            "backward#no-gradient-edge")
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
        raise noted(
            RuntimeError("increment_version expect a Iterable[Tensor] as input"),
            "in-place#increment-version-takes-tensors", given=f"a {type(tensor).__name__}") from None
    for element in tensors:
        if not isinstance(element, TensorBase):
            raise noted(
                RuntimeError("increment_version expects each element of the iterable to be a tensor"),
                "in-place#increment-version-takes-tensors", given=f"a {type(element).__name__}")
        if not element.is_inference():
            written(element)


# Hooks on several gradients


class _MultiHandle(RemovableHandle):
    """Removes a hook on several tensors."""

    __module__ = "retrograd.autograd.graph"

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from all of the tensors."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple[RemovableHandle, ...]:
        return self.handles

    def __setstate__(self, state: tuple[RemovableHandle, ...]) -> None:
        self.handles = state


class _All:
    """Gathers the gradients of a pass, and calls the hook once all that the pass computes have arrived."""

    def __init__(self, tensors: Sequence[Any], hook: Callable[[list[Any]], Any]) -> None:
        self.hook, self.lock = hook, threading.RLock()
        # Nodes by their numbers, leaves weakly: the nodes hold the hook, so the hook must not hold the nodes.
        self.made_by = [weakref.ref(t) if stands_as_leaf(t) else edge_of(t).node.number for t in tensors]
        # For each pass: how many gradients are due, the gradients that arrived, and their places.
        self.gathered: WeakKeyDictionary[Pass, tuple[int, list[Any], list[int]]] = WeakKeyDictionary()

    def seen(self, index: int, gradient: TensorBase) -> None:
        """Note the gradient of one of the tensors, in the running pass."""
        walk = _under_way()
        with self.lock:
            if walk not in self.gathered:
                due = sum([_is_run(walk, node) for node in self.made_by])
                self.gathered[walk] = due, [None] * len(self.made_by), []
            due, gradients, places = self.gathered[walk]
            places.append(index)
            gradients[index] = gradient
            if len(places) != due:
                return
            del self.gathered[walk]
        self.hook(gradients)


class _Any:
    """Calls the hook with the first gradient of a pass."""

    def __init__(self, hook: Callable[[Any], Any]) -> None:
        self.hook, self.lock = hook, threading.RLock()
        self.seen: WeakSet[Pass] = WeakSet()
        functools.update_wrapper(self, hook)

    def __call__(self, gradient: TensorBase) -> None:
        walk = _under_way()
        with self.lock:
            if walk in self.seen:
                return
            self.seen.add(walk)
        self.hook(gradient)


def _under_way() -> Pass:
    walk: Pass | None = local.thread.walk
    if walk is None:
        raise noted(
            AssertionError("expected this hook to be called inside a backward call"), "hooks#hook-outside-of-backward")
    return walk


def _is_run(walk: Pass, made_by: Any) -> bool:
    """Whether the pass runs a node, given by its number, or a leaf.

    Raises RuntimeError for a leaf in a pass of `autograd.grad`.
    """
    if isinstance(made_by, int):
        return walk.runs(made_by)
    leaf = made_by()
    if leaf is None or not walk.runs(edge_of(leaf).number):
        return False
    if edge_of(leaf) in walk.capture:
        raise noted(
            RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running "
                         "autograd.grad(). This is currently not supported."), "hooks#leaf-node-in-grad",
            instead="leave leaves out of a hook of mode 'all', or call backward()")
    return True


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[[Any], Any], *, mode: str = "all") -> RemovableHandle:
    """Call `fn` in each backward pass, once all gradients of `tensors` have arrived, or the first of them.

    In mode "all", `fn` gets a list of the gradients, with None for a tensor whose gradient the pass does not compute.
    In mode "any", `fn` gets the first gradient. The return value of `fn` is ignored. If a tensor requires no grad, mode
    "all" raises AssertionError, and mode "any" skips the tensor.

    >>> import retrograd as torch
    >>> x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    >>> handle = torch.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> (x * y).sum().backward()
    [tensor([1., 1.]), tensor([1., 1.])]
    """
    modes = ("all", "any")
    if mode not in modes:
        raise noted(ValueError(f"Expects mode to be one of {modes} but got {mode}"), "hooks#mode-of-multi-hook")
    if mode == "any":
        once = _Any(fn)
        return _MultiHandle(tuple([tensor.register_hook(once) for tensor in tensors if tensor.requires_grad]))
    for tensor in tensors:
        if not tensor.requires_grad:
            raise noted(
                AssertionError("Expected gradient function to be set"), "hooks#multi-hook-without-grad",
                because="this tensor requires no grad")
    gatherer = _All(tensors, fn)
    return _MultiHandle(tuple([tensor.register_hook(functools.partial(gatherer.seen, i))
                              for i, tensor in enumerate(tensors)]))
