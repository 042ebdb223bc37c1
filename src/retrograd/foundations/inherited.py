"""Methods that a public class inherits from a private one, under the name of the public class.

Python names the function in an error about its arguments: "ReLU.forward() takes 2 positional arguments but 3 were
given". Without a copy it would name a private class, which a program cannot know.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

_OWN = f"{__package__.partition('.')[0]}."


def name_inherited(cls: type, *names: str, but: Collection[str] = ()) -> None:
    """Give a public class its own copies of methods that private classes of this package define.

    Methods whose qualified names are in `but` stay with the private class.
    """
    if cls.__name__.startswith("_"):
        return
    for name in names:
        owner = next((base for base in cls.__mro__ if name in vars(base)), cls)
        method = vars(owner).get(name)
        private = owner.__name__.startswith("_") and owner.__module__.startswith(_OWN)
        if private and isinstance(method, FunctionType) and method.__qualname__ not in but:
            setattr(cls, name, _copy(method, f"{cls.__qualname__}.{name}"))


def _copy(function: FunctionType, qualname: str) -> Any:
    """A function of the same code, under another name."""
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                        function.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    copy.__doc__, copy.__module__, copy.__qualname__ = function.__doc__, function.__module__, qualname
    return copy
