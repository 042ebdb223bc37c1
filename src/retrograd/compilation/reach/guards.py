"""Guards: whether all that a call can reach is as it was when the function was traced.

A guard is generated Python: one straight function, with a line for each thing that is compared. A line that finds a
difference returns its own number, by which `why` finds the words for it.
"""

from __future__ import annotations

from abc import ABCMeta, get_cache_token
from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from operator import is_
from types import CellType, FunctionType
from typing import Any

import numpy as np

from ...kernels.layout import offset_of
from ...tensors.state.base import requires
from ..program.constants import MISSING, SINGLETONS, differ, is_constant as cannot_change
from . import kinds, patches
from .differences import GONE, Check, said
from .items import (
    ARRAY,
    CONSTANT,
    CONTAINER,
    GROWN,
    OBJECT,
    OPAQUE,
    REFUSED,
    SET,
    TENSOR,
    Facts,
    Item,
    State,
    is_constant,
    overlapping,
    root_of,
)
from .number_guards import ask_for_type, ask_more
from .owned import by_key, is_bare
from .places import SOURCES, Step
from .surroundings import HOOKS_EVERYWHERE, MODES, READERS, autocast

_HEAD = "def guard(function, args, kwargs):\n try:"
_TAIL = " except Exception as error:\n  return error.__traceback__.tb_lineno, gone\n"
_ANYTHING = Check("something that the function can reach", "same", OBJECT, None)
_LITERAL = (type(None), bool)


class Guard:
    """Says whether a call would find everything as it was. It never raises.

    `check(function, args, kwargs)` is the generated function. If nothing has changed, it returns the list of those
    tensors that may be others in every call: arguments, gradients, and what the call replaces. `inputs` has their
    numbers among the items of the state, in this order. Otherwise it returns a tuple, for `why`. It writes options of
    optimizers that have changed into the memory where plans read them.
    """

    __slots__ = ("check", "checks", "inputs", "source")

    def __init__(self, source: str, scope: dict[str, Any], checks: dict[int, Check], inputs: list[int]) -> None:
        exec(compile(source, "<guard>", "exec"), scope)
        self.check: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any] = scope["guard"]
        self.checks, self.inputs, self.source = checks, inputs, source

    def __call__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
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
    writer = _Writer(state)
    writer.modes()
    patches.write(writer, state)
    for item in state.items:
        writer.item(item)
    writer.aliases()
    writer.memory(unused, () if state.identity else unread)
    inputs = [item.number for item in state.tensors() if not is_constant(item) and item.number not in unused]
    more = [] if numbers is None else ask_more(writer, state, numbers)
    writer.lines.append(f"  return [{', '.join([*[f'v{n}' for n in inputs], *more])}]")
    return Guard("\n".join([_HEAD, *writer.lines, _TAIL]), writer.scope, writer.checks, inputs)


