"""Elementary functions from polynomials, for machines whose C library has no vector functions.

All are computed in double precision. For single precision the series are shorter, and the result is rounded once, so it
is off by at most 0.6 units in the last place. Double precision is off by at most 1 unit (exp, sin, cos, log), 2 units
(exp2, expm1, log2, log1p, erf) or 3 units (log10, tan, tanh, sinh, cosh). A test holds this table.
The polynomials are Taylor series on intervals that are small enough. Subnormal numbers, infinities and nan are as in
NumPy. For angles beyond 2e5 the lanes go one by one through the C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64
from ...kernels.special.tables import ERFCX
from .lanes import Code, Lanes, absolute, bits_of, from_bits, fused, intrinsic, select, to
from .modules import Module

# Adding this number rounds to the nearest integer, which then stands in the last bits.
_MAGIC = 1.5 * 2.0 ** 52
_LOG2E = 1 / math.log(2)
# Constants in two or three parts: the first have so few bits that their product with a small integer is exact.
_LN2 = (0.6931471803691238, 1.9082149292705877e-10)
_LOG10_2 = (0.301029995663611771306, 3.69423907715893078616e-13)
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.02226624879595063154e-21)
_FAR = 2e5


def horner(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    """The polynomial with these coefficients, the constant first."""
    total = x.like(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = fused(total, x, coefficient)
    return total


def _nearest(x: Lanes) -> tuple[Lanes, Lanes]:
    """The nearest whole number, as a float and as an integer. It is for numbers below 2 ** 31."""
    shifted = x + _MAGIC
    return shifted - _MAGIC, (bits_of(shifted) << 32) >> 32


def _scaled(x: Lanes, power: Lanes) -> Lanes:
    """x * 2 ** power, in two steps, so that neither factor overflows."""
    half = power >> 1
    for part in (half, power - half):
        x = x * from_bits((part + 1023) << 52, F64)
    return x


def _between(x: Lanes, low: float, high: float) -> Lanes:
    """x limited to [low, high]. A nan stays."""
    x = select(x < low, low, x)
    return select(x > high, high, x)


def _exp_rest(r: Lanes, single: bool) -> Lanes:
    """exp(r) - 1 for abs(r) up to log(2) / 2."""
    return fused(r * r, horner(r, [1 / math.factorial(k) for k in range(2, 9 if single else 15)]), r)


def _halvings(x: Lanes) -> tuple[Lanes, Lanes]:
    """n and r with x = n * log(2) + r."""
    whole, n = _nearest(x * _LOG2E)
    return n, fused(-whole, _LN2[1], fused(-whole, _LN2[0], x))


def exp(x: Lanes, single: bool) -> Lanes:
    """e ** x."""
    n, r = _halvings(_between(x, -746.0, 710.0))
    return _scaled(_exp_rest(r, single) + 1.0, n)


def exp2(x: Lanes, single: bool) -> Lanes:
    """2 ** x."""
    x = _between(x, -1076.0, 1025.0)
    whole, n = _nearest(x)
    return _scaled(_exp_rest((x - whole) * math.log(2), single) + 1.0, n)


def expm1(x: Lanes, single: bool) -> Lanes:
    """exp(x) - 1, with all bits for small x."""
    n, r = _halvings(_between(x, -50.0, 710.0))
    half = from_bits((n + 1022) << 52, F64)                 # half of the power of 2, which itself may overflow
    return select(x == 0, x, fused(_exp_rest(r, single), half, half - 0.5) * 2.0)


def _parts(x: Lanes) -> tuple[Lanes, Lanes]:
    """e and m with x = m * 2 ** e, and m from sqrt(1 / 2) to sqrt(2)."""
    small = x < 2.0 ** -1022
    bits = bits_of(select(small, x * 2.0 ** 54, x))
    lowest = bits.like(np.float64(math.sqrt(0.5)).view(np.int64))
    power = (bits - lowest) >> 52
    mantissa = from_bits(bits - (power << 52), F64)
    exponent = from_bits(power + bits_of(x.like(_MAGIC)), F64) - _MAGIC
    return select(small, exponent - 54.0, exponent), mantissa


def _log_parts(m: Lanes, single: bool) -> tuple[Lanes, Lanes]:
    """f = m - 1, and log(m) - f."""
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    series = z * horner(z, [2 / (2 * k + 3) for k in range(5 if single else 11)])
    square = f * f * 0.5
    return f, s * (square + series) - square


def _log_limits(x: Lanes, result: Lanes) -> Lanes:
    """The logarithm where it is not finite."""
    result = select(x == math.inf, x, result)
    result = select(x == 0, -math.inf, result)
    return select(x >= 0, result, math.nan)


def log(x: Lanes, single: bool) -> Lanes:
    """The natural logarithm."""
    e, m = _parts(x)
    f, rest = _log_parts(m, single)
    return _log_limits(x, fused(e, _LN2[0], f + fused(e, _LN2[1], rest)))


def log2(x: Lanes, single: bool) -> Lanes:
    """The logarithm to base 2. That of a power of 2 is exact."""
    e, m = _parts(x)
    f, rest = _log_parts(m, single)
    high = f * _LOG2E
    low = fused(f, _LOG2E, -high) + fused(rest, _LOG2E, f * 2.0355273740931033e-17)
    return _log_limits(x, e + (high + low))


def log10(x: Lanes, single: bool) -> Lanes:
    """The logarithm to base 10."""
    e, m = _parts(x)
    f, rest = _log_parts(m, single)
    low = fused(e, _LOG10_2[1], (f + rest) * (1 / math.log(10)))
    return _log_limits(x, fused(e, _LOG10_2[0], low))


def log1p(x: Lanes, single: bool) -> Lanes:
    """log(1 + x), with all bits for small x: the logarithm of the rounded sum, and what rounding took away."""
    total = x + 1.0
    lost = select(absolute(x) < 1.0, x - (total - 1.0), 1.0 - (total - x))
    result = log(total, single) + select(total == 0, 0.0, select(total == math.inf, 0.0, lost / total))
    return select(x == 0, x, result)


def _quarter(x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """The number of right angles in x, and the rest, in two parts."""
    whole, n = _nearest(_between(x, -_FAR, _FAR) * (2 / math.pi))
    first = fused(-whole, _HALF_PI[0], x)
    off = whole * _HALF_PI[1]
    high = first - off
    low = ((first - high) - off) - whole * _HALF_PI[2]
    rest = high + low
    return n, rest, low - (rest - high)


def _sine(r: Lanes, low: Lanes, single: bool) -> Lanes:
    """The sine of r + low, for abs(r) up to pi / 4."""
    z = r * r
    series = horner(z, [(-1) ** (k + 1) / math.factorial(2 * k + 3) for k in range(4 if single else 8)])
    return r + fused(r * z, series, low)


def _cosine(r: Lanes, low: Lanes, single: bool) -> Lanes:
    """The cosine of r + low, for abs(r) up to pi / 4."""
    z = r * r
    series = horner(z, [(-1) ** k / math.factorial(2 * k + 4) for k in range(4 if single else 8)])
    half = z * 0.5
    first = 1.0 - half
    return first + (((1.0 - first) - half) + fused(z * z, series, -(r * low)))


def _signed(x: Lanes, turn: Lanes) -> Lanes:
    """x, negated where the second bit of `turn` is set."""
    return from_bits(bits_of(x) ^ ((turn & 2) << 62), F64)


def or_by_library(name: str, x: Lanes, near: Lanes, limit: float) -> Lanes:
    """The result `near`, but the C library's for lanes of x beyond the limit, which are rare."""
    code, width = x.code, x.code.width
    far, mask = absolute(x) > limit, f"<{width} x i1>"
    code.module.declare(f"llvm.vector.reduce.or.v{width}i1", "i1", mask)
    full = f"far.{name}"
    if full not in code.module.functions:
        code.module.functions[full] = _of_far_lanes(code.module, name, full, x.dtype, limit)
    result, slow, done = code.stack(x.type), code.label(), code.label()
    code.do(f"store {x.type} {near.name}, ptr {result}")
    some = code.call(f"llvm.vector.reduce.or.v{width}i1", "i1", [(mask, far.name)])
    code.do(f"br i1 {some}, label %{slow}, label %{done}, !prof !0")
    with code.region(slow):
        places = [code.stack(x.type) for _ in range(2)]
        for place, vector in zip(places, (x, near)):
            code.do(f"store {x.type} {vector.name}, ptr {place}")
        code.do(f"call void @{full}(ptr {places[0]}, ptr {places[1]}, i64 {width})")
        chosen = code.put(f"load {x.type}, ptr {places[1]}")
        code.do(f"store {x.type} {chosen}, ptr {result}")
        code.do(f"br label %{done}")
    code.at(done)
    return code.vector(code.put(f"load {x.type}, ptr {result}"), x.dtype)


