"""Compares the arguments of a call with PyTorch's schemas, and makes PyTorch's error if they do not fit.

The error is the one that PyTorch's argument parser raises. If a function has one schema, the error names the first
argument that does not fit. If it has several schemas and only one takes this number of arguments, the error is that of
this schema. Otherwise the error lists all schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from ...foundations.devices import device
from ...foundations.dtypes import dtype
from ...foundations.errors import kind_of
from ..state.base import TensorBase, requires
from .combinations import combination
from .generator import Generator
from .options import layout, memory_format
from .schemas import NAMES, OTHER_NAMES, Parameter, Schema, schemas

# The functions that take a Python number in place of any tensor.
NUMBERS_TOO = frozenset(("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide"))
# The functions that also take their arguments in an order that PyTorch gave up (see `reordering`).
FORMER_ORDERS = frozenset(("add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "baddbmm", "sub"))
ALIASES = {other: name for name, others in OTHER_NAMES.items() for other in others}


def refusal(texts: tuple[str, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Exception | None:
    """The error that PyTorch raises for these arguments before it looks at their values; None if they fit a schema."""
    ways = schemas(texts)
    said = ways[0].name
    if len(ways) == 1 and said.removesuffix("_") not in FORMER_ORDERS:
        return _plain(misfit(ways[0], said, args, kwargs)) or unpacking(ways[0], said, args, kwargs)
    fitting = next((way for way in ways if misfit(way, said, args, kwargs) is None), None)
    if fitting is not None:
        return unpacking(fitting, said, args, kwargs)
    for way in ways:
        error = misfit(way, said, args, kwargs)
        if type(error) is _Element or isinstance(error, ValueError):     # PyTorch tries no further schema
            return _plain(error)
    count = len(args) + len(kwargs)
    plausible = [way for way in ways if way.required <= count <= len(way.parameters)]
    if len(plausible) == 1:
        return _plain(misfit(plausible[0], said, args, kwargs))
    return combination(ways, args, kwargs, kind_of)


def unpacking(way: Schema, said: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TypeError | None:
    """The error for a list of ints that has something else behind its first element; None if there is none."""
    for place, parameter in enumerate(way.parameters):
        value = kwargs.get(parameter.name, args[place] if place < len(args) else None)
        if parameter.kind != "ints":
            continue
        for number, each in enumerate(value if isinstance(value, (tuple, list)) else (), 1):
            if not is_int(each):
                return TypeError(f"{said}(): argument '{parameter.name}' failed to unpack the object at pos {number} "
                                 f'with error "type must be {NAMES["ints"]},but got {kind_of(each)}"')
    return None


class _Element(TypeError):
    """The error for a list of tensors that contains something else."""


def _plain(error: Exception | None) -> Exception | None:
    return TypeError(str(error)) if type(error) is _Element else error


def misfit(way: Schema, said: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Exception | None:
    """The error of one schema; None if the arguments fit."""
    # The ints of the last parameter may be given one by one, if there are no other parameters beside `input`.
    last = way.parameters[way.positional - 1] if way.positional else None
    several = (last is not None and last.kind == "ints" and not last.size and len(args) >= way.positional
               and (way.positional == 1 or (way.positional == 2 and way.parameters[0].name == "input"))
               and not isinstance(args[way.positional - 1], (tuple, list)) and is_int(args[way.positional - 1]))
    if len(args) > way.positional and not several:
        return _too_many(way, said, len(args))
    place, left = 0, {key: value for key, value in kwargs.items() if value is not None or key not in ALIASES}
    for i, parameter in enumerate(way.parameters):
        by_name = place >= len(args)
        if not by_name and parameter.by_name:
            return _too_many(way, said, len(args))
        names = (parameter.name, *OTHER_NAMES.get(parameter.name, ()))
        key = next((n for n in names if n in left), "")
        if by_name and not key:
            if parameter.default is None:
                return _missing(way, said, i)
            continue
        value = left.pop(key) if by_name else args[place]
        if several and parameter is last and not by_name and not isinstance(value, (tuple, list)) and is_int(value):
            place = len(args)
            continue
        error = _unfit(parameter, said, value, None if by_name else place + 1, i)
        if error is not None:
            return error
        place += not by_name
    for key in left:
        known = key in [p.name for p in way.parameters]
        return TypeError(f"{said}() got multiple values for argument '{key}'" if known else
                         f"{said}() got an unexpected keyword argument '{key}'")
    return None


def _too_many(way: Schema, said: str, count: int) -> TypeError:
    low, high = way.required, way.positional
    takes = f"{high} positional argument{'' if high == 1 else 's'}" if low == high else (
        f"from {low} to {high} positional arguments")
    return TypeError(f"{said}() takes {takes} but {count} were given")


def _missing(way: Schema, said: str, first: int) -> TypeError:
    return missing(said, [p.name for p in way.parameters[first:] if p.default is None])


def missing(said: str, absent: Sequence[str]) -> TypeError:
    """PyTorch's error for arguments that are not there."""
    names = ", ".join([f'"{name}"' for name in absent])
    return TypeError(f"{said}() missing {len(absent)} required positional argument{'s' if len(absent) == 1 else ''}: "
                     f"{names}")


