"""Users' hooks on tensors and on nodes, and how the engine calls them.

A user's hook gets tensors, and its result is checked with PyTorch's messages. The engine carries arrays, or tensors if
the pass is recorded. The engine decides when a hook is called.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.errors import noted, warn_once
from ...foundations.modes import as_program
from ...graph.engine import Pass
from ...graph.faults import type_text
from ...graph.hooks import RemovableHandle, present, register
from ...graph.locks import accumulating, histories
from ...graph.node import AccumulateGrad, hooks_of
from ...graph.versions import next_number
from ...ops.basic import clone
from ..state.base import TensorBase, edge_of, faced, meta_of, stands_as_leaf
from .gradients import accumulate, as_tensor, input_edge, inputs_of
from .recorder import RECORDER
from .refusals import refuse_retaining_inside

if TYPE_CHECKING:
    from ...graph.node import Node


def call(hooks: Mapping[int, Callable[..., Any]], value: Any, *more: Any) -> Any:
    """Call hooks, in order, with a gradient or a tuple of gradients. A hook's result, unless None, replaces the value.

    Hooks that are registered or removed meanwhile take effect in the next call.
    """
    for hook in present(hooks):
        after = as_program(hook, value, *more)
        if after is None or after is value:
            continue
        if type(value) is tuple:
            _check_all(hook, value, after)
        else:
            _check(hook, value, after)
        value = after
    return value


def shown(cotangents: Sequence[Any]) -> list[Any]:
    """The engine's gradients as tensors."""
    return [None if g is None else faced(as_tensor(g)) for g in cotangents]


def carried(tensors: Sequence[Any], recorder: Any) -> list[Any]:
    """Tensors in the form that the engine carries."""
    return [*tensors] if recorder is not None else [None if g is None else g._array for g in tensors]


def call_node(node: Node, cotangents: tuple[Any, ...]) -> Any:
    """Run a node as a function, without its hooks: from the gradients of its outputs to those of its inputs.

    It returns a tuple, or the gradient itself for a single input. In grad mode it is recorded. For an AccumulateGrad,
    it adds to the gradient of the leaf.
    """
    count = node.outputs if node.several else 1
    if len(cotangents) != count:
        raise noted(
            TypeError(f"expected {count} arguments, got {len(cotangents)} instead"), "hooks#arguments-of-callback")
    for i, g in enumerate(cotangents):
        if g is not None and not isinstance(g, TensorBase):
            raise noted(
                TypeError(f"argument {i} is not a Variable"), "hooks#arguments-of-callback",
                given=f"a {type(g).__name__}")
    if isinstance(node, AccumulateGrad):
        (gradient,) = carried(cotangents, None)
        accumulate(node.variable, gradient, None, False)
        return ()
    if cotangents == (None,) * count:
        gradients: Sequence[Any] = [None] * len(node.edges)
    else:
        walk = Pass([], recorder=RECORDER, keep=True)
        gradients = walk.gradients(node, [*cotangents] if node.several else cotangents[0])
    places = node.inputs_shown()
    found = tuple(gradients if places is None else [gradients[i] for i in places])
    return found[0] if len(found) == 1 else found


def register_on(tensor: TensorBase, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Add a hook to a tensor, and return its handle. The tensor's node calls the hook, or for a leaf the engine."""
    meta = meta_of(tensor)
    with histories:
        if meta.hooks is None:
            edge = edge_of(tensor)                      # may be a new edge, without hooks
            meta.hooks = OrderedDict()
            if not stands_as_leaf(tensor):
                edge.node._register_hook_dict(tensor)
        return register(meta.hooks, hook)


def retain(tensor: TensorBase) -> None:
    """Keep the gradients of a non-leaf in its `.grad` while it lives. Raises RuntimeError if it requires no grad."""
    if not tensor.requires_grad:
        raise noted(
            RuntimeError("can't retain_grad on Tensor that has requires_grad=False"),
            "backward#retain-grad-without-grad")
    refuse_retaining_inside()
    meta = meta_of(tensor)
    reference = weakref.ref(tensor)

    def keep(gradient: TensorBase) -> None:
        alive = reference()
        if alive is not None and gradient is not None:
            meta = meta_of(alive)
            with accumulating:
                meta.grad = clone(gradient, "C") if meta.grad is None else meta.grad + gradient

    with histories:
        if stands_as_leaf(tensor) or meta.retained is not None:
            return
        edge, number = edge_of(tensor), next_number()
        hooks_of(edge.node).retain[number] = (edge.index, keep)
        meta.retained = number


def accumulating_edges(inputs: Any) -> list[Any]:
    """The edges of the tensors, leaves or not, into which a pass accumulates gradients."""
    tensors = inputs_of(inputs, "backward()")
    for tensor in tensors:
        if isinstance(tensor, TensorBase):
            retain(tensor)
    return [input_edge(tensor) for tensor in tensors]


def warn_of_cycle() -> None:
    """Warn the caller's caller, once, of the reference cycle that accumulating a recorded gradient makes."""
    warn_once("Using backward() with create_graph=True will create a reference cycle between the parameter and its "
              "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
              "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
              "to None after use to break the cycle and avoid the leak.")


def _check_all(hook: Callable[..., Any], before: tuple[Any, ...], after: Any) -> None:
    """Check that a hook on a node returned a tuple like the tuple that it was given."""
    if not isinstance(after, tuple):
        raise noted(
            TypeError(f"expected tuple, but hook returned '{type(after).__name__}'"), "hooks#hook-returns-a-tuple")
    if len(after) != len(before):
        raise noted(
            RuntimeError(f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(after)}, but "
                         f"expected {len(before)})"), "hooks#number-from-hook")
    for was, got in zip(before, after):
        if got is not None:
            _check(hook, was, got)


def _check(hook: Callable[..., Any], before: TensorBase, after: TensorBase) -> None:
    """Check that a hook returned a gradient like the gradient that it was given."""
    if not isinstance(after, TensorBase):
        raise noted(
            TypeError(f"expected Variable, but hook returned '{type(after).__name__}'"), "hooks#hook-returns-a-tensor")
    if before is None:
        raise noted(RuntimeError("can't replace a None gradient with a non-None value"), "hooks#none-from-hook")
    was, got = before._array, after._array
    if was.dtype != got.dtype or before.layout is not after.layout:
        raise noted(
            RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was {type_text(was)} "
                         f"got {type_text(got)})"), "hooks#type-from-hook")
    if was.shape != got.shape:
        raise noted(
            RuntimeError(f"hook '{_name(hook)}' has changed the size of value"), "hooks#size-from-hook",
            given=f"{list(was.shape)} and is {list(got.shape)}")


def _name(hook: Any) -> str:
    name: str = getattr(hook, "__name__", "<unknown>")
    return name
