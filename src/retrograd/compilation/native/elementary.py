"""The formulas of elementary functions, signs and roundings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F64
from ...ops.elementwise import elementary as ops
from ...ops.framework import Op
from . import vector_math
from .arithmetic import Formula, plain
from .choices import clipped
from .lanes import Lanes, Unknown, absolute, intrinsic, maximum, pair, select, sqrt, to


def function(name: str) -> Formula:
    """The function of this name, as NumPy applies it: integers are converted to double."""

    def call(*xs: Lanes) -> Lanes:
        dtype = np.result_type(*[x.dtype for x in xs])
        if dtype.kind == "b":
            raise Unknown("functions of bools")
        return vector_math.apply(name, *[to(x, F64 if dtype.kind != "f" else dtype) for x in xs])

    return call


exp, log, log1p, tanh, erf, expm1 = map(function, ("exp", "log", "log1p", "tanh", "erf", "expm1"))


def _sqrt(x: Lanes) -> Lanes:
    return sqrt(x if x.dtype.kind == "f" else to(x, F64))


def _floats(x: Lanes) -> Lanes:
    if x.dtype.kind != "f":
        raise Unknown("a function of floats")
    return x


def sigmoid(x: Lanes) -> Lanes:
    """1 / (1 + exp(-x))."""
    return 1.0 / (exp(-_floats(x)) + 1.0)


def _sign(x: Lanes) -> Lanes:
    """The sign: 0 for nan, and a zero of float is +0.0."""
    if x.dtype.kind == "b":
        return x
    return select(x > 0, 1, select(x < 0, x.like(-1), x.like(0)))


def _rounding(name: str) -> Formula:
    return lambda x: intrinsic(name, x) if x.dtype.kind == "f" else x


def _round_at(x: Lanes, decimals: Any) -> Lanes:
    if x.dtype.kind != "f":
        return x
    if abs(plain(decimals)) > np.finfo(x.dtype).maxexp * math.log10(2):
        raise Unknown("powers of 10 beyond the dtype")
    power: float = 10.0 ** abs(plain(decimals))
    return intrinsic("rint", x / power) * power if decimals < 0 else intrinsic("rint", x * power) / power


def _log_of_sum(power: str, unit: float) -> Formula:
    def call(x: Lanes, y: Lanes) -> Lanes:
        x, y = pair(x, y)
        t = log1p(function(power)(-absolute(x - y)))
        t = t if unit == 1 else t * unit
        return maximum(x, y) + select(t >= 0, t, 0.0)

    return call


def _logit(x: Lanes, eps: Any) -> Lanes:
    if eps is not None:
        if eps > 0.5:
            raise Unknown("limits that cross")
        x = clipped(x, eps, 1 - eps)
    return log(x / (1 - _floats(x)))


def _times_log(x: Lanes, y: Lanes, logarithm: Lanes) -> Lanes:
    x, logarithm = pair(x, logarithm)
    return select((x == 0) & (y == y), 0.0, x * logarithm)


def _nan_to_num(x: Lanes, nan: Any, posinf: Any, neginf: Any) -> Lanes:
    if x.dtype.kind != "f":
        return x
    largest = float(np.finfo(x.dtype).max)
    result = select(x == math.inf, largest if posinf is None else posinf, x)
    result = select(x == -math.inf, -largest if neginf is None else neginf, result)
    return select(x != x, 0.0 if nan is None else nan, result)


def _sinc(x: Lanes) -> Lanes:
    t = _floats(x) * math.pi
    return select(x == 0, 1, function("sin")(t) / t)


def _scaled(x: Lanes, y: Lanes, whole: bool = False) -> Lanes:
    """x * 2 ** y. A whole y is split in three, since 2 ** y may be too large or too small."""
    power = function("exp2")
    if not whole:
        return x * power(y)
    third = intrinsic("trunc", y * (1 / 3))
    return x * power(third) * power(third) * power(y - 2 * third)


def _angle(x: Lanes) -> Lanes:
    return select(_floats(x) < 0, math.pi, select(x != x, x, 0.0))


FORMULAS: dict[Op, Formula] = {
    **{op: function(name) for op, name in (
        (ops.exp, "exp"), (ops.exp2, "exp2"), (ops.expm1, "expm1"), (ops.log, "log"), (ops.log2, "log2"),
        (ops.log10, "log10"), (ops.log1p, "log1p"), (ops.sin, "sin"), (ops.cos, "cos"), (ops.tan, "tan"),
        (ops.asin, "arcsin"), (ops.acos, "arccos"), (ops.atan, "arctan"), (ops.sinh, "sinh"), (ops.cosh, "cosh"),
        (ops.tanh, "tanh"), (ops.asinh, "arcsinh"), (ops.acosh, "arccosh"), (ops.atanh, "arctanh"),
        (ops.atan2, "arctan2"), (ops.hypot, "hypot"), (ops.erf, "erf"), (ops.erfc, "erfc"))},
    ops.tanh_backward: lambda grad_output, output: grad_output * (1 - output * output),
    ops.sqrt: _sqrt,
    ops.rsqrt: lambda x: 1.0 / sqrt(x),
    ops.sgn: _sign,
    ops.sign: _sign,
    ops.abs: absolute,
    ops.ceil: _rounding("ceil"),
    ops.floor: _rounding("floor"),
    ops.trunc: _rounding("trunc"),
    ops.round: _rounding("rint"),
    ops.round_to_whole: _round_at,
    ops.round_decimals: _round_at,
    ops.frac: lambda x: x - intrinsic("trunc", x),
    ops.conj: lambda x: x,
    ops.logaddexp: _log_of_sum("exp", 1.0),
    ops.logaddexp2: _log_of_sum("exp2", 1 / math.log(2)),
    ops.deg2rad: lambda x: _floats(x) * (math.pi / 180),
    ops.rad2deg: lambda x: _floats(x) * (180 / math.pi),
    ops.logit: _logit,
    ops.xlogy: lambda x, y: _times_log(x, y, log(y)),
    ops.nan_to_num: _nan_to_num,
    ops.sinc: _sinc,
    ops.angle: _angle,
    ops.ldexp: _scaled,
}
