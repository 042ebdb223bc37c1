"""Elementary functions of vectors: from glibc's vector library, by name, or from `polynomials`, or lane by lane.

Some functions of single precision are written into large loops; `single` has these. The vector library is off by at
most 4 units in the last place (most functions: 2.5). What the polynomials are off by is stated there. What neither has
comes from the C library, one lane after the other. Each function of a width is one function of the module, so a loop
may call it often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64
from . import polynomials, single
from .host import Host, has_symbol
from .lanes import Code, Lanes, Unknown
from .modules import Module

# The functions that PyTorch's programs call, by NumPy's names, and the names of C.
_IN_C = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
         "arctanh": "atanh", "arctan2": "atan2", "power": "pow"}


def apply(name: str, *operands: Lanes) -> Lanes:
    """The function of this name (NumPy's) for each lane. The operands are floats of one dtype."""
    x = operands[0]
    if x.dtype not in (F32, F64) or any([y.dtype != x.dtype for y in operands]):
        raise Unknown(f"{name} is for floats of one dtype")
    module = x.code.module
    if name in single.FORMULAS and x.dtype == F32 and module.host.fma and (module.thorough or not module.host.letters):
        return single.FORMULAS[name](*operands)
    found = _in_library(module.host, _IN_C.get(name, name), x.dtype, len(operands), x.code.width)
    if found is not None:
        return _by_library(found[0], found[1], operands)
    if polynomials.has(name, x.dtype):
        return _by_formula(name, polynomials.FORMULAS[name], operands)
    scalar = _IN_C.get(name, name) + ("f" if x.dtype == F32 else "")
    if not has_symbol(scalar):
        raise Unknown(f"no function {name}")
    return _by_formula(name, partial(polynomials.lane_by_lane, scalar), operands)


def _in_library(host: Host, name: str, dtype: Any, operands: int, width: int) -> tuple[str, int] | None:
    """The function's name in the vector library, and how many lanes it has: the most that fit, else the fewest."""
    bits = dtype.itemsize * 8
    for wide, letter in host.letters:
        lanes = wide // bits
        if lanes <= width or wide == host.letters[-1][0]:
            full = f"_ZGV{letter}N{lanes}{'v' * operands}_{name}{'f' if dtype == F32 else ''}"
            if has_symbol(full):
                return full, lanes
    return None


def _by_library(name: str, lanes: int, operands: Sequence[Lanes]) -> Lanes:
    """The function of the library, called for parts of the vectors, or for wider vectors."""
    x = operands[0]
    code, width = x.code, x.code.width
    element = x.type.partition("x ")[2][:-1]
    own = f"<{lanes} x {element}>"
    code.module.declare(name, own, *[own] * len(operands))
    if lanes == width:
        return code.vector(code.call(name, own, [(own, y.name) for y in operands]), x.dtype)
    parts = []
    for start in range(0, width, lanes):
        places = [min(start + i, width - 1) for i in range(lanes)]
        taken = [(own, shuffled(code, y.type, y.name, y.name, places)) for y in operands]
        parts.append(code.call(name, own, taken))
    return code.vector(_joined(code, element, parts, lanes, width), x.dtype)


def shuffled(code: Code, type: str, x: str, y: str, places: Sequence[int]) -> str:
    """The lanes at these places of x followed by y."""
    mask = ", ".join([f"i32 {place}" for place in places])
    return code.put(f"shufflevector {type} {x}, {type} {y}, <{len(places)} x i32> <{mask}>")


def _joined(code: Code, element: str, parts: list[str], lanes: int, width: int) -> str:
    """Vectors one after the other in one vector, which has `width` lanes."""
    while len(parts) > 1:
        type = f"<{lanes} x {element}>"
        parts = [shuffled(code, type, x, y, range(2 * lanes)) for x, y in zip(parts[::2], parts[1::2])]
        lanes *= 2
    return parts[0] if lanes == width else shuffled(code, f"<{lanes} x {element}>", parts[0], parts[0], range(width))


def _by_formula(name: str, formula: Callable[..., Lanes], operands: Sequence[Lanes]) -> Lanes:
    """A call of the module's own function, which is written if it is not there yet."""
    x = operands[0]
    module, width, type = x.code.module, x.code.width, x.type
    full = f"{name}.{width}.{x.dtype.char}"
    if full not in module.functions:
        module.functions[full] = ""                         # its place is before the functions that call it
        module.functions[full] = _written(module, formula, full, width, x.dtype, len(operands))
    return x.code.vector(x.code.call(full, type, [(type, y.name) for y in operands]), x.dtype)


def _written(module: Module, formula: Callable[..., Lanes], full: str, width: int, dtype: np.dtype[Any],
             count: int) -> str:
    """The text of a function of vectors."""
    code = Code(module, width)
    type = code.type(dtype)
    result = formula(*[code.vector(f"%a{i}", dtype) for i in range(count)])
    arguments = ", ".join([f"{type} %a{i}" for i in range(count)])
    return code.function(f"internal {type} @{full}({arguments})", f"{type} {result.name}")
