"""What a program has put in place of functions and methods of libraries, and whether it does so between calls.

A program may assign `torch.Tensor.sin = mine`, `nn.Linear.forward = mine` or `functional.relu = mine`. The places where
its calls find functions of a library are few: the modules whose attributes its code names, the class of tensors, and
the classes of the modules and optimizers that it uses. Code of this package calls what it has imported, so no
assignment to a public name changes it; but it finds the methods of modules by their class.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ...foundations.names import contents
from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ...tensors.state.dispatch import DISPATCH
from ..program.constants import MISSING
from ..program.origins import OWN, USER, is_type, whose
from .items import OBJECT, Item
from .reading import chains

# Methods that modules are called by, whatever the code names.
_CALLED = frozenset({"__call__", "__getitem__", "__iter__", "forward"})
# What a class has of its own, whatever it inherits.
_OWN = frozenset({"__module__", "__doc__", "__slots__", "__new__"})
_PUBLIC = (Module, Optimizer)


class Place(NamedTuple):
    """A name in a module or class, and what stands there; MISSING if nothing does."""

    holder: Any
    name: str
    value: Any

    @property
    def words(self) -> str:
        """The place as a user writes it."""
        return f"{self.holder.__name__}.{self.name}"


def foreign(items: list[Item], mentioned: frozenset[str]) -> list[Place]:
    """The places that hold a function or an object of the program's own, which a walk must follow."""
    tensor = DISPATCH.tensor
    return [place for place in (*places(items, mentioned), *[Place(tensor, *entry) for entry in vars(tensor).items()])
            if _is_foreign(place.value)]


def places(items: list[Item], mentioned: frozenset[str]) -> list[Place]:
    """The places where the code of a program finds functions of libraries."""
    found: dict[tuple[int, str], Place] = {}
    for item in items:
        if type(item.value) is FunctionType and whose(item.value.__globals__.get("__name__")) == USER:
            for place in _named(item.value):
                found.setdefault((id(place.holder), place.name), place)
    for cls in (DISPATCH.tensor, *_PUBLIC, *classes(items)):
        names = mentioned | (_CALLED if issubclass(cls, Module) else frozenset())
        if cls is DISPATCH.tensor:                            # whose operators no name in the code mentions
            names |= {name for name in vars(cls) if any([name in vars(base) for base in cls.__mro__[1:]])} - _OWN
        for name in [name for name in vars(cls) if name in names]:
            found.setdefault((id(cls), name), Place(cls, name, vars(cls)[name]))
    return [*found.values()]


def classes(items: list[Item]) -> list[type[Any]]:
    """The classes of libraries that the objects of a program belong to."""
    classes = {type(item.value): None for item in items if item.kind == OBJECT and not is_type(item.value)}
    return [cls for cls in classes if whose(cls.__module__) == OWN]


def _named(function: FunctionType) -> Iterator[Place]:
    """The attributes of modules of libraries that a function names."""
    for (root, *names), _ in chains(function.__code__):
        thing = variable(function, root)
        for name in names[:-1]:
            thing = contents(thing).get(name, MISSING) if isinstance(thing, ModuleType) else MISSING
        if names and isinstance(thing, ModuleType) and whose(thing.__name__) != USER:
            yield Place(thing, names[-1], contents(thing).get(names[-1], MISSING))


def variable(function: FunctionType, name: str) -> Any:
    """What a variable from outside of a function holds: captured, global or a builtin; MISSING if there is none."""
    free = function.__code__.co_freevars
    if name not in free or function.__closure__ is None:
        return function.__globals__.get(name, getattr(builtins, name, MISSING))
    try:
        return function.__closure__[free.index(name)].cell_contents
    except ValueError:                                       # an empty cell
        return MISSING


def _is_foreign(value: Any) -> bool:
    """Whether a function or an object is the program's own."""
    if isinstance(value, property):
        return any(map(_is_foreign, (value.fget, value.fset)))
    if type(value) is FunctionType:
        return whose(value.__globals__.get("__name__")) == USER
    return isinstance(value, (partial, MethodType)) or whose(type(value).__module__) == USER
