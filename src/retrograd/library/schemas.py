"""Schemas of operators, such as "(Tensor x, float k=2.0) -> Tensor": reading, writing, and calling by them.

The notation is PyTorch's. A type in brackets `[]` is a list, a question mark allows None, and `(a!)` behind a type says
that the operator writes over the argument. A call is checked by the schema, in PyTorch's words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..foundations.devices import device
from ..foundations.dtypes import dtype
from ..tensors.tensor import Tensor

_TYPE = r"(\w+)(\([^)]*\))?(\?)?(\[\d*\])?(\?)?(\([^)]*\))?"
_ARGUMENT = re.compile(_TYPE + r" +(\w+)(?: *= *(.*))?")
_RETURN = re.compile(_TYPE + r"(?: +(\w+))?")
_SCHEMA = re.compile(r"([\w:]*)(?:\.(\w+))?\((.*)\) *-> *(.*)", re.DOTALL)
# The types of schemas, by the names that PyTorch's messages have for them.
KINDS = {"Tensor": "Tensor", "SymInt": "int", "int": "int", "float": "float", "bool": "bool", "str": "str",
         "Scalar": "number", "ScalarType": "int", "Device": "Device", "Layout": "int", "MemoryFormat": "int",
         "Generator": "Generator", "complex": "complex", "Dimname": "Dimname", "Storage": "Storage"}
# The number of each dtype, by which schemas show a dtype as a default.
_CODES = {name: number for number, name in enumerate(
    ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
     "complex128", "bool"))} | {"bfloat16": 15}
_WORDS = {"None": None, "true": True, "True": True, "false": False, "False": False}


class AliasInfo(NamedTuple):
    """What a schema says of the memory of an argument: the name of the memory, and whether it is written."""

    before_set: set[str]
    is_write: bool


class Argument(NamedTuple):
    """One argument, or one result, of an operator. `default_value` is None if there is no default."""

    name: str
    kind: str                       # the type of the value, or of the elements of a list
    none_inside: bool               # whether elements may be None
    size: str                       # "[]" or "[2]" for a list, "" for one value
    none: bool
    alias: str                      # such as "(a!)"
    default: str | None             # the text of the default
    kwarg_only: bool

    @property
    def type(self) -> str:
        """The type as PyTorch's messages write it."""
        kind = KINDS[self.kind]
        kind = f"Optional[{kind}]" if self.none_inside else kind
        kind = f"List[{kind}]" if self.size else kind
        return f"Optional[{kind}]" if self.none else kind

    @property
    def alias_info(self) -> AliasInfo | None:
        """Whether the operator returns or writes the memory of the argument; None if it does neither."""
        word = self.alias.strip("()")
        return AliasInfo({word.rstrip("!")}, word.endswith("!")) if word else None

    @property
    def default_value(self) -> Any:
        """The default."""
        return None if self.default is None else _value(self.default, self.kind)

    def has_default_value(self) -> bool:
        """Whether a call may omit the argument."""
        return self.default is not None

    def __str__(self) -> str:
        inside, outside = "?" * self.none_inside, "?" * self.none
        text = f"{self.kind}{self.alias}{inside}{self.size}{outside} {self.name}".rstrip()
        if self.default is None:
            return text
        value = self.default_value
        return f"{text}={value if self.kind == 'Device' else _shown(value)}"


class Schema(NamedTuple):
    """The schema of an operator. `name` is the name with the namespace."""

    name: str
    overload_name: str
    arguments: list[Argument]
    returns: list[Argument]
    wrapped: bool = False           # whether the only result comes in a tuple

    @property
    def is_mutable(self) -> bool:
        """Whether the operator writes over one of its arguments."""
        return any([a.alias_info is not None and a.alias_info.is_write for a in self.arguments])

    @property
    def written(self) -> list[str]:
        """The names of the arguments that the operator writes over."""
        return [a.name for a in self.arguments if a.alias_info is not None and a.alias_info.is_write]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts = []
        for a in self.arguments:
            if a.kwarg_only and "*" not in parts:
                parts.append("*")
            parts.append(str(a))
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1:
            returns = f"({returns})"
        elif self.wrapped:
            returns = f"(({returns}))"
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}({', '.join(parts)}) -> {returns}"


# Reading


def parsed(text: str) -> Schema:
    """The schema in a text. Raises RuntimeError for a text that is none."""
    match = _SCHEMA.fullmatch(text.strip())
    if match is None:
        raise RuntimeError('expected a schema such as "name(Tensor x, int y=1) -> Tensor" here:\n'
                           f"{text}\n~ <--- HERE\n")
    name, overload, arguments, returns = match.groups()
    by_name, found = False, []
    for part in _parts(arguments):
        if part == "*":
            by_name = True
        else:
            found.append(_argument(text, _ARGUMENT.fullmatch(part), by_name))
    wrapped = returns.startswith("((")
    inner = returns
    if returns.startswith("("):
        inner = returns[1 + wrapped:len(returns) - 1 - wrapped]
    results = [_argument(text, _RETURN.fullmatch(part), False) for part in _parts(inner)]
    return Schema(name, overload or "", found, results, wrapped)


def _parts(text: str) -> Iterator[str]:
    """The parts between commas that are in no brackets and no quotes."""
    depth, quote, part = 0, "", ""
    for sign in text:
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth and not quote:
            yield part.strip()
            part = ""
        else:
            part += sign
    if part.strip():
        yield part.strip()


