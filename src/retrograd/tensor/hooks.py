"""Hooks as users write them, on tensors and on nodes, made into those that the engine calls.

A user's hook sees tensors, and what it returns is checked with PyTorch's words; the engine carries raw arrays, or
tensors where the pass is recorded. This module must not know when a hook is called.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..graph.faults import type_text
from ..graph.hooks import Hook, HookMakers, register
from ..graph.node import hooks_of
from ..ops.basic import clone
from .gradients import as_tensor, input_edge
from .recording import recorded
from .state import State, edge_of, meta_of, stands_as_leaf

_clone = recorded(clone)


def on_tensor(hook: Callable[[Any], Any]) -> Hook:
    """`hook(grad)`; what it returns, unless None, stands in for the gradient."""

    def call(g: Any, recorder: Any) -> Any:
        before = _seen(g)
        after = hook(before)
        return g if after is None else _carried(_fitting(hook, before, after), recorder)

    return call


def before_node(hook: Callable[[tuple[Any, ...]], Any]) -> Hook:
    """`hook(grad_outputs)`, with a tuple; the tuple it returns, unless None, stands in for it."""

    def call(cotangents: list[Any], recorder: Any) -> list[Any]:
        seen = tuple([_seen(g) for g in cotangents])
        after = hook(seen)
        return cotangents if after is None else _replaced(hook, seen, after, recorder)

    return call


def after_node(hook: Callable[[tuple[Any, ...], tuple[Any, ...]], Any], places: tuple[int, ...] | None) -> Hook:
    """`hook(grad_inputs, grad_outputs)`, with tuples; the tuple it returns, unless None, stands in for the first.

    `places` says which of the node's edges a user counts as its inputs; None says all.
    """

    def call(results: Any, cotangents: list[Any], recorder: Any) -> Any:
        at = range(len(results)) if places is None else places
        seen = tuple([_seen(results[i]) for i in at])
        after = hook(seen, tuple([_seen(g) for g in cotangents]))
        if after is None:
            return results
        replaced = [*results]
        for i, g in zip(at, _replaced(hook, seen, after, recorder)):
            replaced[i] = g
        return replaced

    return call


def retain(tensor: Any) -> None:
    """Keep the gradients of a non-leaf in its `.grad`, as long as it lives. Raises RuntimeError where it has none."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    meta = meta_of(tensor)
    if stands_as_leaf(tensor) or meta.retained is not None:
        return
    reference = weakref.ref(tensor)

    def keep(g: Any, recorder: Any) -> Any:
        alive = reference()
        if alive is not None and g is not None:
            meta = meta_of(alive)
            gradient = as_tensor(g)
            meta.grad = _clone(gradient, "C") if meta.grad is None else meta.grad + gradient
        return g

    edge = edge_of(tensor)
    meta.retained = register(hooks_of(edge.node).retain, (edge.index, keep)).id


def accumulating_edges(inputs: Sequence[Any]) -> list[Any]:
    """The edges of tensors whose gradients a pass is to accumulate, leaves or not."""
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    edges = [input_edge(tensor) for tensor in inputs]
    for tensor in inputs:
        if isinstance(tensor, State):
            retain(tensor)
    return edges


def warn_of_cycle() -> None:
    """Tell the caller's caller what accumulating a recorded gradient does."""
    warnings.warn("Using backward() with create_graph=True will create a reference cycle between the parameter and its "
                  "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
                  "avoid this. If you have to use this function, make sure to reset the .grad fields of your "
                  "parameters to None after use to break the cycle and avoid the leak.", UserWarning, stacklevel=3)


def _seen(g: Any) -> Any:
    return None if g is None else as_tensor(g)


def _carried(g: Any, recorder: Any) -> Any:
    return g if g is None or recorder is not None else g._array


def _replaced(hook: Any, before: tuple[Any, ...], after: Any, recorder: Any) -> list[Any]:
    """What a hook on a node returned, refused unless it is a tuple like the one it was given."""
    if not isinstance(after, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(after).__name__}'")
    if len(after) != len(before):
        raise RuntimeError(f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(after)}, but "
                           f"expected {len(before)})")
    return [None if a is None else _carried(_fitting(hook, b, a), recorder) for b, a in zip(before, after)]


def _fitting(hook: Any, before: Any, after: Any) -> Any:
    """One gradient that a hook returned, refused unless it is like the one it was given."""
    if not isinstance(after, State):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}'")
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    was, got = before._array, after._array
    if was.dtype != got.dtype:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was {type_text(was)} got "
                           f"{type_text(got)})")
    if was.shape != got.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value. It was {list(was.shape)} and is "
                           f"{list(got.shape)}.")
    return after


def _name(hook: Any) -> str:
    name: str = getattr(hook, "__name__", "<unknown>")
    return name


HookMakers.before_node, HookMakers.after_node = staticmethod(before_node), staticmethod(after_node)
