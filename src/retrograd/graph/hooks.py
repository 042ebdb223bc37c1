"""Hooks on nodes, kept in PyTorch's order: tensor hooks, retain_grad, node pre-hooks; after the node, post-hooks.

Hooks are kept as users wrote them, in dictionaries from which `RemovableHandle` removes them again. The tensor layer
knows how to show a gradient to a hook and what to do with the answer, and `wiring` fills in `USER_HOOKS`.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from .locks import moment

HookDict = OrderedDict[int, Callable[..., Any]]


class UserHooks:
    """How the engine calls users' hooks: the functions of the one object `USER_HOOKS`. `wiring` fills them in.

    `shown` gives the engine's gradients the form that users see, and `carried` makes them gradients again, for a pass
    with this recorder. `call` calls hooks in order with a value and further arguments, and returns the value that they
    leave. `node` runs a node that a user called as a function with these arguments.
    """

    __slots__ = ("call", "carried", "node", "shown")
    shown: Callable[[Sequence[Any]], list[Any]]
    carried: Callable[[Sequence[Any], Any], list[Any]]
    call: Callable[..., Any]
    node: Callable[[Any, tuple[Any, ...]], Any]


USER_HOOKS = UserHooks()


class Hooks:
    """The hooks of one node: on its outputs' gradients, before the node runs and after; and the user's notes."""

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        # For each output with tensor hooks: its number, and its hooks.
        self.tensor: list[tuple[int, HookDict]] = []
        self.retain: dict[int, tuple[int, Callable[[Any], None]]] = {}
        self.pre: HookDict = OrderedDict()
        self.post: HookDict = OrderedDict()
        self.metadata: dict[Any, Any] = {}

    def arrived(self, shown: list[Any]) -> None:
        """Let the tensor hooks see and replace the gradients of the node's outputs. None is an absent gradient."""
        for position, hooks in [*self.tensor]:
            shown[position] = USER_HOOKS.call(hooks, shown[position])
        for position, keep in [*self.retain.values()]:
            keep(shown[position])

    def before(self, shown: list[Any]) -> list[Any]:
        """Run the pre-hooks just before the node runs, and return the gradients that they leave."""
        return [*USER_HOOKS.call(self.pre, tuple(shown))]

    def after(self, results: Any, places: Sequence[int] | None, shown: list[Any], recorder: Any) -> list[Any]:
        """Run the post-hooks on the node's gradients. Users see the gradients at `places`; None shows all."""
        replaced = [*results]
        places = range(len(replaced)) if places is None else places
        before = tuple(USER_HOOKS.shown([replaced[i] for i in places]))
        after = USER_HOOKS.call(self.post, before, tuple(shown))
        if after is not before:
            for i, g in zip(places, USER_HOOKS.carried(after, recorder), strict=True):
                replaced[i] = g
        return replaced


class RemovableHandle:
    """Removes a hook: by `handle.remove()`, or at the end of a `with` block. A second removal does nothing.

    The handle keeps neither the hook nor the dictionary alive. `extra_dict` is a dictionary or a list of dictionaries
    that lose the entry of the same `id` too.
    """

    __module__ = "retrograd.utils.hooks"
    next_id: ClassVar[int] = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        with moment:
            self.id = RemovableHandle.next_id
            RemovableHandle.next_id += 1
        extra = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else (extra_dict,)
        self.extra_dict_ref = tuple([weakref.ref(entries) for entries in extra])

    def remove(self) -> None:
        """Remove the hook."""
        with moment:
            for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
                entries = reference()
                if entries is not None:
                    entries.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.hooks_dict_ref(), self.id, tuple([reference() for reference in self.extra_dict_ref])

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        hooks_dict = OrderedDict() if state[0] is None else state[0]         # None: a dead reference
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = state[1]
        with moment:
            RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        extra = state[2] if len(state) > 2 and state[2] is not None else ()
        self.extra_dict_ref = tuple([weakref.ref(entries) for entries in extra])

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(hooks: Any, hook: Callable[..., Any], *extra: Any) -> RemovableHandle:
    """Add a hook, and return the handle that removes it, also from the dictionaries `extra`."""
    handle = RemovableHandle(hooks, extra_dict=[*extra])
    with moment:
        hooks[handle.id] = hook
    return handle


def present(hooks: Mapping[int, Callable[..., Any]]) -> list[Callable[..., Any]]:
    """The hooks of a table, in their order. Other threads may change the table, an OrderedDict, from then on."""
    with moment:
        return [*hooks.values()]
