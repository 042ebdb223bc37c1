"""The walk: finds everything that a call of a function can reach, from its captured variables and its arguments.

Each thing is found once, with one path to it. Of the attributes of user-defined objects, the walk follows the
attributes that the code names, so what a program counts elsewhere does not matter to the call.
"""

from __future__ import annotations

import enum
import inspect
from collections import defaultdict, deque
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...foundations.names import contents
from ...kernels.layout import offset_of
from ...nn.modules.module import Module
from ...tensors.state.base import TensorBase
from ..program import constants
from ..program.constants import MISSING
from ..program.origins import OWN, USER, is_type, whose, whose_class
from . import kinds
from .appended import NOTHING_GROWN, Grown, appended
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
    Defined,
    Facts,
    Item,
    State as State,
    names_of,
    take_apart,
)
from .named import LOOKING, Named
from .patches import foreign
from .places import Step
from .put_off import is_put_off
from .reading import ANY_ATTRIBUTE, codes, mentions
from .surroundings import modes, outside_random as outside_random

# A walk that finds so many things ends, and the function is not compiled: a guard would take longer than the function.
MOST = 50_000
_MODULE_METHODS = frozenset({"forward"})
# Methods that run when objects are made, copied or shown, not when an existing object is used.
_NOT_WALKED = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__repr__", "__str__",
                         "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__del__", "__copy__",
                         "__deepcopy__", "__dict__", "__weakref__", "__doc__", "__module__", "__annotations__",
                         "__slots__", "__match_args__", "__dataclass_fields__", "__dataclass_params__",
                         "__orig_bases__", "__parameters__", "__abstractmethods__", "_abc_impl", "__qualname__",
                         "__static_attributes__", "__firstlineno__", "__type_params__"})
_HOOKS = ("hooks", "post_accumulate")
# Those of them that run when code calls a class.
_MAKING = frozenset({"__new__", "__init__", "__post_init__", "__del__"})
_WRITTEN = ("__wrapped__", "_torchdynamo_orig_callable")


def walk(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
         mentioned: frozenset[str] = frozenset(), grown: Grown | None = None) -> State:
    """All that a call `function(*args, **kwargs)` can reach.

    `mentioned` are names that are taken as named by the code, besides the names that the walk finds. `grown` are lists
    of which the walk looks only at later elements. For the walk after a call, pass both of the state before.
    """
    while True:
        found = Walk(mentioned, NOTHING_GROWN if grown is None else grown)
        found.start(function, args, kwargs)
        names = mentioned | found.names
        if len(found.items) >= MOST:
            found.refuse_all()
            names = mentioned
        if names == mentioned:
            state = State(found.items, found.known, mentioned, modes(), found.identity, found.read, found.grown)
            grown = appended(state) if grown is None else NOTHING_GROWN
            if not (grown.lengths or grown.stepped):
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


