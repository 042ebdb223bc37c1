"""The formulas of comparisons, logic, bits, limits and choices. A bool in memory is a byte of 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import BOOL_
from ...ops import choosing
from ...ops.elementwise import comparison as ops
from ...ops.framework import Op
from .arithmetic import Formula, plain, promoted
from .lanes import Lanes, Unknown, absolute, bits_of, intrinsic, limited, maximum, minimum, pair, select, to

_COMPARISONS: dict[Op, Formula] = {
    ops.eq: lambda x, y: x == y, ops.ne: lambda x, y: x != y, ops.lt: lambda x, y: x < y,
    ops.le: lambda x, y: x <= y, ops.gt: lambda x, y: x > y, ops.ge: lambda x, y: x >= y}


def _with_number(formula: Formula) -> Formula:
    return lambda x, number: formula(*promoted(x, number))


def _of_bools(formula: Callable[..., Lanes]) -> Formula:
    """The formula for whether the operands are not 0."""
    return lambda *xs: formula(*[to(x, BOOL_) for x in xs])


def chosen(condition: Any, x: Any, y: Any) -> Lanes:
    """x where the condition holds, else y, in the dtype of the result. x and y may be Python numbers."""
    if not isinstance(condition, Lanes):
        raise Unknown("a condition that is no array")
    x, y = [to(a, condition.code.result) if isinstance(a, Lanes) else condition.code.all(a, condition.code.result)
            for a in (x, y)]
    return select(condition, x, y)


def clipped(x: Lanes, low: Any, high: Any) -> Lanes:
    """Floats limited to [low, high], which are numbers in the dtype of x. A nan and the sign of a zero are kept."""
    with np.errstate(over="ignore"):
        low, high = [float(x.dtype.type(plain(limit))) for limit in (low, high)]
    if math.isnan(low) or math.isnan(high):
        raise Unknown("a limit that is nan")
    return limited(x, low, high)


def _clamp_number(x: Lanes, low: Any, high: Any) -> Lanes:
    for limit in (low, high):
        x = x if limit is None else promoted(x, plain(limit))[0]
    if x.dtype.kind == "f":
        return clipped(x, -math.inf if low is None else low, math.inf if high is None else high)
    if x.dtype.kind == "b":
        raise Unknown("the kernel raises an error")
    x = x if low is None else maximum(x, x.like(low))
    return x if high is None else minimum(x, x.like(high))


def _clamp(x: Lanes, low: Any, high: Any) -> Lanes:
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


def _first(better: Callable[[Lanes, Lanes], Lanes]) -> Formula:
    """fmax and fmin: the better one, or the one that is no nan."""

    def call(x: Lanes, y: Lanes) -> Lanes:
        x, y = pair(x, y)
        return select(better(x, y) | (y != y), x, y)

    return call


def _infinite(value: float) -> Formula:
    return lambda x: x == value if x.dtype.kind == "f" else x.code.all(False, BOOL_)


def _of_floats(formula: Callable[[Lanes], Lanes], of_others: bool) -> Formula:
    """A predicate of floats, and what it is for other numbers."""
    return lambda x: formula(x) if x.dtype.kind == "f" else x.code.all(of_others, BOOL_)


def _heaviside(x: Lanes, y: Lanes) -> Lanes:
    return select(x == 0, y, to(x > 0, x.dtype))


def _isclose(x: Lanes, y: Lanes, rtol: Any, atol: Any, equal_nan: Any) -> Lanes:
    close = x == y
    if x.dtype.kind != "f" or x.dtype != y.dtype:
        raise Unknown("closeness of integers")
    if equal_nan:
        close = close | ((x != x) & (y != y))
    if rtol == 0 and atol == 0:
        return close
    gap = absolute(x - y)
    near: Lanes = (gap < math.inf) & (gap <= absolute(y * plain(rtol)) + plain(atol))
    return close | near


FORMULAS: dict[Op, Formula] = {
    **_COMPARISONS,
    **{ops.WITH_NUMBER[op]: _with_number(formula) for op, formula in _COMPARISONS.items()},
    ops.logical_and: _of_bools(lambda x, y: x & y),
    ops.logical_or: _of_bools(lambda x, y: x | y),
    ops.logical_xor: _of_bools(lambda x, y: x ^ y),
    ops.logical_not: _of_bools(lambda x: ~x),
    ops.bitwise_and: lambda x, y: x & y,
    ops.bitwise_or: lambda x, y: x | y,
    ops.bitwise_xor: lambda x, y: x ^ y,
    ops.bitwise_not: lambda x: ~x,
    ops.isnan: _of_floats(lambda x: x != x, False),
    ops.isinf: _of_floats(lambda x: absolute(x) == math.inf, False),
    ops.isfinite: _of_floats(lambda x: absolute(x) < math.inf, True),
    ops.isposinf: _infinite(math.inf),
    ops.isneginf: _infinite(-math.inf),
    ops.isreal: lambda x: x.code.all(True, BOOL_),
    ops.signbit: lambda x: bits_of(x) < 0 if x.dtype.kind == "f" else x < 0,
    ops.isclose: _isclose,
    ops.maximum: maximum,
    ops.minimum: minimum,
    ops.fmax: _first(lambda x, y: x >= y),
    ops.fmin: _first(lambda x, y: x <= y),
    ops.clamp_number: _clamp_number,
    ops.clamp: _clamp,
    ops.clamp_min: maximum,
    ops.clamp_max: minimum,
    ops.where: chosen,
    choosing.choose: chosen,
    ops.heaviside: _heaviside,
    ops.copysign: lambda x, y: intrinsic("copysign", *pair(x, y)),
    ops.copysign_number: lambda x, number: intrinsic("copysign", x, x.like(float(plain(number)))),
}
