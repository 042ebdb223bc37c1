"""Places: where a value stands that a function can reach, and how the place is read, written and named.

A step leads from a thing to a value in it. The steps from a function, or from the arguments of a call, to a value are
the path of the value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...foundations.names import contents
from ...tensors.state.base import meta_of
from ..program.constants import MISSING

# How Python reads the value of a step from `{o}`, for each kind of step. `{d}` is the dictionary of an object.
SOURCES = {
    "attribute": "{d}[{key}]",                               # an entry of the object's `__dict__`
    "slot": "{o}.{key}",                                     # an attribute that does not stand in a dictionary
    "item": "{o}[{key}]",                                    # of a list, a tuple or a dict
    "cell": "{o}.__closure__[{key}].cell_contents",          # a captured variable of a function
    "global": "{o}.__globals__[{key}]",
    "meta": "{o}._grad_meta.{key}",                               # a part of a tensor, such as `grad`
}
MEMBERS = ("_parameters", "_buffers", "_modules")            # where modules keep what programs know as attributes


class Step(NamedTuple):
    """A step of a kind in `SOURCES`, or of the kind 'fixed', which always leads to the same thing.

    A step of the kind 'append' is only written: the value becomes another element of a list.

    `key` is the name, index or key. `shown` is the name of a captured variable or of an argument, if `key` is a number.
    """

    kind: str
    key: Any
    shown: str = ""

    def read(self, thing: Any) -> Any:
        """The value in this place of a thing; `MISSING` if there is none."""
        try:
            return self._read(thing)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return MISSING

    def _read(self, thing: Any) -> Any:
        kind, key = self.kind, self.key
        if kind == "attribute" or kind == "variable":
            return contents(thing)[key]
        if kind == "item":
            return thing[key]
        if kind == "cell":
            return thing.__closure__[key].cell_contents
        if kind == "global":
            return thing.__globals__[key]
        return getattr(thing._grad_meta if kind == "meta" else thing, key)

    def write(self, thing: Any, value: Any) -> None:
        """Put a value in this place of a thing. `MISSING` removes the value."""
        kind, key = self.kind, self.key
        if kind == "meta":
            setattr(meta_of(thing), key, None if value is MISSING else value)
        elif kind == "cell":
            if value is MISSING:
                del thing.__closure__[key].cell_contents
            else:
                thing.__closure__[key].cell_contents = value
        elif kind == "variable" or kind == "slot":
            if value is MISSING:
                delattr(thing, key)
            else:
                setattr(thing, key, value)
        elif kind == "append":
            thing.append(value)
        else:
            place = thing if kind == "item" else thing.__globals__ if kind == "global" else contents(thing)
            if value is MISSING:
                del place[key]
            else:
                place[key] = value

    def words(self, thing: str, key: str | None = None) -> str:
        """How a user writes the place. `thing` says how the user writes the thing, and `key` the key of an item."""
        if self.kind == "cell" or self.kind == "global":
            return self.shown or self.key
        if self.shown:
            return self.shown
        if self.kind == "item":
            outer, dot, last = thing.rpartition(".")
            if dot and last in MEMBERS and isinstance(self.key, str):
                return f"{outer}[{self.key}]" if self.key.isdigit() else f"{outer}.{self.key}"
            return f"{thing}[{key or _text_of(self.key)}]"
        return f"{thing}.{self.key}"


def _text_of(key: Any) -> str:
    """How a user writes a key. The program's own code shows no key."""
    plain = type(key) in (str, int, float, bool, bytes, type(None)) or (
        type(key) is tuple and all([type(part) in (str, int) for part in key]))
    return repr(key) if plain else f"a {type(key).__name__}"
