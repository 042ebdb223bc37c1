"""Hooks on nodes, kept in PyTorch's order: tensor hooks, retain_grad, node pre-hooks; after the node, post-hooks.

They are kept as users wrote them, in the dictionaries that `RemovableHandle` takes them out of again. How a gradient
is shown to a hook, and what may be made of its answer, is known to the layer of tensors: it fills in `Users`.
Must not know Tensor.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

HookDict = OrderedDict[int, Callable[..., Any]]


class Users:
    """How users' hooks are called. Named once, by the layer that users see."""

    # The gradients that the engine carries as users see them, and back again for a pass with this recorder.
    shown: Callable[[Sequence[Any]], list[Any]]
    carried: Callable[[Sequence[Any], Any], list[Any]]
    # Call hooks in order with a value and further arguments; what they made of the value.
    call: Callable[..., Any]
    # Run a node, called as a function, on what users gave it.
    node: Callable[[Any, tuple[Any, ...]], Any]


class Hooks:
    """The hooks of one node: on the gradients of its outputs, before it runs, and after; and the user's notes."""

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        # The hooks on tensors that it made: which output one is, and its hooks.
        self.tensor: list[tuple[int, HookDict]] = []
        self.retain: dict[int, tuple[int, Callable[[Any], None]]] = {}
        self.pre: HookDict = OrderedDict()
        self.post: HookDict = OrderedDict()
        self.metadata: dict[Any, Any] = {}

    def arrived(self, shown: list[Any]) -> None:
        """Let the hooks on tensors see, and replace, the gradients of the node's outputs; None is an absent one."""
        for position, hooks in [*self.tensor]:
            shown[position] = Users.call(hooks, shown[position])
        for position, keep in [*self.retain.values()]:
            keep(shown[position])

    def before(self, shown: list[Any]) -> list[Any]:
        """Run the pre-hooks, now that the node is to run; what they make of the gradients of its outputs."""
        return [*Users.call(self.pre, tuple(shown))]

    def after(self, results: Any, places: Sequence[int] | None, shown: list[Any], recorder: Any) -> list[Any]:
        """Run the post-hooks on the gradients that the node computed, of which users see those at `places`, or all."""
        replaced = [*results]
        places = range(len(replaced)) if places is None else places
        before = tuple(Users.shown([replaced[i] for i in places]))
        after = Users.call(self.post, before, tuple(shown))
        if after is not before:
            for i, g in zip(places, Users.carried(after, recorder), strict=True):
                replaced[i] = g
        return replaced


class RemovableHandle:
    """Takes a hook away again: `handle.remove()`, or at the end of a `with` block. Removing twice does no harm.

    It keeps neither the hook nor the dictionary alive. `extra_dict`, one or a list, are dictionaries that lose the
    entry of the same `id` with it.
    """

    __module__ = "retrograd.utils.hooks"
    next_id: ClassVar[int] = 0
    id: int
    hooks_dict_ref: Callable[[], Any]
    extra_dict_ref: tuple[Callable[[], Any], ...]

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else (extra_dict,)
        self.extra_dict_ref = tuple([weakref.ref(entries) for entries in extra])

    def remove(self) -> None:
        """Take the hook away."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            entries = reference()
            if entries is not None:
                entries.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple([reference() for reference in self.extra_dict_ref])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks_dict = OrderedDict() if state[0] is None else state[0]         # None: a reference that is dead at once
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        extra = state[2] if len(state) > 2 and state[2] is not None else ()
        self.extra_dict_ref = tuple([weakref.ref(entries) for entries in extra])

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: Any, hook: Any, *extra: Any) -> RemovableHandle:
    """Add a hook and give the handle that removes it, also from the dictionaries `extra`."""
    handle = RemovableHandle(hooks, extra_dict=[*extra])
    hooks[handle.id] = hook
    return handle
