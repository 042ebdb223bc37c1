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
        self.tensor: dict[int, Hook] = {}
        self.retain: dict[int, Hook] = {}
        self.pre: dict[int, Hook] = {}
        self.post: dict[int, Hook] = {}
        self.metadata: dict[Any, Any] = {}

    def before(self, cotangent: Any, recorder: Any) -> Any:
        """Run what comes before the node on the gradients of its outputs; what the hooks make of them."""
        for hooks in (self.tensor, self.pre, self.retain):
            for hook in [*hooks.values()]:
                cotangent = hook(cotangent, recorder)
        return cotangent

    def after(self, results: Any, cotangent: Any, recorder: Any) -> Any:
        """Run the post-hooks on the gradients that the node computed."""
        for hook in [*self.post.values()]:
            results = hook(results, cotangent, recorder)
        return results


class RemovableHandle:
    """Takes a hook away again: `handle.remove()`, or at the end of a `with` block. Removing twice does no harm."""

    def __init__(self, hooks: dict[int, Hook]) -> None:
        self.id = _next_id()
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: dict[int, Hook], hook: Hook) -> RemovableHandle:
    """Add a hook and give the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