class _Writer:
    """The lines of a guard, and the values that they name."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.lines: list[str] = []
        self.checks: dict[int, Check] = {}
        self.scope: dict[str, Any] = {**READERS, "differ": differ, "gone": GONE, "is_": is_, "requires": requires,
                                      "autocast": autocast, "offset_of": offset_of, "token": get_cache_token}

    def line(self, text: str, check: Check) -> None:
        """Write a line of code, which may raise if the place that it reads is gone."""
        self.lines.append("  " + text)
        self.checks[self.number()] = check

    def test(self, condition: str, present: str, check: Check) -> None:
        """Write a line that ends the guard if a condition holds. `present` reads the value to be told of."""
        self.line(f"if {condition}: return {self.number() + 1}, {present}", check)

    def number(self) -> int:
        """The number of the last line in the source."""
        return len(self.lines) + 2

    def constant(self, name: str, value: Any) -> str:
        """The name of a value in the scope."""
        self.scope[name] = value
        return name

    # Items

    def name(self, item: Item) -> str:
        """What the code calls an item: a constant, if the guard has seen to it that it is this very object."""
        if is_constant(item):
            return self.constant(f"k{item.number}", item.value)
        return f"v{item.number}"

    def source(self, parent: Item, step: Step) -> str:
        """How the code reads a place."""
        if step.kind == "meta":
            return f"m{parent.number}.{step.key}"
        key = step.key
        if step.kind in ("item", "attribute", "variable", "global"):
            if type(key) in (str, int):
                key = repr(key)
            else:
                key = self.constant(f"q{len(self.scope)}", key)
        if step.kind == "cell" and is_constant(parent):
            return self.constant(f"q{len(self.scope)}", parent.value.__closure__[key]) + ".cell_contents"
        if step.kind == "global" and is_constant(parent):
            return self.constant(f"g{parent.number}", parent.value.__globals__) + f"[{key}]"
        if step.kind == "item" and isinstance(parent.value, defaultdict):
            return f"{self.name(parent)}.get({key})"             # since a defaultdict would make an entry
        return SOURCES[step.kind].format(o=self.name(parent), d=f"d{parent.number}", key=key)

    def item(self, item: Item) -> None:
        """Write the lines for an item in its first place."""
        n, parent = item.number, item.parent
        if parent is None:
            if item.step.kind not in ("function", "fixed"):
                self.lines.append(f"  v{n} = {item.step.key}")
                self.parts(item)
                return
        elif item.value is MISSING:
            self.missing(item, parent)
            return
        elif item.step.kind != "fixed":
            self.place(item, self.source(parent, item.step))
        self.parts(item)

    def place(self, item: Item, source: str) -> None:
        """Write the lines that find a value in its place, and ask for the same object if it must be the same."""
        check = Check(item.words, "same", item.kind, item.value if item.kind in (OPAQUE, REFUSED, CONSTANT) else None)
        if item.role in ("rate", "number") or item.kind == GROWN:
            ask_for_type(self, item, source, check)
        elif item.kind == CONSTANT:
            self.equal(item, source)
        elif item.fixed:
            self.test(f"{source} is not {self.name(item)}", source, check)
        elif is_bare(item):
            self.test(source, source, Check(item.words, "container", CONTAINER, (type(item.value), item.facts)))
        else:
            self.line(f"v{item.number} = {source}", check)

    def missing(self, item: Item, parent: Item) -> None:
        """Write a line that asks that nothing stands in a place."""
        step, key, name = item.step, item.step.key, self.name(parent)
        check = Check(item.words, "value", CONSTANT, MISSING)
        if step.kind == "global":
            self.test(f"{key!r} in {name}.__globals__", f"{name}.__globals__[{key!r}]", check)
        elif step.kind == "cell":
            empty = self.constant("empty", CellType())
            self.test(f"{name}.__closure__[{key}] != {empty}", f"{name}.__closure__[{key}].cell_contents", check)
        elif step.kind == "item":
            self.test(f"{key!r} in {name}", f"{name}[{key!r}]", check)
        else:
            self.test(f"hasattr({name}, {key!r})", f"{name}.{key}", check)

    def equal(self, item: Item, source: str) -> None:
        """Write the lines for a value that is compared by type and equality."""
        value, check = item.value, Check(item.words, "value", CONSTANT, item.value)
        if isinstance(value, _LITERAL):
            self.test(f"{source} is not {value}", source, check)
            return
        known = self.constant(f"c{item.number}", value)
        if isinstance(value, (*SINGLETONS,)):
            self.test(f"{source} is not {known}", source, check)
            return
        self.line(f"v = {source}", check)
        self.test(f"v is not {known} and differ(v, {known})", "v", check)

    def parts(self, item: Item) -> None:
        """Write the lines about an item itself. Those about its parts follow with the parts."""
        if item.kind == TENSOR:
            self.tensor(item)
        elif item.kind == CONTAINER:
            if not is_bare(item):
                self.container(item)
        elif item.kind == SET:
            known = self.constant(f"s{item.number}", item.facts)
            value = self.name(item)
            self.test(f"type({value}) is not {self.kind(item)} or {value} != {known}", value,
                      Check(item.words, "value", SET, item.facts))
        elif item.kind == ARRAY:
            self.array(item)
        elif item.kind == OBJECT:
            self.object(item)
        elif item.kind == OPAQUE:
            if type(item.value) is kinds.LOCK:
                self.test(f"{self.name(item)}.locked() is not {item.facts}", self.name(item),
                          Check(item.words, "attributes", OPAQUE, None))
            self.dictionary(item)

    def kind(self, item: Item) -> str:
        """The name of the class of an item."""
        return self.constant(f"t{item.number}", type(item.value))

    def object(self, item: Item) -> None:
        """Write the lines for an object: its class, and how many attributes it has."""
        n, value, name = item.number, item.value, self.name(item)
        check = Check(item.words, "attributes", OBJECT, type(value))
        if issubclass(type(value), kinds.DEFINED):           # an object may say that it is a type
            self.defined(item)
            return
        self.test(f"type({name}) is not {self.kind(item)}", name, check)
        if not type(value).__dictoffset__:                   # slots only
            return
        if item.fixed:
            known = self.constant(f"d{n}", vars(value))
            self.test(f"{name}.__dict__ is not {known}", name, check)
        else:
            self.line(f"d{n} = {name}.__dict__", check)
        self.count(item)

    def defined(self, item: Item) -> None:
        """Write the lines for a function, a class or a module: what else than attributes decides what it does."""
        n, value, name, different = item.number, item.value, self.name(item), list[str]()
        made_of, size = item.facts or (None, None)
        if made_of is not None:
            place = "__code__" if isinstance(value, FunctionType) else "__mro__"
            different.append(f"{name}.{place} is not {self.constant(f'f{n}', made_of)}")
        if size is not None:
            different.append(f"len({name}.__dict__) != {size}")
        if isinstance(value, FunctionType) and not is_constant(item):       # in the arguments
            different.append(f"{name}.__globals__ is not {self.constant(f'g{n}', value.__globals__)}")
        if different:
            self.test(" or ".join(different), name, Check(item.words, "same", OBJECT, None))
        self.dictionary(item)

    def dictionary(self, item: Item) -> None:
        """Write the line that finds the attributes of a thing, if any are compared."""
        if any([step.kind == "attribute" for step in item.entries]):
            self.lines.append(f"  d{item.number} = {self.name(item)}.__dict__")

    def count(self, item: Item) -> None:
        """Write a line that compares the number of attributes, without those that do not matter."""
        d, (size, absent, _) = f"d{item.number}", item.facts
        extra = "".join([f" - ({name!r} in {d})" for name in absent])
        self.test(f"len({d}){extra} != {size}", self.name(item), Check(item.words, "attributes", OBJECT, None))

    def container(self, item: Item) -> None:
        """Write the lines for a list, tuple or dict: its class, its length, and the keys in their order."""
        value, name, n = item.value, self.name(item), item.number
        check = Check(item.words, "container", CONTAINER, (type(value), item.facts))
        if item.parent is None and item.step.kind == "args":
            self.test(f"len({name}) != {item.facts}", name, check)
            return
        if type(value) in kinds.PARTS:
            self.test(f"type({name}) is not {self.kind(item)}", name, check)
            self.attributes(item)
            return
        keys = item.facts
        size = keys if isinstance(keys, int) else len(keys)
        compared = f"len({name}) != {size}" if size else name
        if isinstance(keys, list) and keys and not by_key(item):
            known = self.constant(f"l{n}", keys)
            same = all(map(cannot_change, keys))
            compared = f"[*{name}] != {known}" if same else f"{compared} or not all(map(is_, {name}, {known}))"
        condition = f"type({name}) is not {self.kind(item)} or {compared}"
        self.test(condition, name, check)
        self.attributes(item)

    def attributes(self, item: Item) -> None:
        """Write the lines for the attributes of a container: how many there are, and where the guard finds them."""
        if type(item.value).__dictoffset__:
            self.test(f"len({self.name(item)}.__dict__) != {len(kinds.attributes_of(item.value))}", self.name(item),
                      Check(item.words, "attributes", CONTAINER, None))
            self.dictionary(item)

    def array(self, item: Item) -> None:
        """Write a line that compares the numbers of a NumPy array."""
        name, n = self.name(item), item.number
        shape, dtype, strides, content, flags = item.facts
        self.test(f"{name}.tobytes() != {self.constant(f'b{n}', content)} or {name}.shape != {shape} or "
                  f"{name}.flags.num != {flags} or {name}.strides != {strides} or "
                  f"{name}.dtype is not {self.constant(f'e{n}', dtype)}", name,
                  Check(item.words, "content", ARRAY, None))

    # Tensors

    def tensor(self, item: Item) -> None:
        """Write the lines about a tensor: its memory or its geometry, and whether and how it requires grad."""
        n, name, facts = item.number, self.name(item), item.facts
        check = Check(item.words, "tensor", TENSOR, (facts, item.array if is_constant(item) else None))
        if is_constant(item):
            self.test(f"{name}._array is not {self.constant(f'a{n}', item.array)}", name, check)
        else:
            dtype = self.constant(f"e{n}", facts.dtype)
            more = "" if facts.offset is None else f" or offset_of(a{n}) != {facts.offset}"
            self.test(f"type({name}) is not {self.kind(item)} or (a{n} := {name}._array).shape != {facts.shape} or "
                      f"a{n}.strides != {facts.strides} or a{n}.dtype is not {dtype} and a{n}.dtype != {dtype}{more}",
                      name, check)
        if facts.attributes is not None:
            self.test(f"len({name}.__dict__) != {facts.attributes}", name, check)
        self.history(item, facts, check)
        self.dictionary(item)

    def history(self, item: Item, facts: Facts, check: Check) -> None:
        """Write the lines about what stands in the tensor's `_edge` and `_meta`."""
        n, name = item.number, self.name(item)
        m, edge = f"m{n}", f"{name}._edge is " + ("not None" if facts.leaf else "None")
        asked = f"requires({name}) is not {facts.requires_grad}"
        if facts.plain and not item.entries:
            self.test(f"{edge} or ({m} := {name}._meta) is not None and ({m}.leaf or {m}.grad is not None or "
                      f"{m}.hooks is not None or {m}.post_accumulate is not None or {m}.inference or "
                      f"{m}.base is not None and {asked})", name, check)
        else:
            self.line(f"{m} = {name}._meta", check)
            view = f" or {asked}" if facts.view and facts.leaf else ""
            self.test(f"{edge} or {m}.leaf is not {facts.tracked} or {m}.inference is not {facts.inference}{view}",
                      name, check)

    # What does not belong to one place

    def modes(self) -> None:
        """Write the lines about the modes of the thread and of the process."""
        self.lines.append("  thread = local.thread")
        for i, (words, source) in enumerate(MODES.items()):
            value = self.state.modes[words]
            known, check = self.constant(f"mode{i}", value), Check(words, "value", CONSTANT, value)
            self.test(f"{source} is not {known} and {source} != {known}", source, check)
        if any([isinstance(item.value, ABCMeta) for item in self.state.items]) and not (
                {"isinstance", "issubclass"}.isdisjoint(self.state.mentioned)):
            self.test(f"token() != {get_cache_token()!r}", "None", Check("abstract classes", "same", OBJECT, None))
        self.test(HOOKS_EVERYWHERE, "None", Check("the hooks on all modules or optimizers", "same", OBJECT, None))
        casts = self.state.modes["autocast"]
        if casts:
            check = Check("autocast", "value", CONSTANT, casts)
            self.test(f"autocast() != {self.constant('cast', casts)}", "autocast()", check)

    def aliases(self) -> None:
        """Write the lines for places that hold a thing which also stands in another place."""
        for parent in self.state.items:
            for step, item in parent.entries.items():
                if (item.parent is not parent or item.step != step) and step.kind != "fixed":
                    source = self.source(parent, step)
                    self.test(f"{source} is not {self.name(item)}", source,
                              Check(step.words(parent.words), "alias", item.kind, item.words))

    def memory(self, unused: Container[int], unread: Container[int]) -> None:
        """Write the lines about arguments that share memory with each other or with captured tensors."""
        given = [item for item in self.state.tensors() if not is_constant(item) and item.number not in unused]
        if not given:
            return
        held = [item for item in self.state.tensors() if is_constant(item) and item.number not in unread]
        arrays = [item.array for item in held]
        names = "[" + ", ".join([f"a{item.number}" for item in given]) + "]"
        shared = overlapping([item.array for item in given], arrays)
        self.scope.update(held=arrays, shared=shared, overlapping=overlapping, ndarray=np.ndarray, root=root_of)
        owners = [root_of(array) for array in arrays]
        condition = f"overlapping({names}, held) != shared"
        if not shared and all([owner is not None for owner in owners]):
            # Most tensors have owners of their own. The None of an uncertain owner counts as a captured owner.
            self.scope["owners"] = frozenset([id(None), *map(id, owners)])
            plain = "b if type(b) is ndarray and b.base is None"
            own = [f"id(a{n} if (b := a{n}.base) is None else {plain} else root(a{n}))"
                   for n in [item.number for item in given]]
            self.lines.append("  o = {" + ", ".join(own) + "}")
            condition = f"(len(o) != {len(given)} or not owners.isdisjoint(o)) and {condition}"
        self.test(condition, "None", Check(" and ".join([item.words for item in given]), "memory", TENSOR, None))
