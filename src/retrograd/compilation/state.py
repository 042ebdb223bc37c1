"""The walk: finds everything that a call of a function can reach, from its captured variables and its arguments.

Each thing is found once, with one path to it. Of the attributes of user-defined objects, the walk follows those that
the code names, so what a program counts elsewhere does not matter to the call.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections import deque
from collections.abc import Callable
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..kernels.layout import offset_of
from ..nn.modules.module import Module
from ..tensors.arguments.generator import Generator
from ..tensors.state.base import TensorBase
from . import kinds
from .calls import hidden
from .changes import Changes as Changes, Effect as Effect, changes as changes
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
    State as State,
    facts_of,
    take_apart,
)
from .numbers.appended import NOTHING_GROWN, Grown, appended
from .places import MISSING, Step
from .reading import ANY_ATTRIBUTE, OWN, USER, chains, is_type, mentions, whose
from .schedules import is_put_off
from .surroundings import modes, outside_random as outside_random

# A walk that finds so many things ends, and the function is not compiled: a guard would take longer than the function.
MOST = 20_000
_MODULE_METHODS = frozenset({"forward"})
# Methods that run when objects are made, copied or shown, not when an existing object is used.
_NOT_WALKED = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__repr__", "__str__",
                         "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__del__", "__copy__",
                         "__deepcopy__", "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__",
                         "__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__",
                         "__orig_bases__", "__parameters__", "__abstractmethods__", "_abc_impl", "__qualname__",
                         "__static_attributes__", "__firstlineno__", "__type_params__"})
_HOOKS = ("hooks", "post_accumulate")
_WRITTEN = ("__wrapped__", "_torchdynamo_orig_callable")


def walk(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
         mentioned: frozenset[str] = frozenset(), grown: Grown | None = None) -> State:
    """All that a call `function(*args, **kwargs)` can reach.

    `mentioned` are names that are taken as named by the code, besides those that the walk finds. `grown` are lists of
    which the walk looks only at later elements. For the walk after a call, pass both of the state before.
    """
    while True:
        found = _Walk(mentioned, NOTHING_GROWN if grown is None else grown)
        found.start(function, args, kwargs)
        names = mentioned | found.names
        if len(found.items) >= MOST:
            found.refuse_all()
            names = mentioned
        if names == mentioned:
            state = State(found.items, found.known, mentioned, modes(), found.identity, found.grown)
            grown = appended(state) if grown is None else NOTHING_GROWN
            if not grown.lengths:
                return state
        take_apart(found.items)
        mentioned = names


def argument_names(function: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """How a user calls each positional argument, such as `argument x`."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [f"argument {names[i]}" if i < len(names) else f"argument {i}" for i in range(len(args))]


