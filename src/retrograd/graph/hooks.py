"""Hooks on nodes, kept in PyTorch's order: tensor hooks, retain_grad, node pre-hooks; after the node, post-hooks.

Hooks see what the engine carries: a raw array, or what the recorder made of it. Must not know Tensor: whoever
registers a hook wraps the user's function.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

Hook = Callable[..., Any]
_next_id = itertools.count().__next__


class Hooks:
    """The hooks of one node: on the gradients of its outputs, before it runs, and after; and the user's notes."""

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        # On one gradient: which output it is of, and the hook.
        self.tensor: dict[int, tuple[int, Hook]] = {}
        self.retain: dict[int, tuple[int, Hook]] = {}
        self.pre: dict[int, Hook] = {}
        self.post: dict[int, Hook] = {}
        self.metadata: dict[Any, Any] = {}

    def arrived(self, cotangents: list[Any], recorder: Any) -> None:
        """Let the hooks on tensors see, and replace, the gradients of the node's outputs; None is an absent one."""
        for hooks in (self.tensor, self.retain):
            for position, hook in [*hooks.values()]:
                cotangents[position] = hook(cotangents[position], recorder)

    def before(self, cotangents: list[Any], recorder: Any) -> list[Any]:
        """Run the pre-hooks, now that the node is to run; what they make of the gradients of its outputs."""
        for hook in [*self.pre.values()]:
            cotangents = hook(cotangents, recorder)
        return cotangents

    def after(self, results: Any, cotangents: list[Any], recorder: Any) -> Any:
        """Run the post-hooks on the gradients that the node computed."""
        for hook in [*self.post.values()]:
            results = hook(results, cotangents, recorder)
        return results


class HookMakers:
    """Make of a hook on a node, as users write it, one for the engine. Named once, by the layer that users see."""

    before_node: Callable[[Any], Hook]
    after_node: Callable[[Any, tuple[int, ...] | None], Hook]


class RemovableHandle:
    """Takes a hook away again: `handle.remove()`, or at the end of a `with` block. Removing twice does no harm."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.id = _next_id()
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: dict[int, Any], hook: Any) -> RemovableHandle:
    """Add a hook and give the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
