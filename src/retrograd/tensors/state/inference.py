"""Inference tensors cannot be saved for a backward pass. The check costs usual calls nothing.

Recording asks for the edges of its operands, which takes `edge_of` for tensors with an AutogradMeta only. If such a
tensor is an inference tensor, `edge_of` sets up a watcher that looks at what the next nodes save.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.errors import noted
from ...foundations.modes import local
from ...graph.node import OpNode, leaves_behind
from ...graph.packed import Converted, Indices

if TYPE_CHECKING:
    from ...graph.node import Node
    from .base import TensorBase

# The node that saves an operand is among so many nodes that a call records first.
_NODES = 4


def watch_saving(tensor: TensorBase) -> None:
    """Make the next nodes of this thread raise if they save the array of this inference tensor."""
    thread = local.thread
    if not thread.grad:
        return
    watch = next((watcher for watcher in thread.watchers if type(watcher) is _SavingWatch), None)
    if watch is None:
        watch = _SavingWatch()
        thread.watchers = (watch, *thread.watchers)          # if it raises, no hook of saved tensors is called
    watch.left = _NODES
    watch.arrays.append((weakref.ref(tensor._array), within(tensor)))


def within(tensor: TensorBase) -> int:
    """How many transforms of functions were running when this inference tensor was made."""
    meta = tensor._grad_meta
    return 0 if meta is None else meta.within


def refuse_saved(node: Any, arrays: Sequence[tuple[Any, int]]) -> None:
    """Raises RuntimeError if a node saves one of these arrays of inference tensors, which are beside their `within`."""
    if isinstance(node, OpNode) and node.saved is not None:
        for kept in _kept(node.saved):
            for array, depth in arrays:
                if kept is array:
                    refuse_saving(node, depth)


def refuse_saving(node: Node, depth: int) -> None:
    """Raises RuntimeError if a node may not save an inference tensor that was made inside of `depth` transforms.

    For a transform, a tensor from outside is a constant of its own. So the node may save the tensor if it leads only to
    arguments of transforms that began after the tensor was made.
    """
    leaves = [within(leaf.variable) for leaf in leaves_behind(node)]
    if leaves and min(leaves) > depth:
        return
    raise noted(
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
        self.arrays: deque[tuple[weakref.ref[Any], int]] = deque(maxlen=16)

    def __call__(self, node: Node, results: Any, operands: Any) -> None:
        self.left -= 1
        try:
            refuse_saved(node, [(array, depth) for reference, depth in self.arrays
                                if (array := reference()) is not None])
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
