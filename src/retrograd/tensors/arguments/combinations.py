"""PyTorch's error for arguments that fit none of the schemas of a function: "received an invalid combination of ...".

PyTorch reads its own text of each schema for this message, and divides the text at ", ". So it counts the `*` among the
parameters, and it takes the default for the name of a parameter that has one. What the message says of a schema ("the
keywords were incorrect") follows from that, and not from the call. The rules here are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...foundations.errors import kinds_of, one_of, unfitting
from .schemas import Schema

_NUMBERS = {"float": ("float", "int", "long"), "int": ("int", "long")}


class _Read(NamedTuple):
    """A parameter as PyTorch reads it."""

    kind: str
    name: str

    def takes(self, kind: str) -> bool:
        return kind in _NUMBERS.get(self.kind, (self.kind,))


def combination(ways: Sequence[Schema], args: Sequence[Any], kwargs: Mapping[str, Any],
                kind_of: Callable[[Any], str]) -> TypeError:
    """The error. `kind_of` gives the name of the type of a value."""
    named = {key: kwargs[key] for key in reversed([*kwargs])}               # the order of PyTorch's table of names
    name, given = ways[0].name, kinds_of(args, kwargs, kind_of)
    if len(ways) == 1:
        (read,) = map(_read, ways)
        incorrect = _incorrect(read, named)
        if incorrect:
            return unfitting(name, f"unrecognized keyword arguments: {', '.join(incorrect)}", "")
        if len(read) == len(args) + len(named):
            given = _marked(read, args, named, kind_of)
        return unfitting(name, given, f", but expected {ways[0].text}")
    lines = []
    for way in ways:
        lines.append(f" * {way.text}")
        read = _read(way)
        if len(read) == len(args) + len(named):
            incorrect = _incorrect(read, named)
            lines.append("      didn't match because some of the " + (
                f"keywords were incorrect: {', '.join(incorrect)}" if incorrect else
                f"arguments have invalid types: {_marked(read, args, named, kind_of)}"))
    return unfitting(name, given, one_of(lines))


def _read(way: Schema) -> list[_Read]:
    parts = way.text[1:-1].split(", ")          # of "()", one parameter without a name
    return [_Read(*(part.rpartition(" ")[::2] if " " in part else (part, part))) for part in parts]


def _incorrect(read: Sequence[_Read], named: Mapping[str, Any]) -> list[str]:
    """The arguments by name that PyTorch does not find among the last parameters."""
    last = {parameter.name for parameter in read[max(len(read) - len(named), 0):]}
    return [key for key in named if key not in last]


def _marked(read: Sequence[_Read], args: Sequence[Any], named: Mapping[str, Any], kind_of: Callable[[Any], str]) -> str:
    """The types of the arguments, each between exclamation marks if PyTorch does not expect it there."""
    shown = []
    for i, parameter in enumerate(read):
        value = args[i] if i < len(args) else named[parameter.name]
        kind = kind_of(value)
        text = f"{parameter.name}=" if i >= len(args) else ""
        if type(value) in (tuple, list):
            comma = "," if type(value) is tuple and len(value) == 1 else ""
            elements = ", ".join(map(kind_of, value)) + comma
            text += f"{kind} of " + (f"({elements})" if type(value) is tuple else f"[{elements}]")
        else:
            text += kind
        shown.append(text if parameter.takes(kind) else f"!{text}!")
    return f"({', '.join(shown)})" if args else f"({', '.join(shown)}, )"
