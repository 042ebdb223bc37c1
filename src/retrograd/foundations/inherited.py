"""Methods that a public class has from a private one, under the name of the public class.

Python names the function in an error about its arguments: "ReLU.forward() takes 2 positional arguments but 3 were
given". Without these names the error would name a private class, which a program cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from types import FunctionType
from typing import Any, TypeVar

_OWN = f"{__package__.partition('.')[0]}."

C = TypeVar("C", bound=type)


def part_of(public: str) -> Callable[[C], C]:
    """A decorator of a class that is one part of a single public class: its methods have the name of that class."""

    def name_methods(cls: C) -> C:
        for name, value in vars(cls).items():
            if isinstance(value, FunctionType):
                value.__qualname__ = f"{public}.{name}"
        return cls

    return name_methods


def name_inherited(cls: type, *names: str, but: Collection[str] = ()) -> None:
    """Give a class its own copies of methods that private classes of this package define.

    Without names, all methods are copied, except for private ones. Methods whose qualified names are in `but` stay with
    the private class.
    """
    for name in names or _of_private_bases(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
        method = vars(owner).get(name)
        if owner is not cls and _is_private(owner) and isinstance(method, FunctionType) and (
                method.__qualname__ not in but):
            setattr(cls, name, named_copy(method, f"{cls.__qualname__}.{name}"))


def _is_private(cls: type) -> bool:
    return cls.__name__.startswith("_") and cls.__module__.startswith(_OWN)


def _of_private_bases(cls: type) -> Iterator[str]:
    """The names in private base classes that are no private names: `append`, `__len__`."""
    for base in cls.__mro__[1:]:
        if _is_private(base):
            yield from [name for name in vars(base) if name.startswith("__") or not name.startswith("_")]


def named_copy(function: FunctionType, qualname: str) -> Any:
    """A function of the same code, under another name."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                        function.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    copy.__doc__, copy.__module__, copy.__qualname__ = function.__doc__, function.__module__, qualname
    return copy


def same_code(one: Any, other: Any) -> bool:
    """Whether two methods are the same, or copies of the same under other names."""
    return one is other or getattr(one, "__code__", one) is getattr(other, "__code__", other)
