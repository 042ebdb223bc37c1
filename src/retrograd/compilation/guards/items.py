"""What a guard asks of each thing that a walk has found."""

from __future__ import annotations

from collections import deque
from types import CellType, FunctionType

from ..program.constants import MISSING, SINGLETONS
from ..reach import kinds
from ..reach.items import (
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
    Names,
    is_constant,
    names_of,
)
from .differences import Check
from .lines import Geometry, Lines
from .numbers import ask_for_type
from .owned import by_key, is_bare

_LITERAL = (type(None), bool)


class ItemLines(Lines):
    """The lines about items. Those about the parts of an item follow with the parts."""

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
            self.test(f"type({value}) is not {self.kind(item)} or others({value}, {known})", value,
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
        made_of, names = item.facts or (None, None)
        if made_of is not None:
            place = "__code__" if isinstance(value, FunctionType) else "__mro__"
            different.append(f"{name}.{place} is not {self.constant(f'f{n}', made_of)}")
        if names is not None:
            different.append(other_names(self.namespace(item), names))
        if isinstance(value, FunctionType) and not is_constant(item):       # in the arguments
            different.append(f"{name}.__globals__ is not {self.constant(f'g{n}', value.__globals__)}")
        if different:
            self.test(" or ".join(different), name, Check(item.words, "same", OBJECT, None))
        self.dictionary(item)

    def dictionary(self, item: Item) -> None:
        """Write the line that finds the attributes of a thing, if any are compared."""
        if any([step.kind == "attribute" for step in item.entries]):
            name, namespace = f"d{item.number}", self.namespace(item)
            if name != namespace:
                self.lines.append(f"  {name} = {namespace}")

    def count(self, item: Item) -> None:
        """Write a line that compares the number of attributes that matter."""
        d, (names, absent, cls) = f"d{item.number}", item.facts
        extra = "".join([f" - ({name!r} in {d})" for name in absent])
        uncompared = kinds.ignored(cls)
        but = f" and next(reversed({d})) not in {self.constant(f'i{item.number}', uncompared)}" if uncompared else ""
        self.test(other_names(d, names, extra, but), self.name(item), Check(item.words, "attributes", OBJECT, None))

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
            names = {*map(type, keys)} == {str}              # which a list compares in less time
            compared = f"[*{name}] != {known}" if names else f"others({name}, {known})"
        elif isinstance(value, deque):
            compared += f" or {name}.maxlen != {value.maxlen}"
        condition = f"type({name}) is not {self.kind(item)} or {compared}"
        self.test(condition, name, check)
        self.attributes(item)

    def attributes(self, item: Item) -> None:
        """Write the lines for the attributes of a container: how many there are, and where the guard finds them."""
        if type(item.value).__dictoffset__:
            names = names_of(kinds.attributes_of(item.value))
            self.test(other_names(f"{self.name(item)}.__dict__", names), self.name(item),
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

    def tensor(self, item: Item) -> None:
        """Write the lines about a tensor: its memory or its geometry, and whether and how it requires grad."""
        n, name, facts = item.number, self.name(item), item.facts
        check = Check(item.words, "tensor", TENSOR, (facts, item.array if is_constant(item) else None))
        if is_constant(item):
            self.test(f"{name}._array is not {self.constant(f'a{n}', item.array)}", name, check)
        else:
            dtype = self.constant(f"e{n}", facts.dtype)
            more = "" if facts.offset is None else f" or offset_of(a{n}) != {facts.offset}"
            rest = f"a{n}.dtype is not {dtype} and a{n}.dtype != {dtype}{more}"
            self.geometry(Geometry(name, self.kind(item), f"a{n}", facts.shape, facts.strides, rest), name, check)
        if facts.attributes is not None:
            self.test(other_names(f"{name}.__dict__", facts.attributes), name, check)
        if facts.retained is not None:
            retains = f"(getattr({name}._grad_meta, 'retained', None) is not None)"
            self.test(f"{retains} is not {facts.retained}", name, check)
        self.history(item, facts, check)
        self.dictionary(item)

    def history(self, item: Item, facts: Facts, check: Check) -> None:
        """Write the lines about what stands in the tensor's `_edge` and `_grad_meta`."""
        n, name = item.number, self.name(item)
        m, edge = f"m{n}", f"{name}._edge is " + ("not None" if facts.leaf else "None")
        asked = f"requires({name}) is not {facts.requires_grad}"
        if facts.plain and not item.entries:
            self.test(f"{edge} or ({m} := {name}._grad_meta) is not None and ({m}.leaf or {m}.grad is not None or "
                      f"{m}.hooks is not None or {m}.post_accumulate is not None or {m}.inference or "
                      f"{m}.base is not None and {asked})", name, check)
        else:
            self.line(f"{m} = {name}._grad_meta", check)
            view = f" or {asked}" if facts.view and facts.leaf else ""
            self.test(f"{edge} or {m}.leaf is not {facts.tracked} or {m}.inference is not {facts.inference}{view}",
                      name, check)


def other_names(attributes: str, names: Names, extra: str = "", but: str = "") -> str:
    """The condition that a dictionary of attributes has others: another number of them, or another one came last.

    `extra` is what is subtracted from the number, and `but` a condition for the one that came last.
    """
    last = "" if names.last is None else f" or (next(reversed({attributes})) != {names.last!r}{but})"
    return f"len({attributes}){extra} != {names.size}{last}"