def _argument(text: str, match: re.Match[str] | None, by_name: bool) -> Argument:
    if match is None:
        raise RuntimeError(f"expected an argument such as \"Tensor x\" here:\n{text}\n~ <--- HERE\n")
    kind, before, first, size, second, behind, name, *default = match.groups()
    if kind not in KINDS:
        raise RuntimeError(
            "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for "
            "a full list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
            f":\n{text}\n{' ' * text.index(kind)}{'~' * len(kind)} <--- HERE\n")
    return Argument(name or "", kind, bool(first and size), size or "", bool(second or (first and not size)),
                    before or behind or "", default[0] if default else None, by_name)


def _value(text: str, kind: str) -> Any:
    """The value of a default. A list is a new one each time."""
    if text in _WORDS:
        return _WORDS[text]
    if kind == "ScalarType":
        return _DTYPES[next(name for name, code in _CODES.items() if text in (name, str(code)))]
    if kind == "float":
        return float(text)
    if text[0] in "\"'[" or text[0].isdigit() or text[0] in "-.":
        return ast.literal_eval(text)
    return text


_DTYPES: Mapping[str, Any] = {str(each).removeprefix("torch."): each for each in dtype.of.values()}


def _shown(value: Any) -> str:
    """A default as PyTorch shows it."""
    if isinstance(value, dtype):
        return str(_CODES.get(str(value).removeprefix("torch."), value))
    if isinstance(value, float):
        text = f"{value:.17g}"
        return text if any(sign in text for sign in ".einf") else f"{text}."
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


# Calling


def bound(schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The values of the arguments by position, and of those by keyword, of the types of the schema.

    Raises RuntimeError for a call that does not fit the schema.
    """
    arguments = schema.arguments
    positional = [a for a in arguments if not a.kwarg_only]
    if len(args) + len(kwargs) > len(arguments):
        raise RuntimeError(f"{schema.name}() expected at most {len(arguments)} argument(s) but received "
                           f"{len(args) + len(kwargs)} argument(s). Declaration: {schema}")
    if len(args) > len(positional):
        raise RuntimeError(f"{schema.name}() takes {len(positional)} positional argument(s) but {len(args)} was/were "
                           f"given.  Declaration: {schema}")
    names = {a.name for a in arguments}
    for name in kwargs:
        if name not in names:
            raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{schema.name}'. Schema: {schema}")
    for a in positional[:len(args)]:
        if a.name in kwargs:
            raise RuntimeError(f"Argument '{a.name}' specified both as positional and keyword argument. "
                               f"Schema: {schema}")
    values, by_name = [], {}
    for place, a in enumerate(arguments):
        if place < len(args):
            value = _converted(schema, a, args[place], place)
        elif a.name in kwargs:
            value = _converted(schema, a, kwargs[a.name], place)
        elif a.default is not None:
            value = a.default_value
        else:
            raise RuntimeError(f"{schema.name}() is missing value for argument '{a.name}'. Declaration: {schema}")
        if a.kwarg_only:
            by_name[a.name] = value
        else:
            values.append(value)
    return values, by_name


def without_defaults(schema: Schema, values: list[Any], by_name: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments that a kernel receives: none of the last ones that are equal to their defaults."""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    count = len(values)
    while count and _is_default(positional[count - 1], values[count - 1]):
        count -= 1
    named = {a.name: by_name[a.name] for a in schema.arguments
             if a.kwarg_only and not _is_default(a, by_name[a.name])}
    return values[:count], named


def _is_default(argument: Argument, value: Any) -> bool:
    if argument.default is None or isinstance(value, Tensor):
        return False
    default = argument.default_value
    return value is None if default is None else type(value) is type(default) and bool(value == default)


def _converted(schema: Schema, argument: Argument, value: Any, place: int) -> Any:
    """A value as the type of its argument. Raises RuntimeError for a value of another type."""
    if value is None and (argument.none or (argument.kind == "Tensor" and not argument.size)):
        return None
    convert = _CONVERSIONS.get(argument.kind)
    try:
        if convert is None:
            return value
        if not argument.size:
            return convert(value)
        if argument.size != "[]" and isinstance(value, float if argument.kind == "float" else int):
            return [convert(value)] * int(argument.size[1:-1])
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
            raise TypeError
        return [None if one is None and argument.none_inside else convert(one) for one in value]
    except (TypeError, ValueError, OverflowError):       # a NaN is no int, and not every int a float
        raise RuntimeError(f"{schema.name}() Expected a value of type '{argument.type}' for argument '{argument.name}' "
                           f"but instead found type '{type(value).__name__}'.\nPosition: {place}\nValue: {value!r}\n"
                           f"Declaration: {schema}") from None


def _number(value: Any) -> Any:
    """The Python number of a tensor or an array with one element; any other value as it is."""
    if isinstance(value, Tensor):
        return value.item() if value.numel() == 1 else value
    alone = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return value.item() if alone else value


def _of(kinds: tuple[type, ...], convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A conversion of numbers of some types."""

    def conversion(value: Any) -> Any:
        number = _number(value)
        if not isinstance(number, kinds):
            raise TypeError
        return convert(number)

    return conversion


def _int(value: Any) -> int:
    """An int of 64 bits. Floats of Python are refused; those in tensors and arrays lose their fraction."""
    number = _number(value)
    if isinstance(value, (float, complex)) or not isinstance(number, (int, float)):
        raise TypeError
    found = int(number)
    if not -2**63 <= found < 2**63:
        raise TypeError
    return found


def _instance(kind: type) -> Callable[[Any], Any]:
    def conversion(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError
        return value

    return conversion


def _device(value: Any) -> device:
    if not isinstance(value, (str, device)):
        raise TypeError
    return device(value)


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "Tensor": _instance(Tensor), "SymInt": _int, "int": _int, "float": _of((int, float), float),
    "bool": _of((int,), bool), "str": _instance(str), "Scalar": _of((int, float, complex), lambda number: number),
    "ScalarType": _instance(dtype), "Device": _device, "complex": _of((int, float, complex), complex)}
