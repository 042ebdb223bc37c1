"""Guards: whether all that a call can reach is as it was when the function was traced.

A guard is generated Python: one straight function, with a line for each thing that is compared. A line that finds a
difference returns its own number, by which `why` finds the words for it. The lines about single things are written in
`guard_items`; here stand those about modes, and about several things at once.
"""

from __future__ import annotations

from abc import ABCMeta, get_cache_token
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from ..reach.items import CONSTANT, OBJECT, TENSOR, Item, State, is_constant, overlapping, root_of
from ..reach.surroundings import HOOKS_EVERYWHERE, MODES
from . import patched
from .differences import Check, said
from .items import ItemLines
from .lines import HEAD, TAIL, Geometry, Lines
from .numbers import ask_for_others, ask_more

_ANYTHING = Check("something that the function can reach", "same", OBJECT, None)


class Guard:
    """Says whether a call would find everything as it was. It never raises.

    `check(function, args, kwargs)` is the generated function. If nothing has changed, it returns the list of those
    tensors that may be others in every call: arguments, gradients, and what the call replaces. `inputs` has their
    numbers among the items of the state, in this order. Otherwise it returns a tuple, for `why`. It writes options of
    optimizers that have changed into the memory where plans read them.

    `lines` is the body of the function without its last line, which returns the list of what `returned` names.
    """

    __slots__ = ("check", "checks", "inputs", "lines", "returned")

    def __init__(self, lines: Sequence[str | Geometry], returned: Sequence[str], scope: dict[str, Any],
                 checks: dict[int, Check], inputs: list[int]) -> None:
        self.lines, self.returned, self.checks, self.inputs = lines, returned, checks, inputs
        exec(compile(self.source, "<guard>", "exec"), scope)
        self.check: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] = scope["guard"]

    @property
    def source(self) -> str:
        """The source of the function."""
        return "\n".join([*HEAD, *map(str, self.lines), f"  return [{', '.join(self.returned)}]", *TAIL])

    def __call__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return type(self.check(function, args, kwargs)) is list

    def why(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The first difference in words, such as `model.training was True and is False`; "" if there is none."""
        found = self.check(function, args, kwargs)
        return "" if type(found) is list else said(self.checks.get(found[0], _ANYTHING), found[1])


def make(state: State, replaced: Iterable[Item] = (), unused: Container[int] = (),
         unread: Container[int] = (), numbers: Any = None) -> Guard:
    """The guard for a state that was walked before a trace.

    `replaced` are tensors that the call replaces by others in their places (`Changes.replaced`). Like the arguments,
    they may be other tensors of the same geometry in every call. `unused` are the numbers of gradients that the call
    neither reads nor keeps: the guard does not return them, and asks not what else lies in their memory. `unread` are
    those of captured tensors whose memory the call does not read, so arguments may share it.
    """
    for item in replaced:
        item.fixed = False
        for part in item.entries.values():                   # the tensor that it is a view of
            part.fixed = part.fixed and part.kind != TENSOR
    writer = ItemLines()
    _modes(writer, state)
    patched.write(writer, state)
    for item in state.items:
        writer.item(item)
    _aliases(writer, state)
    _memory(writer, state, unused, () if state.identity else unread)
    if state.identity:
        ask_for_others(writer, state)
    inputs = [item.number for item in state.tensors() if not is_constant(item) and item.number not in unused]
    more = [] if numbers is None else ask_more(writer, state, numbers)
    return Guard(writer.lines, [*[f"v{n}" for n in inputs], *more], writer.scope, writer.checks, inputs)


def _modes(writer: Lines, state: State) -> None:
    """Write the lines about the modes of the thread and of the process."""
    writer.lines.append("  thread = local.thread")
    for i, (words, source) in enumerate(MODES.items()):
        value = state.modes[words]
        known, check = writer.constant(f"mode{i}", value), Check(words, "value", CONSTANT, value)
        writer.test(f"{source} is not {known} and {source} != {known}", source, check)
    if any([isinstance(item.value, ABCMeta) for item in state.items]) and not (
            {"isinstance", "issubclass"}.isdisjoint(state.mentioned)):
        writer.test(f"token() != {get_cache_token()!r}", "None", Check("abstract classes", "same", OBJECT, None))
    writer.test(HOOKS_EVERYWHERE, "None", Check("the hooks on all modules or optimizers", "same", OBJECT, None))
    casts = state.modes["autocast"]
    if casts[0] or any(["autocast" in name for name in state.mentioned]):
        check = Check("autocast", "value", CONSTANT, casts)
        writer.test(f"autocast() != {writer.constant('cast', casts)}", "autocast()", check)


def _aliases(writer: Lines, state: State) -> None:
    """Write the lines for places that hold a thing which also stands in another place."""
    for parent in state.items:
        for step, item in parent.entries.items():
            if (item.parent is not parent or item.step != step) and step.kind != "fixed":
                source = writer.source(parent, step)
                check = Check(step.words(parent.words), "alias", item.kind, item.words)
                writer.test(f"{source} is not {writer.name(item)}", source, check)


def _memory(writer: Lines, state: State, unused: Container[int], unread: Container[int]) -> None:
    """Write the lines about arguments that share memory with each other or with captured tensors, or are these."""
    given = [item for item in state.tensors() if not is_constant(item) and item.number not in unused]
    if not given:
        return
    held = [item for item in state.tensors() if is_constant(item) and item.number not in unread]
    arrays = [item.array for item in held]
    names = "[" + ", ".join([f"a{item.number}" for item in given]) + "]"
    shared = overlapping([item.array for item in given], arrays)
    writer.scope.update(held=arrays, shared=shared, overlapping=overlapping, ndarray=np.ndarray, root=root_of)
    owners = [root_of(array) for array in arrays]
    # Where memory is shared, or empty, one tensor may stand in the place of two, or that of a captured one.
    tensors = ", ".join([f"id({writer.name(item)})" for item in given])
    writer.scope.update(captured=[item.value for item in held], ids=frozenset([id(item.value) for item in held]))
    one = f"len(i := {{{tensors}}}) != {len(given)} or not ids.isdisjoint(i)"
    condition = f"(overlapping({names}, held) != shared or {one})"
    if not shared and all([owner is not None for owner in owners]):
        # Most tensors have owners of their own. The None of an uncertain owner counts as a captured owner.
        writer.scope["owners"] = frozenset([id(None), *map(id, owners)])
        plain = "b if type(b) is ndarray and b.base is None"
        own = [f"id(a{n} if (b := a{n}.base) is None else {plain} else root(a{n}))"
               for n in [item.number for item in given]]
        writer.lines.append("  o = {" + ", ".join(own) + "}")
        condition = f"(len(o) != {len(given)} or not owners.isdisjoint(o)) and {condition}"
    writer.test(condition, "None", Check(" and ".join([item.words for item in given]), "memory", TENSOR, None))
