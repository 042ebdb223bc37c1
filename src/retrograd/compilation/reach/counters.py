"""Places of the program's state in which the code counts: numbers that code of the program writes.

While a call is traced, a stand-in is in each such place. So the trace knows whether the program only adds to the number
and writes it back, or uses it for something else. The guard then need not ask for the same number in each call.
"""

from __future__ import annotations

import dis
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Hashable, Iterable
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ...foundations.names import contents
from ..program.expressions import PLACE_BITS
from ..program.origins import USER, is_type, whose
from . import kinds
from .items import CONSTANT, CONTAINER, Item, State
from .places import Step
from .reading import codes

# In larger lists and dicts, nothing stands in for numbers.
_MOST_ENTRIES = 64
_CONTAINERS = (list, dict, OrderedDict, defaultdict, Counter, deque)


class Stores(NamedTuple):
    """What code writes: attributes by name, global and captured variables by name, entries by key. `any_key` says that
    some key is not known.
    """

    attributes: frozenset[str]
    variables: frozenset[str]
    keys: frozenset[Any]
    any_key: bool


@lru_cache(maxsize=1024)
def stores(code: CodeType) -> Stores:
    """What the code of a function writes, and that of the functions in it."""
    attributes, variables, keys, any_key = set[str](), set[str](), set[Any](), False
    for part in codes(code):
        before: Any = None
        for instruction in dis.get_instructions(part):
            name = instruction.opname
            if name == "STORE_ATTR":
                attributes.add(instruction.argval)
            elif name in ("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF"):
                variables.add(instruction.argval)
            elif name in ("STORE_SUBSCR", "COPY") and before is not None:    # the key is copied for `d[key] += 1`
                if before.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
                    keys.add(before.argval)
                else:
                    any_key = any_key or before.opname.startswith("LOAD_")
            before = instruction
    return Stores(frozenset(attributes), frozenset(variables), frozenset(keys), any_key)


def counters(state: State) -> list[list[Item]]:
    """The numbers in the state that code of the program writes: for each place, all items that stand for it."""
    written = [stores(item.value.__code__) for item in state.items
               if type(item.value) is FunctionType and whose(item.value.__globals__.get("__name__")) == USER]
    found: dict[Hashable, list[Item]] = {}
    for item in state.items if written else ():
        value, parent = item.value, item.parent
        small = type(value) is float or (type(value) is int and value.bit_length() < PLACE_BITS)
        if small and item.kind == CONSTANT and parent is not None and not item.role and (
                _is_written(item, parent, written)):
            found.setdefault(place_of(parent, item.step), []).append(item)
    return [*found.values()]


def _is_written(item: Item, parent: Item, written: Iterable[Stores]) -> bool:
    """Whether code may write the place of an item, and nothing but code of the program reads it."""
    key, kind = item.step.key, item.step.kind
    if kind == "item":
        if type(parent.value) not in _CONTAINERS or len(parent.value) > _MOST_ENTRIES or parent.parent is None:
            return False
        if any([each.any_key or key in each.keys for each in written]):
            return is_users(parent)
        return parent.parent is not None and _is_written(parent, parent.parent, written)
    if not is_users(parent):
        return False
    if kind in ("attribute", "slot", "variable"):
        of_module = isinstance(parent.value, ModuleType)
        return any([key in each.attributes or (of_module and key in each.variables) for each in written])
    if kind in ("global", "cell"):
        name = item.step.shown if kind == "cell" else key
        return any([name in each.variables or name in each.attributes for each in written])
    return False


def is_users(item: Item) -> bool:
    """Whether a thing is the user's: a function, a class, a module, an object of a class, or a container in one."""
    value = item.value
    if item.kind == CONTAINER:
        return item.parent is None or is_users(item.parent)
    if isinstance(value, ModuleType):
        return whose(value.__name__) == USER
    if f"{type(value).__module__}.{type(value).__qualname__}" in kinds.NAMESPACES:
        return True
    return whose(value.__module__ if is_type(value) or type(value) is FunctionType else type(value).__module__) == USER


def place_of(parent: Item, step: Step) -> Hashable:
    """What tells a place from all others. Several functions may have the same variable."""
    kind, key, value = step.kind, step.key, parent.value
    if kind == "cell":
        return id(value.__closure__[key])
    if kind == "global":
        return id(value.__globals__), key
    if kind in ("attribute", "variable"):
        return id(contents(value)) if not is_type(value) else id(value), key
    return id(value), kind, type(key), key
