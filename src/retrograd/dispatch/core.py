"""The schemas of PyTorch's core: which overload a call means, and which of its arguments a handler is given.

`aten.txt` has one schema in each line. They are PyTorch's own texts; a test compares each line with PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from ..foundations.dtypes import dtype as torch_dtype
from ..library.schemas import Argument, Schema, parsed
from ..ops.overloads import OpOverload, OpOverloadPacket, aten
from ..tensors.state.base import TensorBase

# PyTorch hands these a number in the place of their second tensor. All others have an overload for numbers.
_WITH_NUMBERS = frozenset(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "floor_divide"))
_NUMBERS = (bool, int, float, complex)


@cache
def _texts() -> dict[str, list[str]]:
    """The schemas by the name of the operator, in PyTorch's order of its overloads."""
    found: dict[str, list[str]] = {}
    for line in files(__package__).joinpath("aten.txt").read_text(encoding="utf-8").splitlines():
        found.setdefault(line[:line.index("(")].partition(".")[0], []).append(line)
    return found


@cache
def overloads(name: str) -> dict[str, Schema]:
    """The schemas of an operator by the names of its overloads; empty if the table has none of its name."""
    schemas = [parsed(f"aten::{text}") for text in _texts().get(name, ())]
    return {schema.overload_name or "default": schema for schema in schemas}


def schema_of(overload: OpOverload) -> Schema | None:
    """The schema of an overload; None if the table has none."""
    return overloads(overload.overloadpacket.__name__).get(overload._overloadname)


def known(name: str) -> bool:
    """Whether the table has an operator of this name."""
    return name in _texts()


def overload(name: str) -> OpOverload:
    """The overload that a name such as "mul.Tensor" means."""
    packet, _, which = name.partition(".")
    found: OpOverload = getattr(getattr(aten, packet), which or "default")
    return found


def chosen(name: str, values: Sequence[Any]) -> OpOverload:
    """The overload of an operator that takes these values as its first arguments.

    Raises LookupError if no overload does.
    """
    packet: OpOverloadPacket = getattr(aten, name)
    for which, schema in overloads(name).items():
        given = zip(schema.arguments, values)
        if len(values) <= len(schema.arguments) and all([_fits(a, value, name) for a, value in given]) and all([
                a.default is not None for a in schema.arguments[len(values):] if not a.kwarg_only]):
            found: OpOverload = getattr(packet, which)
            return found
    raise LookupError(name)


def _fits(argument: Argument, value: Any, name: str) -> bool:
    if value is None:
        return argument.none or argument.default == "None"
    if argument.kind == "Tensor":
        if argument.size:
            return type(value) in (list, tuple) and all([v is None or isinstance(v, TensorBase) for v in value])
        return isinstance(value, TensorBase) or (name in _WITH_NUMBERS and isinstance(value, _NUMBERS))
    if isinstance(value, TensorBase):
        return False
    if argument.size:
        return type(value) in (list, tuple) or (argument.size != "[]" and isinstance(value, int))
    if argument.kind in ("int", "SymInt"):
        return isinstance(value, int) and not isinstance(value, bool)
    if argument.kind in ("Scalar", "float"):
        return isinstance(value, _NUMBERS)
    if argument.kind == "str":
        return isinstance(value, str)
    if argument.kind in ("Generator", "Device", "Layout", "MemoryFormat"):
        return not isinstance(value, (*_NUMBERS, str, list, tuple))
    if argument.kind == "ScalarType":
        return isinstance(value, torch_dtype)
    return argument.kind != "bool" or isinstance(value, (bool, int))


def arranged(schema: Schema, values: Sequence[Any], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional values, and values by name, as a handler gets them: none of the last that are equal to a default."""
    given = {a.name: value for a, value in zip(schema.arguments, values)} | named
    positional = [a for a in schema.arguments if not a.kwarg_only]
    count = max([i + 1 for i, a in enumerate(positional) if a.name in given], default=0)
    while count and _is_default(positional[count - 1], given.get(positional[count - 1].name)):
        count -= 1
    args = [_as_listed(a, given.get(a.name, a.default_value)) for a in positional[:count]]
    kwargs = {a.name: given[a.name] for a in schema.arguments
              if a.kwarg_only and a.name in given and not _is_default(a, given[a.name])}
    return tuple(args), kwargs


def _as_listed(argument: Argument, value: Any) -> Any:
    """A number for a list of a fixed size as the list, which a handler is given."""
    if argument.size and isinstance(value, int) and not isinstance(value, bool):
        return [value] * int(argument.size[1:-1] or 1)
    return value


def _is_default(argument: Argument, value: Any) -> bool:
    if argument.default is None or isinstance(value, TensorBase):
        return False
    default = argument.default_value
    if default is None or value is None:
        return value is default
    if argument.size and isinstance(value, list) and not isinstance(default, list):
        return all([v == default for v in value])
    return bool(np.all(default == value)) and isinstance(value, bool) is isinstance(default, bool)
