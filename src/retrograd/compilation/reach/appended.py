"""Lists and deques to which a program only appends, such as the history of a loss, and schedules that it only steps.

A list that grows is another one in each call. Its length and its elements matter to nobody if all code that runs does
nothing with the list but append to it. The code says so: each time it reads the name under which the list is held, the
next thing that it reads is `append`. Then the walk does not look into the list, and the guard asks for its type alone.
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ...optim.schedules import LRScheduler
from ..program.origins import USER, whose
from . import kinds
from .counters import is_users
from .instructions import loads_method
from .items import CONTAINER, Item, State
from .places import Step
from .reading import ANY_ATTRIBUTE, codes

# Code with one of these names may read an attribute that it does not name.
_READING_ALL = ANY_ATTRIBUTE | {"copy", "deepcopy", "replace", "asdict", "astuple", "pickle", "dumps", "dump", "repr",
                                "globals", "locals", "eval", "exec", "tree_map", "tree_flatten", "tree_leaves"}
_METHODS = ("LOAD_ATTR", "LOAD_METHOD")
_READS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_ATTR", "LOAD_METHOD",
          "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_SUPER_ATTR"}
_OTHER, _STEP = object(), object()


class Use(NamedTuple):
    """A use of a name: `name.append`, or `name[key].append`. `key` is `_STEP` for `name.step`, and `_OTHER` for any
    other use. `called` says that the method is called at once.
    """

    name: str
    key: Any
    called: bool


@lru_cache(maxsize=1024)
def uses(code: CodeType) -> frozenset[Use]:
    """How a function, and the functions in it, use the names of variables and attributes."""
    found = set()
    for part in codes(code):
        lines = [line for line in dis.get_instructions(part) if line.opname not in ("EXTENDED_ARG", "CACHE")]
        for at, line in enumerate(lines):
            if line.opname in _READS:
                key = _key(lines[at + 1:at + 4])
                method = lines[at + (1 if key is None or key is _STEP else 3):][:1]
                found.add(Use(str(line.argval), key, any(map(loads_method, method))))
    return frozenset(found)


def _key(after: list[dis.Instruction]) -> Any:
    """What follows the reading of a name: None if it is `append`, the key if an entry of this key is appended to."""
    if after and _is_method(after[0], "append"):
        return None
    if after and _is_method(after[0], "step"):
        return _STEP
    if len(after) < 3 or after[0].opname != "LOAD_CONST" or type(after[0].argval) is not str:
        return _OTHER
    entry = after[1].opname == "BINARY_SUBSCR" or (after[1].opname == "BINARY_OP" and after[1].argrepr == "[]")
    return after[0].argval if entry and _is_method(after[2], "append") else _OTHER


def _is_method(line: dis.Instruction, name: str) -> bool:
    return line.opname in _METHODS and line.argval == name and not line.is_jump_target


class Grown(NamedTuple):
    """Lists to which code only appends: their lengths, by their identities, and the names under which they are held.

    `lists` are those names under which no deque is held, whose length does not show how often code appends to it.
    `stepped` are the identities of the schedules on which code calls nothing but `step`.
    """

    lengths: dict[int, int]
    names: frozenset[str]
    lists: frozenset[str]
    stepped: frozenset[int]


NOTHING_GROWN = Grown({}, frozenset(), frozenset(), frozenset())


def appended(state: State) -> Grown:
    """The lists to which code only appends, and the schedules that it only steps."""
    lists = [item for item in state.items if item.kind == CONTAINER and type(item.value) in (list, deque)]
    lists = lists if "append" in state.mentioned else []
    schedules = [item for item in state.items if isinstance(item.value, LRScheduler)]
    if not (lists or schedules) or not _READING_ALL.isdisjoint(state.mentioned):
        return NOTHING_GROWN
    places: dict[int, list[tuple[Item, Step]]] = {}
    for parent in state.items:
        for step, item in parent.entries.items():
            places.setdefault(item.number, []).append((parent, step))
    used = _Used([use for code in _all_code(state) for use in uses(code)])
    found = [item for item in lists
             if all([used.only_appended(item, parent, step, places) for parent, step in places[item.number]])]
    names = [(_name(*(places[parent.number][0] if step.kind == "item" else (parent, step))), type(item.value))
             for item in found for parent, step in places[item.number]]
    stepped = [id(item.value) for item in schedules
               if all([used.only_stepped(parent, step) for parent, step in places[item.number]])]
    deques = {name for name, kind in names if kind is deque}
    every = frozenset([name for name, _ in names])
    return Grown({id(item.value): len(item.value) for item in found}, every, every - deques, frozenset(stepped))


def _all_code(state: State) -> Iterator[CodeType]:
    """The code of all functions and methods of the program's classes, also of methods that the walk passes by."""
    for item in state.items:
        if type(item.value) is FunctionType:
            yield item.value.__code__
    for base in {base for item in state.items for base in type(item.value).__mro__ if whose(base.__module__) == USER}:
        for value in vars(base).values():
            inner = getattr(value, "__func__", value)
            if type(inner) is FunctionType:
                yield inner.__code__


def disturbed(grown: Grown, ran: Iterable[CodeType]) -> bool:
    """Whether code that has run may have read a list that the walk has not looked into."""
    return any([use.name in grown.names and (use.key in (_OTHER, _STEP) or not (use.called or use.name in grown.lists))
                for code in ran for use in uses(code)])


def _name(parent: Item, step: Step) -> str:
    return str(step.shown if step.kind == "cell" else step.key)


class _Used:
    """How code uses names."""

    def __init__(self, found: Iterable[Use]) -> None:
        self.keys: dict[str, set[Any]] = {}
        self.uncalled: set[str] = set()                      # names whose methods are not always called at once
        for use in found:
            self.keys.setdefault(use.name, set()).add(use.key)
            if not use.called:
                self.uncalled.add(use.name)

    def only_stepped(self, parent: Item, step: Step) -> bool:
        """Whether code only calls `step` of what is in a place."""
        return step.kind in ("global", "cell", "attribute") and _holds(parent, step) and (
            self.keys.get(_name(parent, step)) == {_STEP})

    def only_appended(self, item: Item, parent: Item, step: Step, places: dict[int, list[tuple[Item, Step]]]) -> bool:
        """Whether code only appends to a list or deque that is in a place, so that each call of `append` is seen."""
        unseen: set[str] = self.uncalled if type(item.value) is deque else set()
        if step.kind in ("global", "cell", "attribute"):
            name = _name(parent, step)
            return _holds(parent, step) and name not in unseen and self.keys.get(name) == {None}
        if step.kind != "item" or type(parent.value) is not dict or type(step.key) is not str:
            return False
        names = [_name(outer, outer_step) for outer, outer_step in places[parent.number]]
        return unseen.isdisjoint(names) and all([
            outer_step.kind in ("global", "cell", "attribute") and _holds(outer, outer_step)
            and self.keys.get(name, {_OTHER}).isdisjoint({_OTHER, _STEP})
            for name, (outer, outer_step) in zip(names, places[parent.number], strict=True)])


def _holds(parent: Item, step: Step) -> bool:
    """Whether a thing of the program holds another one under a name that code must use."""
    value = parent.value
    if type(value) is FunctionType:
        return True
    return step.kind == "attribute" and is_users(parent) and not kinds.is_record(value) and (
        step.key in kinds.attributes_of(value))
