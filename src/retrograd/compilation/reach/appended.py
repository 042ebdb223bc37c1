"""Lists to which a program only appends, such as the history of a loss.

A list that grows is another one in each call. Its length and its elements matter to nobody if all code that runs does
nothing with the list but append to it. The code says so: each time it reads the name under which the list is held, the
next thing that it reads is `append`. Then the walk does not look into the list, and the guard asks for its type alone.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..program.origins import USER, whose
from . import kinds
from .counters import is_users
from .items import CONTAINER, Item, State
from .places import Step
from .reading import ANY_ATTRIBUTE, codes

# Code with one of these names may read an attribute that it does not name.
_READING_ALL = ANY_ATTRIBUTE | {"copy", "deepcopy", "replace", "asdict", "astuple", "pickle", "dumps", "dump", "repr",
                                "globals", "locals", "eval", "exec", "tree_map", "tree_flatten", "tree_leaves"}
_APPENDS = ("LOAD_ATTR", "LOAD_METHOD")
_READS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_ATTR", "LOAD_METHOD",
          "LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_SUPER_ATTR"}
_OTHER = object()


class Use(NamedTuple):
    """A use of a name: `name.append`, or `name[key].append`. `key` is `_OTHER` for any other use."""

    name: str
    key: Any


@lru_cache(maxsize=1024)
def uses(code: CodeType) -> frozenset[Use]:
    """How a function, and the functions in it, use the names of variables and attributes."""
    found = set()
    for part in codes(code):
        lines = [line for line in dis.get_instructions(part) if line.opname not in ("EXTENDED_ARG", "CACHE")]
        for at, line in enumerate(lines):
            if line.opname in _READS:
                found.add(Use(str(line.argval), _key(lines[at + 1:at + 4])))
    return frozenset(found)


def _key(after: list[dis.Instruction]) -> Any:
    """What follows the reading of a name: None if it is `append`, the key if an entry of this key is appended to."""
    if after and _is_append(after[0]):
        return None
    if len(after) < 3 or after[0].opname != "LOAD_CONST" or type(after[0].argval) is not str:
        return _OTHER
    entry = after[1].opname == "BINARY_SUBSCR" or (after[1].opname == "BINARY_OP" and after[1].argrepr == "[]")
    return after[0].argval if entry and _is_append(after[2]) else _OTHER


def _is_append(line: dis.Instruction) -> bool:
    return line.opname in _APPENDS and line.argval == "append" and not line.is_jump_target


class Grown(NamedTuple):
    """Lists to which code only appends: their lengths, by their identities, and the names under which they are held."""

    lengths: dict[int, int]
    names: frozenset[str]


NOTHING_GROWN = Grown({}, frozenset())


def appended(state: State) -> Grown:
    """The lists to which code only appends."""
    lists = [item for item in state.items if item.kind == CONTAINER and type(item.value) is list]
    if not lists or "append" not in state.mentioned or not _READING_ALL.isdisjoint(state.mentioned):
        return NOTHING_GROWN
    places: dict[int, list[tuple[Item, Step]]] = {}
    for parent in state.items:
        for step, item in parent.entries.items():
            places.setdefault(item.number, []).append((parent, step))
    used = _Used([use for code in _all_code(state) for use in uses(code)])
    found = [item for item in lists
             if all([used.only_appended(parent, step, places) for parent, step in places[item.number]])]
    names = [_name(*(places[parent.number][0] if step.kind == "item" else (parent, step)))
             for item in found for parent, step in places[item.number]]
    return Grown({id(item.value): len(item.value) for item in found}, frozenset(names))


def _all_code(state: State) -> Iterator[CodeType]:
    """The code of all functions, and of all methods of the program's classes, also of those that the walk passes by."""
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
    return any([use.name in grown.names and use.key is _OTHER for code in ran for use in uses(code)])


def _name(parent: Item, step: Step) -> str:
    return str(step.shown if step.kind == "cell" else step.key)


class _Used:
    """How code uses names."""

    def __init__(self, found: Iterable[Use]) -> None:
        self.keys: dict[str, set[Any]] = {}
        for use in found:
            self.keys.setdefault(use.name, set()).add(use.key)

    def only_appended(self, parent: Item, step: Step, places: dict[int, list[tuple[Item, Step]]]) -> bool:
        """Whether code only appends to what is in a place."""
        if step.kind in ("global", "cell", "attribute"):
            return _holds(parent, step) and self.keys.get(_name(parent, step)) == {None}
        if step.kind != "item" or type(parent.value) is not dict or type(step.key) is not str:
            return False
        return all([outer_step.kind in ("global", "cell", "attribute") and _holds(outer, outer_step)
                    and _OTHER not in self.keys.get(_name(outer, outer_step), {_OTHER})
                    for outer, outer_step in places[parent.number]])


def _holds(parent: Item, step: Step) -> bool:
    """Whether a thing of the program holds another one under a name that code must use."""
    value = parent.value
    if type(value) is FunctionType:
        return True
    return step.kind == "attribute" and is_users(parent) and not kinds.is_record(value) and (
        step.key in kinds.attributes_of(value))
