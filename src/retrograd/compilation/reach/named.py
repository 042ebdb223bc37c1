"""What code names besides its own variables: builtins, modules that it imports, attributes of modules.

The guard asks that each of them is the thing that it was. A class that the code calls has methods that make objects;
the walk reads them, too.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
import inspect
import operator
import sys
from importlib.util import resolve_name
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ...foundations.names import PACKAGE, contents
from ..program import constants
from ..program.constants import MISSING
from ..program.origins import LIBRARY, OWN, USER, is_type, whose
from . import kinds
from .items import CONSTANT, CONTAINER, OPAQUE, REFUSED, Item
from .judging import OF_STATES, hidden, unknown
from .patches import variable
from .places import Step
from .reading import Mentions, chains

if TYPE_CHECKING:
    from .state import Walk

# Functions of Python's library that look at all attributes of their arguments, or at any of them.
LOOKING = frozenset(map(id, (
    getattr, setattr, delattr, vars, dir, object.__getattribute__, object.__setattr__, object.__delattr__,
    type.__getattribute__, type.__setattr__, type.__delattr__, operator.attrgetter, operator.methodcaller, copy.copy,
    copy.deepcopy, dataclasses.asdict, dataclasses.astuple, dataclasses.replace, dataclasses.fields,
    inspect.getmembers, inspect.getattr_static, inspect.signature)))
# A library's container with more entries than this is none that a guard compares: `sys.modules` is one.
_MOST_ENTRIES = 200
# The module of operators, and the module of operators that programs define, which few programs import.
_OPS, _OVERLOADS = f"{PACKAGE}.ops", f"{PACKAGE}.ops.overloads"


class Named:
    """Notes for a walk what a function names."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def function(self, item: Item, named: Mentions) -> None:
        """Note what a function names."""
        function: FunctionType = item.value
        own: Any = getattr(function, "__builtins__")         # noqa: B009     mypy does not know it
        if own is not vars(builtins) and own:                # as `exec` may give it; a named tuple's function has none
            self._refuse(item, "builtins", function, "a function with builtins of its own")
        source = self._source("builtins", builtins)
        for name in named.globals:
            if name not in function.__globals__:
                self._once(source, Step("attribute", name, name), vars(builtins).get(name, MISSING))
        for level, name in named.imports:
            self._imported(function, level, name)
        self._chains(item)

    def _source(self, name: str, thing: Any) -> Item:
        """The item of a thing of Python's own, in which the guard looks for names."""
        sources = self.walk.sources
        if name not in sources:
            sources[name] = self.walk.add(None, Step("fixed", name, name), thing, OPAQUE, True)
        return sources[name]

    def _once(self, item: Item, step: Step, value: Any) -> None:
        if step not in item.entries:
            self.walk.place(item, step, value, False)

    def _imported(self, function: FunctionType, level: int, name: str) -> None:
        """Note the modules that an import statement finds."""
        if level:
            try:
                name = resolve_name("." * level + name, function.__globals__.get("__package__") or "")
            except ImportError:                              # which the program will raise as well
                return
        source, parts = self._source("sys.modules", sys.modules), name.split(".")
        for i in range(len(parts)):
            full = ".".join(parts[:i + 1])
            self._once(source, Step("item", full, full), sys.modules.get(full, MISSING))

    def _refuse(self, item: Item, names: str, thing: Any, why: str) -> None:
        refused = self.walk.add(item, Step("fixed", names, names), thing, REFUSED, True)
        refused.facts = why

    def _chains(self, item: Item) -> None:
        """Note what the code names from its variables on."""
        function = item.value
        for (root, *attributes), called in chains(function.__code__):
            thing = variable(function, root)
            for i, name in enumerate(attributes):
                thing = self._operator(item, thing, name) or self._attribute(
                    thing, name, i + 2 - called < len(attributes))
            names = ".".join((root, *attributes))
            if hidden(thing) or (not called and isinstance(thing, BuiltinFunctionType) and unknown(thing)):
                # The watch over a run would not see its calls: another function in C may make them.
                self._refuse(item, names, thing, "a function or type that may read or change more than its arguments")
            if called and is_type(thing) and root != "__class__":
                self.walk.makes(item, Step("fixed", names, names), thing)
            if id(thing) in LOOKING:
                self.walk.names.add("__dict__")

    def _operator(self, item: Item, thing: Any, name: str) -> Any:
        """What `torch.ops` has under a name, or a namespace in it; None for anything else.

        The guard asks for the kernels of an operator. The operator is the same as long as the program defines it.
        """
        defined = sys.modules.get(_OVERLOADS)
        if defined is None:
            return None
        if thing is sys.modules.get(_OPS):
            found = defined.NAMESPACES.get(name)
        else:
            found = vars(thing).get(name) if isinstance(thing, defined._OpNamespace) else None
        if isinstance(found, defined.DefinedPacket):
            self.walk.place(item, Step("fixed", f"torch.ops.{found}", f"torch.ops.{found}"), found, False)
        return found

    def _attribute(self, thing: Any, name: str, read: bool) -> Any:
        """What stands under a name in a module; `MISSING` if the thing is no module. The guard will ask for it.

        `read` says that the code reads an attribute of the thing. (If the code calls methods alone, they are seen.)
        """
        if not isinstance(thing, ModuleType):
            return MISSING
        value, step = contents(thing).get(name, MISSING), Step("attribute", name)
        if value is MISSING and name in OF_STATES and whose(thing.__name__) == OWN:
            value = getattr(thing, name, MISSING)            # which the package imports at the first use
        item = self.walk.known.get(id(thing))
        if item is None or step in item.entries or (whose(thing.__name__) == OWN and _is_own(value)):
            return value
        library, bound = whose(thing.__name__) == LIBRARY, type(value) in kinds.PARTS
        kind, _ = (CONSTANT, None) if constants.is_constant(value) else kinds.kind_of(value)
        if library and (bound or (kind == REFUSED and not read)):
            self.walk.add(item, step, value, OPAQUE, True)
        elif library and kind == CONTAINER and len(value) > _MOST_ENTRIES:
            self._refuse(item, name, value, "a large table of Python's library, which changes")
        else:
            self.walk.place(item, step, value, False)
        return value


def _is_own(value: Any) -> bool:
    """Whether a thing is one of this package's, or one that it has taken from a library."""
    kind = value if is_type(value) else type(value)
    if isinstance(value, FunctionType):
        return whose(value.__globals__.get("__name__")) != USER
    return isinstance(value, ModuleType) or whose(kind.__module__) == OWN or (callable(value) and value is not MISSING)