def _of_far_lanes(module: Module, name: str, full: str, dtype: np.dtype[Any], limit: float) -> str:
    """A function that writes the C library's results over those of the numbers beyond the limit."""
    code = Code(module, 1)
    type = code.type(dtype)

    def body(lane: str) -> None:
        places = [code.put(f"getelementptr {type}, ptr %{start}, i64 {lane}") for start in ("x", "result")]
        x, near = [code.vector(code.put(f"load {type}, ptr {place}"), dtype) for place in places]
        chosen = select(absolute(x) > limit, lane_by_lane(name, x), near)
        code.do(f"store {type} {chosen.name}, ptr {places[1]}")

    code.loop(0, "%width", 1, body)
    return code.function(f"internal void @{full}(ptr %x, ptr %result, i64 %width) cold noinline optnone")


def lane_by_lane(name: str, *operands: Lanes) -> Lanes:
    """The C library's function of this name, for one lane after the other."""
    x = operands[0]
    code, type = x.code, x.type
    element = type.partition("x ")[2][:-1]
    code.module.declare(name, element, *[element] * len(operands))
    places = [code.stack(type) for _ in operands]
    for place, y in zip(places, operands):
        code.do(f"store {type} {y.name}, ptr {place}")

    def body(lane: str) -> None:
        own = [code.put(f"getelementptr {element}, ptr {place}, i64 {lane}") for place in places]
        numbers = [(element, code.put(f"load {element}, ptr {place}")) for place in own]
        code.do(f"store {element} {code.call(name, element, numbers)}, ptr {own[0]}")

    code.loop(0, code.width, 1, body)
    return code.vector(code.put(f"load {type}, ptr {places[0]}"), x.dtype)


