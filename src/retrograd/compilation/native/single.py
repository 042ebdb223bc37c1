"""exp, log, tanh, sin, cos and erf in single precision throughout, written into the loop.

They are for machines with fused multiplication.
They are quicker than functions of a library: nothing is saved around a call. The sine and the cosine of one number
share most of their work, and so do erf and its derivative. They are off by at most 1 unit (exp, log) or 1.6 units (sin,
cos, erf, tanh) in the last place. The polynomials minimize the greatest error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...foundations.dtypes import F32
from .lanes import Lanes, absolute, bits_of, from_bits, fused, intrinsic, select, to
from .polynomials import horner, or_by_library

# Adding this number rounds to the nearest integer, which then stands in the last bits.
_MAGIC, _MAGIC_BITS = 1.5 * 2.0 ** 23, 0x4B400000
_LN2 = (0.693145751953125, 1.428606765330187e-06)
# Half of pi in three parts of 24 bits. Fused multiplication makes the first difference exact.
_HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
_FAR = 30000.0
_SCALE = "llvm.x86.avx512.mask.scalef.ps.512"               # x * 2 ** n


def exp(x: Lanes) -> Lanes:
    """e ** x."""
    x = select(x < -104.0, -104.0, x)
    x = select(x > 89.0, 89.0, x)
    shifted = fused(x, 1 / math.log(2), _MAGIC)
    whole = shifted - _MAGIC
    r = fused(-whole, _LN2[1], fused(-whole, _LN2[0], x))
    series = horner(r, (0.4999999403953552, 0.16666515171527863, 0.04166845604777336, 0.008369418792426586,
                        0.0013813142431899905))
    result, code = fused(r * r, series, r) + 1.0, x.code
    if code.width == 16 and code.module.host.bits == 512:   # whose processors have an instruction for it
        given = [(x.type, each.name) for each in (result, whole, result)] + [("i16", "-1"), ("i32", "4")]
        code.module.declare(_SCALE, x.type, *[type for type, _ in given])
        return code.vector(code.call(_SCALE, x.type, given), F32)
    n = bits_of(shifted) - _MAGIC_BITS
    half = n >> 1
    for part in (half, n - half):                           # in two steps, so that neither factor overflows
        result = result * from_bits((part + 127) << 23, F32)
    return result


# (tanh(x) / x - 1) / (x * x) in powers of x * x up to 0.55, and (log(1 + x) - x + x * x / 2) / x ** 3 in powers of x.
_NEAR_TANH = (-0.33333316445350647, 0.13332585990428925, -0.05385230854153633, 0.021071679890155792,
              -0.0062742396257817745)
_LOG = (0.3333333134651184, -0.2500081956386566, 0.20001226663589478, -0.16623356938362122, 0.14201757311820984,
        -0.13160182535648346, 0.1276157796382904, -0.07634499669075012)


def tanh(x: Lanes) -> Lanes:
    """The hyperbolic tangent. It is 1 from 10 on."""
    square, size = x * x, absolute(x)
    near = fused(x * square, horner(square, _NEAR_TANH), x)
    far = 1.0 - 2.0 / (exp(select(size > 10.0, 10.0, size) * 2.0) + 1.0)
    return intrinsic("copysign", select(size < 0.55, near, far), x)       # also of a zero


def log(x: Lanes) -> Lanes:
    """The natural logarithm, by x = m * 2 ** n with m from sqrt(1 / 2) to sqrt(2)."""
    small = x < 2.0 ** -126
    bits = bits_of(select(small, x * 2.0 ** 23, x))
    power = (bits - bits.like(np.float32(math.sqrt(0.5)).view(np.int32))) >> 23
    f, n = from_bits(bits - (power << 23), F32) - 1.0, to(power, F32)
    n = select(small, n - 23.0, n)
    square = f * f
    rest = fused(square, -0.5, fused(f * square, horner(f, _LOG), n * _LN2[1]))
    result = select(x == math.inf, x, fused(n, _LN2[0], f + rest))
    return select(x > 0, result, select(x == 0, result.like(-math.inf), math.nan))


def _parts(x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """For x = n * pi / 2 + r: an integer with the last bits of n, the sine of r, and its cosine."""
    shifted = fused(x, 2 / math.pi, _MAGIC)
    whole, r = shifted - _MAGIC, x
    for part in _HALF_PI:
        r = fused(-whole, part, r)
    z = r * r
    sine = fused(r * z, horner(z, (-0.16666653752326965, 0.008332131430506706, -0.00019510839774738997)), r)
    series = horner(z, (0.04166664555668831, -0.0013887305976822972, 2.4431205019936897e-05))
    cosine = fused(z * z, series, 1.0 - z * 0.5)
    return bits_of(shifted), sine, cosine


def _turned(value: Lanes, turn: Lanes) -> Lanes:
    """The value, negated where the second bit of `turn` is set."""
    return from_bits(bits_of(value) ^ ((turn & 2) << 30), F32)


def sin(x: Lanes) -> Lanes:
    """The sine."""
    n, sine, cosine = _parts(x)
    near = _turned(select((n & 1) == 0, sine, cosine), n)
    return or_by_library("sinf", x, select(x == 0, x, near), _FAR)


def cos(x: Lanes) -> Lanes:
    """The cosine."""
    n, sine, cosine = _parts(x)
    return or_by_library("cosf", x, _turned(select((n & 1) == 0, cosine, sine), n + 1), _FAR)


# erf(x) / x - 1 in powers of x * x up to 1, and (1 - erf(x)) * exp(x * x) in powers of x from 1 to 4.
_NEAR_ERF = (0.12837916612625122, -0.3761262595653534, 0.1128358319401741, -0.02685372158885002, 0.0051881358958780766,
             -0.0008008343866094947, 7.847212691558525e-05)
_FAR_ERF = (0.9863251447677612, -1.049101710319519, 0.7942800521850586, -0.43341368436813354, 0.16518136858940125,
            -0.041369661688804626, 0.0060766697861254215, -0.00039465524605475366)


def erf(x: Lanes) -> Lanes:
    """The error function. It is 1 from 4 on. Its derivative has the same exp(-x * x)."""
    square, size = x * x, absolute(x)
    near, rest = fused(horner(square, _NEAR_ERF), x, x), _rest(exp(-square), size)
    return select(size < 1.0, near, intrinsic("copysign", 1.0 - rest, x))


def _rest(power: Lanes, size: Lanes) -> Lanes:
    """1 - erf(size), from 1 on, with power = exp(-size * size)."""
    return power * horner(select(size > 4.0, 4.0, size), _FAR_ERF)


def twice_ndtr(x: Lanes) -> Lanes:
    """1 + erf(x / sqrt(2)). Its derivative has the same exp(-0.5 * x * x)."""
    scaled = x * math.sqrt(0.5)
    size, rest = absolute(scaled), _rest(exp(-0.5 * x * x), absolute(scaled))
    near = fused(horner(scaled * scaled, _NEAR_ERF), scaled, scaled) + 1.0
    return select(size < 1.0, near, select(x < 0.0, rest, 2.0 - rest))


FORMULAS: dict[str, Callable[[Lanes], Lanes]] = {
    "exp": exp, "log": log, "tanh": tanh, "sin": sin, "cos": cos, "erf": erf}
