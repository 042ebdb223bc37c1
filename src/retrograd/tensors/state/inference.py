"""Inference tensors cannot be saved for a backward pass. The check costs usual calls nothing.

Recording asks for the edges of its operands, which takes `edge_of` for tensors with an AutogradMeta only. If such a
tensor is an inference tensor, `edge_of` sets up a watcher that looks at what the next nodes save.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...foundations.modes import local
from ...graph.node import OpNode
from ...graph.packed import Converted, Indices

if TYPE_CHECKING:
    from ...graph.node import Node

# The node that saves an operand is among so many nodes that a call records first.
_NODES = 4


def watch_saving(array: Array) -> None:
    """Make the next nodes of this thread raise if they save this array, which is that of an inference tensor."""
    thread = local.thread
    if not thread.grad:
        return
    watch = next((watcher for watcher in thread.watchers if type(watcher) is _SavingWatch), None)
    if watch is None:
        watch = _SavingWatch()
        thread.watchers = (watch, *thread.watchers)          # if it raises, no hook of saved tensors is called
    watch.left = _NODES
    watch.arrays.append(weakref.ref(array))


def refuse_saved(node: Any, arrays: Sequence[Any]) -> None:
    """Raises RuntimeError if a node saves one of these arrays, which are those of inference tensors."""
    if isinstance(node, OpNode) and node.saved is not None:
        for kept in _kept(node.saved):
            if any([kept is array for array in arrays]):
                raise saved()


def saved() -> RuntimeError:
    """The error for an inference tensor that would be saved."""
    return noted(
        RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in "
                         "inference mode in computation tracked by autograd. To work around this, you can make a clone "
                         "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
                         "`torch.inference_mode()`."), "context#inference-tensor-saved")


def refuse_inference_leaf(tensor: Any) -> None:
    """Raises RuntimeError outside of inference mode for an inference tensor, which cannot come to require grad."""
    if tensor.is_inference() and not local.thread.inference:
        raise noted(
            RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."),
            "tensors#requires-grad-of-inference-tensor", because="A clone of it is a normal tensor")


class _SavingWatch:
    """A watcher of nodes that removes itself. It keeps no array alive, and remembers only the latest arrays."""

    __slots__ = ("arrays", "left")

    def __init__(self) -> None:
        self.left = _NODES
        self.arrays: deque[weakref.ref[Any]] = deque(maxlen=16)

    def __call__(self, node: Node, results: Any, operands: Any) -> None:
        self.left -= 1
        try:
            refuse_saved(node, [array for reference in self.arrays if (array := reference()) is not None])
        except RuntimeError:
            self.left = 0
            raise
        finally:
            if self.left <= 0:
                thread = local.thread
                thread.watchers = tuple([watcher for watcher in thread.watchers if watcher is not self])


def _kept(value: Any) -> Iterator[Any]:
    """The arrays among saved values; of operands that were brought to another dtype, the operands themselves."""
    if isinstance(value, Converted):
        yield value.original
    elif isinstance(value, (tuple, list, Indices)):
        for inner in value.arrays if isinstance(value, Indices) else value:
            yield from _kept(inner)
    else:
        yield value