class _Walk:
    """One walk. `names` are those that the code mentions, as far as the walk has come."""

    def __init__(self, mentioned: frozenset[str], grown: Grown) -> None:
        self.grown = grown
        self.items: list[Item] = []
        self.known: dict[int, Item] = {}
        self.mentioned = mentioned
        self.everything = not ANY_ATTRIBUTE.isdisjoint(mentioned)
        self.names: set[str] = set()
        self.identity = False
        self.waiting: deque[tuple[Item, bool]] = deque()
        self.keys: list[Item] = []                           # mappings whose keys are yet to be noted

    def start(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Walk from a function, then from the arguments."""
        self._place(None, Step("function", 0, getattr(function, "__name__", type(function).__name__)), function, False)
        self._drain()
        whole = self._add(None, Step("args", "args", "the arguments"), args, CONTAINER, False)
        whole.facts = len(args)
        for i, (name, value) in enumerate(zip(argument_names(function, args), args)):
            self._place(whole, Step("item", i, name), value, True)
        named = self._add(None, Step("kwargs", "kwargs", "the named arguments"), kwargs, CONTAINER, False)
        named.facts = list(kwargs)
        for name, value in kwargs.items():
            self._place(named, Step("item", name, f"argument {name}"), value, True)
        self._drain()

    def refuse_all(self) -> None:
        """Note that the walk has not come to its end."""
        item = self._add(None, Step("fixed", MOST, "the function"), None, REFUSED, True)
        item.facts = f"one that can reach more than {MOST} things, too many to compare before each call"

    def _drain(self) -> None:
        while (self.waiting or self.keys) and len(self.items) < MOST:
            if self.waiting:
                self._expand(*self.waiting.popleft())
            else:                                            # the keys have found better places, if there are any
                self._keys(self.keys.pop())

    def _add(self, parent: Item | None, step: Step, value: Any, kind: str, fixed: bool) -> Item:
        item = Item(len(self.items), parent, step, value, kind, fixed)
        self.items.append(item)
        if parent is not None:
            parent.entries[step] = item
        return item

    def _place(self, parent: Item | None, step: Step, value: Any, given: bool) -> None:
        """Note what stands in a place. `given` says that it came with the arguments, and may be another next time."""
        if kinds.is_constant(value):
            self._add(parent, step, value, CONSTANT, False)
            return
        known = self.known.get(id(value))
        if known is not None and parent is not None:
            parent.entries[step] = known
            return
        kind, facts = _kind_of(value)
        if id(value) in self.grown.lengths:
            kind = GROWN
        elif kind == TENSOR:
            kind, facts = self._facts(value, facts)
        fixed = kind in (OBJECT, OPAQUE, ARRAY) or kind == TENSOR
        if given and (kind == TENSOR or kinds.is_record(value) or type(value) is FunctionType):
            fixed = False
        grad = kind == TENSOR and step == _GRAD
        item = self._add(parent, step, value, kind, fixed and not grad)
        item.facts = facts
        if kind == TENSOR:
            item.role = "grad" if grad else "argument" if given else "captured"
            item.array = value._array
        self.known[id(value)] = item
        self.waiting.append((item, given))

    def _expand(self, item: Item, given: bool) -> None:
        """Note the parts of a thing."""
        value, kind = item.value, item.kind
        if kind == TENSOR:
            self._tensor(item)
        elif kind == SET:
            for i, part in enumerate(sorted(value, key=id)):
                if not kinds.is_constant(part):
                    self._place(item, Step("fixed", i), part, False)
        elif kind == CONTAINER:
            self._container(item, given)
        elif kind == GROWN:
            for i in range(self.grown.lengths[id(value)], len(value)):
                self._place(item, Step("item", i), value[i], False)
        elif kind == OPAQUE:
            if "__wrapped__" in kinds.attributes_of(value):
                self._place(item, Step("attribute", "__wrapped__"), kinds.attributes_of(value)["__wrapped__"], given)
        elif kind == OBJECT:
            if is_type(value):
                self._class(item, False)
            elif type(value) is FunctionType:
                self._function(item, given)
            elif isinstance(value, ModuleType):
                for name in vars(value):
                    if name in self.mentioned and not name.startswith("__"):
                        self._place(item, Step("attribute", name), vars(value)[name], False)
            else:
                self._object(item, given and not item.fixed)

    def _facts(self, tensor: Any, facts: Facts) -> tuple[str, Any]:
        """The kind of a tensor's item, and what is guarded of the tensor, for what the code names."""
        asked = _UNGUARDED & self.mentioned
        if asked:
            return REFUSED, f"a tensor, and the program names {min(asked)}, which may be another in each call"
        array, placed = tensor._array, not _OF_PLACES.isdisjoint(self.mentioned)
        offset = offset_of(array) if placed and type(array) is np.ndarray else None
        asks = self.everything or not _OF_ATTRIBUTES.isdisjoint(self.mentioned)
        return TENSOR, facts._replace(offset=offset, bare=asks and not tensor.__dict__)

    def _tensor(self, item: Item) -> None:
        tensor, meta = item.value, item.value._meta
        if not item.facts.plain and item.role != "grad":
            self._place(item, _GRAD, meta.grad, False)
            for name in _HOOKS:
                self._place(item, Step("meta", name), getattr(meta, name), False)
        if item.facts.view and item.role == "captured":
            self._place(item, Step("meta", "base"), meta.base, False)
        if tensor.__dict__:
            self._attributes(item, False, True)

    def _container(self, item: Item, given: bool) -> None:
        value = item.value
        names = kinds.PARTS.get(type(value))
        if names is not None:
            for name in names:
                shown = "self" if name == "__self__" and item.parent is None else ""
                self._place(item, Step("slot", name, shown), getattr(value, name), given)
            return
        for key, part in value.items() if kinds.is_mapping(value) else enumerate(value):
            self._place(item, Step("item", key), part, given)
        if kinds.is_mapping(value) and not all(map(kinds.is_constant, value)):
            self.keys.append(item)
        if kinds.attributes_of(value):
            self._attributes(item, given, True)

    def _keys(self, item: Item) -> None:
        """Note the keys of a mapping that are more than constants."""
        for i, key in enumerate(item.value):
            if not kinds.is_constant(key):
                if id(key) not in self.known:
                    self._place(item, Step("fixed", i), key, False)
                for step, part in item.entries.items():
                    if step.kind == "item" and step.key is key:
                        part.key = self.known[id(key)]

    def _object(self, item: Item, given: bool) -> None:
        cls = type(item.value)
        if is_put_off(item.value, self.mentioned):
            self._place(item, Step("attribute", "optimizer"), item.value.optimizer, given)
            return
        self._attributes(item, given, kinds.by_mention(cls) and not self.everything)
        if any([whose(base.__module__) == USER for base in cls.__mro__]):
            for i, base in enumerate(cls.__mro__):
                if whose(base.__module__) == USER and id(base) not in self.known:
                    self._place(item, Step("fixed", i, base.__name__), base, False)

    def _attributes(self, item: Item, given: bool, chosen: bool) -> None:
        """Note the attributes of an object; if `chosen`, only those that the code mentions."""
        value = item.value
        skipped = kinds.ignored(type(value))
        always = _MODULE_STATE if isinstance(value, Module) else frozenset()
        for name, part in kinds.attributes_of(value).items():
            if name not in skipped and (not chosen or name in self.mentioned or name in always):
                self._place(item, Step("attribute", name), part, given)
        if item.kind == OBJECT:
            for name in kinds.slots_of(type(value)):
                if name not in skipped and (not chosen or name in self.mentioned):
                    step = Step("slot", name)
                    self._place(item, step, step.read(value), given)

    def _class(self, item: Item, given: bool) -> None:
        """Note what the code can use of a class: methods, and variables that the code names."""
        cls = item.value
        plain = kinds.by_mention(cls)
        wanted = _MODULE_METHODS if issubclass(cls, Module) else frozenset()
        for name, value in list(vars(cls).items()):
            special = name.startswith("__") and name.endswith("__")
            if name in _NOT_WALKED or (isinstance(value, _DESCRIPTORS)):
                continue
            if special or name in self.mentioned or name in wanted or not plain or self.everything:
                for part in _unwrapped(value):
                    self._place(item, Step("variable", name) if part is value else Step("fixed", (name, id(part))),
                                part, given)
        for i, base in enumerate(cls.__mro__[1:]):
            if whose(base.__module__) == USER:
                self._place(item, Step("fixed", i, base.__name__), base, False)
        if whose(type(cls).__module__) == USER:
            self._place(item, Step("fixed", "metaclass", type(cls).__name__), type(cls), False)

    def _function(self, item: Item, given: bool) -> None:
        function = item.value
        for name, value in function.__dict__.items():
            if name in _WRITTEN or name in self.mentioned or self.everything:
                self._place(item, Step("attribute", name), value, given)
        origin = whose(function.__globals__.get("__name__"))
        compiled = item.parent is None or (item.parent.parent is None and item.step.kind == "slot")
        if origin == OWN or (origin != USER and not compiled):
            return
        named = mentions(function.__code__)
        self.names |= named.names
        self.identity = self.identity or named.identity
        self._named(item, function)
        for i, name in enumerate(function.__code__.co_freevars):
            step = Step("cell", i, name)
            self._place(item, step, step.read(function), given)
        for name in named.globals:                           # a missing name is one of Python's own
            self._place(item, Step("global", name), function.__globals__.get(name, MISSING), False)
        for name in named.imports:
            module = sys.modules.get(name)
            if module is not None and whose(name) == USER:
                self._place(item, Step("fixed", name, name), module, False)
        for name in ("__defaults__", "__kwdefaults__"):
            self._place(item, Step("slot", name), getattr(function, name), given)


    def _named(self, item: Item, function: FunctionType) -> None:
        """Refuse things that the code names and whose calls the watch over a run would not see (`calls.hidden`)."""
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for root, *attributes in chains(function.__code__):
            own = function.__globals__.get(root, getattr(builtins, root, MISSING))
            thing = _content(cells[root]) if root in cells else own
            for name in attributes:
                thing = vars(thing).get(name, MISSING) if isinstance(thing, ModuleType) else MISSING
            if hidden(thing):
                names = ".".join((root, *attributes))
                refused = self._add(item, Step("fixed", names, names), thing, REFUSED, True)
                refused.facts = "a function or type that may read or change more than its arguments"


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


# What no guard compares of tensors, what depends on the place in memory, and what asks whether there is an attribute.
_UNGUARDED = frozenset({"_version", "_base", "_is_view", "grad_fn", "next_functions", "data_ptr", "untyped_storage"})
_OF_PLACES = frozenset({"storage_offset", "as_strided", "as_strided_", "set_"})
_OF_ATTRIBUTES = frozenset({"hasattr", "AttributeError"})
_GRAD = Step("meta", "grad")
_DESCRIPTORS = (type(TensorBase._array), type(FunctionType.__code__))      # slots, and what C has defined
# What decides how a module computes, besides attributes that the code names.
_MODULE_STATE = frozenset({"training", "_parameters", "_buffers", "_modules", "_backward_pre_hooks", "_backward_hooks",
                           "_is_full_backward_hook", "_forward_hooks", "_forward_pre_hooks", "forward"})


def _unwrapped(value: Any) -> list[Any]:
    """What a class holds under a name: the functions in a property, or in a static or class method."""
    if isinstance(value, property):
        return [part for part in (value.fget, value.fset, value.fdel) if part is not None]
    if isinstance(value, cached_property):
        return [value.func]
    return [value.__func__] if isinstance(value, (staticmethod, classmethod)) else [value]


def _kind_of(value: Any) -> tuple[str, Any]:
    """The kind of an item, and facts about it."""
    if isinstance(value, TensorBase):
        if hasattr(value._array, "face"):                    # an array that makes a tensor one of another class
            return REFUSED, "a sparse or meta tensor, which the compiler does not know"
        return TENSOR, facts_of(value)
    reason = kinds.refusal(value)
    if reason is not None:
        return REFUSED, reason
    if isinstance(value, np.ndarray):
        return ARRAY, (value.shape, value.dtype, value.strides, value.tobytes())
    if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, (ModuleType, type(None))):
        return OPAQUE, None
    if type(value) in kinds.PARTS:
        return CONTAINER, None
    if kinds.is_mapping(value):
        return CONTAINER, list(value)
    if kinds.is_sequence(value):
        return CONTAINER, len(value)
    if type(value) in (set, frozenset):
        return SET, frozenset(value)
    if kinds.has_own_access(value):
        return REFUSED, f"a {type(value).__name__}, which has its own way to reach its elements"
    if is_type(value) or isinstance(value, ModuleType):
        name = value.__module__ if is_type(value) else value.__name__
        return (OBJECT if whose(name) == USER else OPAQUE), None
    if type(value) is FunctionType:
        return OBJECT, value.__code__
    if isinstance(value, Generator) or not kinds.is_open(type(value)):
        return (OPAQUE, None) if kinds.is_closed(value) else (REFUSED, kinds.why_not_closed(value))
    own = kinds.attributes_of(value)
    return OBJECT, (len(own), tuple(sorted(kinds.ignored(type(value)).difference(own))), type(value))