def _unfit(parameter: Parameter, said: str, value: Any, position: int | None, number: int) -> Exception | None:
    """The error for one argument; None if it fits."""
    kind = parameter.kind
    if value is None and (parameter.none or parameter.name == "requires_grad"):
        return None
    if kind == "Tensors" and isinstance(value, (tuple, list)):
        for i, each in enumerate(value):
            if not _is_tensor(each):
                where = f"'{parameter.name}'" if parameter.name == "out" else f"{number}"
                return _Element(f"expected Tensor as element {i} in argument {where}, but got {kind_of(each)}")
        return None
    as_tensor = kind == "Tensor" and said.removesuffix("_") in NUMBERS_TOO and _is_python_number(value)
    if as_tensor or _CHECKS[kind](value) or (kind == "ints" and parameter.size and is_int(value)):
        return _too_large(value, kind)
    where = f"{said}(): argument '{parameter.name}'" + ("" if position is None else f" (position {position})")
    found = f"not {kind_of(value)}"
    if isinstance(value, (tuple, list)) and kind in ("ints", "floats") and value and position is not None:
        found = f"but found element of type {kind_of(value[0])} at pos 0"
    return TypeError(f"{where} must be {NAMES.get(kind, kind)}, {found}")


def _too_large(value: Any, kind: str) -> ValueError | None:
    """The error for an int that does not fit in 64 bits; None for all other values."""
    if kind == "int" and isinstance(value, int) and not -2**63 <= value < 2**63:
        return ValueError("Overflow when unpacking long long")
    return None


def _is_tensor(value: Any) -> bool:
    return isinstance(value, TensorBase) or hasattr(type(value), "__torch_function__")


def _is_constant(value: Any) -> bool:
    """Whether the value is a tensor that stands for a number: it has no dimensions and requires no grad."""
    return isinstance(value, TensorBase) and not value._array.ndim and not requires(value)


def _is_python_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def is_int(value: Any) -> bool:
    """Whether the value counts as an int: no bool, but also a 0-d tensor of an integer type."""
    if isinstance(value, TensorBase):
        return _is_constant(value) and value._array.dtype.kind in "iu"
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        index(value)
    except TypeError:
        return False
    return True


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_float(value: Any) -> bool:
    return (_is_python_number(value) and not isinstance(value, (complex, np.complexfloating))) or _is_constant(value)


def _is_list(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A check for lists of such elements. Like PyTorch, it looks only at the first element."""
    return lambda value: isinstance(value, (tuple, list)) and (not value or of(value[0]))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "Tensor": _is_tensor,
    "Tensors": _is_list(_is_tensor),
    "Number": lambda value: _is_python_number(value) or _is_constant(value),
    "Numbers": _is_list(lambda value: _is_python_number(value) or _is_constant(value)),
    "int": is_int,
    "ints": _is_list(is_int),
    "float": _is_float,
    "floats": _is_list(_is_float),
    "bool": _is_bool,
    "str": lambda value: isinstance(value, str),
    "Generator": lambda value: isinstance(value, Generator),
    "dtype": lambda value: isinstance(value, dtype) or any(value is kind for kind in (bool, int, float, complex)),
    "layout": lambda value: isinstance(value, layout),
    "device": lambda value: isinstance(value, (str, int, device)),
    "memory_format": lambda value: isinstance(value, memory_format),
}