def sin(x: Lanes, single: bool) -> Lanes:
    """The sine."""
    n, r, low = _quarter(x)
    value = select((n & 1) == 0, _sine(r, low, single), _cosine(r, low, single))
    return or_by_library("sin", x, select(x == 0, x, _signed(value, n)), _FAR)


def cos(x: Lanes, single: bool) -> Lanes:
    """The cosine."""
    n, r, low = _quarter(x)
    value = select((n & 1) == 0, _cosine(r, low, single), _sine(r, low, single))
    return or_by_library("cos", x, _signed(value, n + 1), _FAR)


def tan(x: Lanes, single: bool) -> Lanes:
    """The tangent."""
    n, r, low = _quarter(x)
    sine, cosine, even = _sine(r, low, single), _cosine(r, low, single), (n & 1) == 0
    value = select(even, sine, -cosine) / select(even, cosine, sine)
    return or_by_library("tan", x, select(x == 0, x, value), _FAR)


def tanh(x: Lanes, single: bool) -> Lanes:
    """The hyperbolic tangent."""
    t = expm1(_between(absolute(x), 0.0, 20.0) * 2.0, single)
    return intrinsic("copysign", t / (t + 2.0), x)


def sinh(x: Lanes, single: bool) -> Lanes:
    """The hyperbolic sine."""
    size = absolute(x)
    t, root = expm1(_between(size, 0.0, 30.0), single), exp(size * 0.5, single)
    value = select(size > 30.0, root * 0.5 * root, (t + t / (t + 1.0)) * 0.5)
    return intrinsic("copysign", value, x)


def cosh(x: Lanes, single: bool) -> Lanes:
    """The hyperbolic cosine."""
    size = absolute(x)
    t, root = exp(_between(size, 0.0, 30.0), single), exp(size * 0.5, single)
    return select(size > 30.0, root * 0.5 * root, (t + 1.0 / t) * 0.5)


_NEAR_ERF = [2 / math.sqrt(math.pi) * (-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(22)]


def _in_powers(series: Sequence[float]) -> list[float]:
    """The coefficients of a sum of Chebyshev's polynomials, the constant first. NumPy's own function loads slowly."""
    size = len(series)
    before, last = np.zeros(size), np.zeros(size)
    before[0], last[0] = series[-2:]
    for value in reversed(series[:-2]):
        shifted = 2 * np.roll(last, 1)
        before, last = -last, before + shifted
        before[0] += value
    return [float(c) for c in before + np.roll(last, 1)]


# erfc(x) * exp(x * x) * (1 + 2 * x), in powers of 1 - 8 / (x + 4).
_FAR_ERF = _in_powers(ERFCX)


def erf(x: Lanes, single: bool) -> Lanes:
    """The error function: a Taylor series up to 1, and beyond 1 minus the complement."""
    size = _between(absolute(x), 0.0, 6.0)
    near = horner(x * x, _NEAR_ERF[:12] if single else _NEAR_ERF) * x
    scaled = horner(1.0 - 8.0 / (size + 4.0), _FAR_ERF) / (size * 2.0 + 1.0)
    far = intrinsic("copysign", 1.0 - exp(-size * size, single) * scaled, x)
    return select(size < 1.0, near, select(x == x, far, x))


def power(x: Lanes, y: Lanes, single: bool) -> Lanes:
    """x ** y, precise enough for single precision only."""
    whole = intrinsic("trunc", y) == y
    odd = (intrinsic("trunc", y * 0.5) != y * 0.5) & whole & (absolute(y) < 2.0 ** 53)
    value = exp2(log2(absolute(x), False) * y, False)
    value = select(odd, intrinsic("copysign", value, x), value)
    value = select((x < 0) & (x > -math.inf) & ~whole & (absolute(y) < math.inf), math.nan, value)
    return select((x == 1.0) | (y == 0), 1.0, select((x == -1.0) & (absolute(y) == math.inf), 1.0, value))


def _rounded(formula: Callable[..., Lanes]) -> Callable[..., Lanes]:
    """The formula in double precision for both precisions. The result for single precision is rounded once."""
    return lambda *xs: to(formula(*[to(x, F64) for x in xs], xs[0].dtype == F32), xs[0].dtype)


FORMULAS: dict[str, Callable[..., Lanes]] = {
    formula.__name__: _rounded(formula)
    for formula in (exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, tanh, sinh, cosh, erf, power)}


def has(name: str, dtype: Any) -> bool:
    """Whether there is a formula for the function and the dtype."""
    return name in FORMULAS and (name != "power" or dtype == F32)