class Walk:
    """One walk. `names` are the names that the code mentions, as far as the walk has come."""

    def __init__(self, mentioned: frozenset[str], grown: Grown) -> None:
        self.grown = grown
        self.items: list[Item] = []
        self.known: dict[int, Item] = {}
        self.mentioned = mentioned
        self.everything = not ANY_ATTRIBUTE.isdisjoint(mentioned)
        self.names: set[str] = set()
        self.read: dict[int, CodeType] = {}                  # the code that it has read, by identity
        self.identity = False
        self.waiting: deque[tuple[Item, bool]] = deque()
        self.keys: list[Item] = []                           # mappings whose keys are yet to be noted
        self.sources: dict[str, Item] = {}                   # `builtins` and `sys.modules`, in which code finds names

    def start(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Walk from a function, then from the arguments."""
        self.place(None, Step("function", 0, getattr(function, "__name__", type(function).__name__)), function, False)
        self._drain()
        whole = self.add(None, Step("args", "args", "the arguments"), args, CONTAINER, False)
        whole.facts = len(args)
        for i, (name, value) in enumerate(zip(argument_names(function, args), args)):
            self.place(whole, Step("item", i, name), value, True)
        named = self.add(None, Step("kwargs", "kwargs", "the named arguments"), kwargs, CONTAINER, False)
        named.facts = list(kwargs)
        for name, value in kwargs.items():
            self.place(named, Step("item", name, f"argument {name}"), value, True)
        self._drain()
        for place in foreign(self.items, self.mentioned):
            self.place(self.items[0], Step("fixed", place.words), place.value, False)
        self._drain()

    def refuse_all(self) -> None:
        """Note that the walk has not come to its end."""
        item = self.add(None, Step("fixed", MOST, "the function"), None, REFUSED, True)
        item.facts = f"one that can reach more than {MOST} things, too many to compare before each call"

    def _drain(self) -> None:
        while (self.waiting or self.keys) and len(self.items) < MOST:
            if self.waiting:
                self._expand(*self.waiting.popleft())
            else:                                            # the keys have found better places, if there are any
                self._keys(self.keys.pop())

    def add(self, parent: Item | None, step: Step, value: Any, kind: str, fixed: bool) -> Item:
        """Note a thing in a place."""
        item = Item(len(self.items), parent, step, value, kind, fixed)
        self.items.append(item)
        if parent is not None:
            parent.entries[step] = item
        return item

    def place(self, parent: Item | None, step: Step, value: Any, given: bool) -> None:
        """Note what stands in a place. `given` says that it came with the arguments, and may be another next time."""
        if constants.is_constant(value):
            item = self.add(parent, step, value, CONSTANT, False)
            if isinstance(value, enum.Enum) and whose_class(type(value)) == USER:
                self._member(item, value)
            return
        known = self.known.get(id(value))
        if known is not None and parent is not None:
            parent.entries[step] = known
            return
        kind, facts = kinds.kind_of(value)
        if id(value) in self.grown.lengths:
            kind = GROWN
        elif kind == TENSOR:
            kind, facts = self._facts(value, facts)
        fixed = kind in (OBJECT, OPAQUE, ARRAY) or kind == TENSOR
        if given and (kind == TENSOR or kinds.is_record(value) or type(value) is FunctionType):
            fixed = False
        grad = kind == TENSOR and step == _GRAD
        item = self.add(parent, step, value, kind, fixed and not grad)
        item.facts = facts
        if kind == TENSOR:
            item.role = "grad" if grad else "argument" if given else "captured"
            item.array = value._array
        self.known[id(value)] = item
        self.waiting.append((item, given))

    def _member(self, item: Item, value: Any) -> None:
        """Note the attributes of a member of an enumeration."""
        if id(value) not in self.known:
            member = self.known[id(value)] = self.add(item, Step("fixed", "member", item.words), value, OBJECT, True)
            member.facts = kinds.facts_of_object(value)
            self.waiting.append((member, False))

    def _expand(self, item: Item, given: bool) -> None:
        """Note the parts of a thing."""
        value, kind = item.value, item.kind
        if kind == TENSOR:
            self._tensor(item)
        elif kind == SET:
            for i, part in enumerate(sorted(value, key=id)):
                if not constants.is_constant(part):
                    self.place(item, Step("fixed", i), part, False)
        elif kind == CONTAINER:
            self._container(item, given)
        elif kind == GROWN:
            for i in range(self.grown.lengths[id(value)], len(value)):
                self.place(item, Step("item", i), value[i], False)
        elif kind == OPAQUE:
            if id(value) in LOOKING:
                self.names.add("__dict__")
            if "__wrapped__" in kinds.attributes_of(value):
                self.place(item, Step("attribute", "__wrapped__"), kinds.attributes_of(value)["__wrapped__"], given)
            for name in kinds.WRAPPING.get(type(value), ()):
                self.place(item, Step("slot", name), getattr(value, name), given)
        elif kind == OBJECT:
            if is_type(value):
                self._class(item, False)
            elif type(value) is FunctionType:
                self._function(item, given)
            elif isinstance(value, ModuleType):
                item.facts = Defined(None, names_of(contents(value)) if self._asks() else None)
                for name in contents(value):
                    if name in self.mentioned and not name.startswith("__"):
                        self.place(item, Step("attribute", name), contents(value)[name], False)
            else:
                self._object(item, given and not item.fixed)

    def _facts(self, tensor: TensorBase, facts: Facts) -> tuple[str, Any]:
        """The kind of a tensor's item, and what is guarded of the tensor, for what the code names."""
        asked = _UNGUARDED & self.mentioned
        if asked:
            return REFUSED, f"a tensor, and the program names {min(asked)}, which may be another in each call"
        resizing = _RESIZING & self.mentioned
        if resizing:
            return REFUSED, f"a tensor, and the program names {min(resizing)}, which gives a tensor other memory"
        array, placed = tensor._array, not _OF_PLACES.isdisjoint(self.mentioned)
        offset = offset_of(array) if placed and type(array) is np.ndarray else None
        asks = self._asks() or whose_class(type(tensor)) == USER             # whose variables attributes hide
        retains = getattr(tensor._grad_meta, "retained", None) is not None
        return TENSOR, facts._replace(offset=offset, attributes=names_of(tensor.__dict__) if asks else None,
                                      retained=retains if "retains_grad" in self.mentioned else None)

    def _asks(self) -> bool:
        """Whether the code may ask which attributes a thing has."""
        return self.everything or not _OF_ATTRIBUTES.isdisjoint(self.mentioned)

    def _tensor(self, item: Item) -> None:
        tensor, meta = item.value, item.value._grad_meta
        if not item.facts.plain and item.role != "grad":
            self.place(item, _GRAD, meta.grad, False)
            for name in _HOOKS:
                self.place(item, Step("meta", name), getattr(meta, name), False)
        if item.facts.view and item.role == "captured":
            self.place(item, Step("meta", "base"), meta.base, False)
        if tensor.__dict__:
            self._attributes(item, False, True)

    def _container(self, item: Item, given: bool) -> None:
        value = item.value
        names = kinds.PARTS.get(type(value))
        if names is not None:
            for name in names:
                shown = "self" if name == "__self__" and item.parent is None else ""
                self.place(item, Step("slot", name, shown), getattr(value, name), given)
            if kinds.attributes_of(value):
                self._attributes(item, given, True)
            return
        for key, part in value.items() if kinds.is_mapping(value) else enumerate(value):
            self.place(item, Step("item", key), part, given)
        if kinds.is_mapping(value) and not all(map(constants.is_constant, value)):
            self.keys.append(item)
        if isinstance(value, defaultdict):
            self.place(item, Step("slot", "default_factory"), value.default_factory, given)
        if kinds.attributes_of(value):
            self._attributes(item, given, True)
        self._bases(item, type(value).__mro__)

    def _keys(self, item: Item) -> None:
        """Note the keys of a mapping that are more than constants."""
        for i, key in enumerate(item.value):
            if not constants.is_constant(key):
                if id(key) not in self.known:
                    self.place(item, Step("fixed", i), key, False)
                for step, part in item.entries.items():
                    if step.kind == "item" and step.key is key:
                        part.key = self.known[id(key)]

    def _object(self, item: Item, given: bool) -> None:
        cls = type(item.value)
        if is_put_off(item.value, self.mentioned, self.grown.stepped):
            self.place(item, Step("attribute", "optimizer"), item.value.optimizer, given)
            return
        self._attributes(item, given, kinds.by_mention(cls) and not self.everything)
        self._bases(item, cls.__mro__)

    def _attributes(self, item: Item, given: bool, chosen: bool) -> None:
        """Note the attributes of an object; if `chosen`, only attributes that the code mentions."""
        value = item.value
        skipped = kinds.ignored(type(value))
        always = _MODULE_STATE if isinstance(value, Module) else frozenset()
        for name, part in kinds.attributes_of(value).items():
            if name not in skipped and (not chosen or name in self.mentioned or name in always):
                self.place(item, Step("attribute", name), part, given)
        if item.kind == OBJECT:
            for name in kinds.slots_of(type(value)):
                if name not in skipped and (not chosen or name in self.mentioned):
                    step = Step("slot", name)
                    self.place(item, step, step.read(value), given)

    def _class(self, item: Item, given: bool) -> None:
        """Note what the code can use of a class: methods, and variables that the code names."""
        cls = item.value
        item.facts = Defined(cls.__mro__, names_of(vars(cls)))
        plain = kinds.by_mention(cls)
        wanted = _MODULE_METHODS if issubclass(cls, Module) else frozenset()
        for name, value in list(vars(cls).items()):
            special = name.startswith("__") and name.endswith("__")
            if (name in _NOT_WALKED and name not in self.mentioned) or isinstance(value, _DESCRIPTORS):
                continue
            if special or name in self.mentioned or name in wanted or not plain or self.everything:
                self._variable(item, name, value, given)
        if "__match_args__" in self.mentioned:               # names of attributes
            self.names.update([name for name in getattr(cls, "__match_args__", ()) if isinstance(name, str)])
        for name in sorted(_TEXTS & self.mentioned - vars(cls).keys()):
            self.place(item, Step("slot", name), getattr(cls, name, MISSING), False)
        self._bases(item, cls.__mro__[1:])
        if whose_class(type(cls)) == USER:
            self.place(item, Step("fixed", "metaclass", type(cls).__name__), type(cls), False)

    def _variable(self, item: Item, name: str, value: Any, given: bool) -> None:
        """Note a variable of a class, and the functions in it if it is a property or another wrapper of functions."""
        if Step("variable", name) not in item.entries:
            self.place(item, Step("variable", name), value, given)

    def _bases(self, item: Item, bases: tuple[type[Any], ...]) -> None:
        for i, base in enumerate(bases):
            if whose_class(base) == USER and id(base) not in self.known:
                self.place(item, Step("fixed", i, base.__name__), base, False)

    def makes(self, item: Item, step: Step, cls: Any) -> None:
        """Note that the code of a function calls a class: so the methods run that make objects."""
        if whose_class(cls) != USER:
            return
        self.place(item, step, cls, False)
        self._bases(item, cls.__mro__)
        for base in cls.__mro__:
            for name in _MAKING.intersection(vars(base)):
                if whose_class(base) == USER:
                    self._variable(self.known[id(base)], name, vars(base)[name], False)

    def _function(self, item: Item, given: bool) -> None:
        function = item.value
        item.facts = Defined(function.__code__, names_of(function.__dict__) if self._asks() else None)
        for name, value in function.__dict__.items():
            if name in _WRITTEN or name in self.mentioned or self.everything:
                self.place(item, Step("attribute", name), value, given)
        origin = whose(function.__globals__.get("__name__"))
        compiled = item.parent is None or (item.parent.parent is None and item.step.kind == "slot")
        if origin == OWN or (origin != USER and not compiled):
            return
        named = mentions(function.__code__)
        self.read.update({id(code): code for code in codes(function.__code__)})
        self.names |= named.names
        self.identity = self.identity or named.identity
        for i, name in enumerate(function.__code__.co_freevars):
            step = Step("cell", i, name)
            self.place(item, step, step.read(function), given)
        for name in named.globals:                           # a missing name is one of Python's own
            self.place(item, Step("global", name), function.__globals__.get(name, MISSING), False)
        for name in ("__defaults__", "__kwdefaults__", *sorted(_TEXTS & self.mentioned)):
            self.place(item, Step("slot", name), getattr(function, name, MISSING), given)
        Named(self).function(item, named)


# What no guard compares of tensors, what depends on the place in memory, and what asks whether there is an attribute.
_UNGUARDED = frozenset({"_version", "_base", "_is_view", "grad_fn", "next_functions", "data_ptr", "untyped_storage"})
_RESIZING = frozenset({"resize_", "resize_as_"})
_OF_PLACES = frozenset({"storage_offset", "as_strided", "as_strided_", "set_"})
_OF_ATTRIBUTES = frozenset({"hasattr", "AttributeError"})
# What a function or a class has besides its code and its dictionary.
_TEXTS = frozenset({"__doc__", "__name__", "__qualname__", "__annotations__", "__module__", "__type_params__"})
_GRAD = Step("meta", "grad")
_DESCRIPTORS = (type(TensorBase._array), type(FunctionType.__code__))      # slots, and what C has defined
# What decides how a module computes, besides attributes that the code names.
_MODULE_STATE = frozenset({"training", "_parameters", "_buffers", "_modules", "_backward_pre_hooks", "_backward_hooks",
                           "_is_full_backward_hook", "_forward_hooks", "_forward_pre_hooks", "forward"})
