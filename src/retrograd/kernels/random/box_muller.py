"""Normal samples from uniform samples, in the vector form that PyTorch uses for 16 samples and more.

Uniform numbers come in blocks of 16: eight radii, then eight angles. The normal numbers replace them.

For float64 the logarithm, sine and cosine are the C library's. For float32 they are the single-precision functions of
Moshier's Cephes library (logf.c, sinf.c), eight at a time, as PyTorch's AVX2 kernels compute them, which its AVX-512
build uses as well. They use a fused multiply-add wherever the compiler finds a product under a sum. Their error is at
most two units in the last place, so PyTorch draws other float32 samples on a CPU without AVX2. Here a fused step is
computed in float64 and rounded twice. Over all 2**24 possible uniform numbers, the second rounding never changed a
result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..native import libm
from ..thresholds import NORMAL_BLOCKS

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy.typing takes a while to import

Singles = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

BLOCK = 16

_single = np.float32


def _coefficients(*values: float) -> tuple[float, ...]:
    return tuple(float(_single(value)) for value in values)


_LOG = _coefficients(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                     -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
_SIN = _coefficients(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _coefficients(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)

# log(2) as a short number, whose products with an exponent are exact, plus a rest.
_LOG2_HIGH, _LOG2_LOW = _single(0.693359375), _single(-2.12194440e-4)
_SQRT_HALF_BITS = _single(math.sqrt(0.5)).view(np.int32)
# pi / 4 in three parts, the first two short.
_QUARTER_PI_HIGH, _QUARTER_PI_MIDDLE = _single(0.78515625), _single(2.4187564849853515625e-4)
# A double, so that its product is a double: this step is fused.
_QUARTER_PI_LOW = np.float64(_single(3.77489497744594108e-8))
_FOUR_OVER_PI = _single(4 / math.pi)
_TWO_PI = _single(2 * math.pi)


def box_muller(uniform: NDArray[Any]) -> NDArray[Any]:
    """Turn whole blocks of uniform numbers from [0, 1), float32 or float64, into standard normal numbers, in place."""
    dtype = uniform.dtype
    polar = _polar_float32 if dtype == np.float32 else _polar_float64
    # Half a block is one opaque item, so NumPy copies eight numbers at a time.
    halves = uniform.view(np.dtype((np.void, BLOCK // 2 * dtype.itemsize))).reshape(-1, 2)
    for start in range(0, len(halves), NORMAL_BLOCKS):
        chunk = halves[start : start + NORMAL_BLOCKS]
        radius, sine, cosine = polar(chunk[:, 0].copy().view(dtype), chunk[:, 1].copy().view(dtype))
        cosine *= radius
        sine *= radius
        chunk[:, 0] = cosine.view(halves.dtype)
        chunk[:, 1] = sine.view(halves.dtype)
    return uniform


def _polar_float64(u1: Doubles, u2: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    angle = 2 * math.pi * u2
    return np.sqrt(-2 * libm.log(1 - u1)), libm.sin(angle), libm.cos(angle)


def _polar_float32(u1: Singles, u2: Singles) -> tuple[Singles, Singles, Singles]:
    return np.sqrt(_single(-2) * _log(_single(1) - u1)), *_sine_and_cosine(_TWO_PI * u2)


def _fused(x: Singles, y: Doubles, z: Singles | float) -> Singles:
    """x * y + z, nearly always with a single rounding."""
    result: Singles = (x * y + z).astype(_single)
    return result


def _polynomial(coefficients: tuple[float, ...], x: Doubles) -> Singles:
    """The value of a polynomial at x, by Horner's rule. The coefficient of the highest power comes first."""
    y = (x * coefficients[0] + coefficients[1]).astype(_single)
    for coefficient in coefficients[2:]:
        y = _fused(y, x, coefficient)
    return y


def _log(x: Singles) -> Singles:
    """The logarithm of normal (not subnormal) numbers in (0, 1]."""
    bits = x.view(np.int32)
    exponent_bits = (bits - _SQRT_HALF_BITS) >> 23
    # x = 2**exponent * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2)
    t = (bits - (exponent_bits << 23)).view(_single) - _single(1)
    exponent = exponent_bits.astype(_single)
    y = _polynomial(_LOG, t.astype(np.float64))
    y *= t
    square = t * t
    y = _fused(y, square.astype(np.float64), exponent * _LOG2_LOW)
    y -= _single(0.5) * square
    y += t
    y += exponent * _LOG2_HIGH
    return y


def _sine_and_cosine(x: Singles) -> tuple[Singles, Singles]:
    """Sine and cosine of numbers in [0, 2 pi]."""
    octant = (x * _FOUR_OVER_PI).astype(np.int32)
    octant += octant & 1
    multiple = octant.astype(_single)
    rest = (x - multiple * _QUARTER_PI_HIGH) - multiple * _QUARTER_PI_MIDDLE
    rest = (rest - multiple * _QUARTER_PI_LOW).astype(_single)
    sine, cosine = _octant_sine(rest).view(np.int32), _octant_cosine(rest).view(np.int32)
    # In every other pair of octants sine and cosine are swapped, and in half of the octants the sign is flipped. Both
    # are done on the bits.
    swap = (sine ^ cosine) & -((octant >> 1) & 1)
    sine ^= swap
    sine ^= (octant & 4) << 29
    cosine ^= swap
    cosine ^= ((octant + 2) & 4) << 29
    return sine.view(_single), cosine.view(_single)


def _octant_sine(x: Singles) -> Singles:
    """Sine between -pi/4 and pi/4."""
    square = x * x
    y = _polynomial(_SIN, square.astype(np.float64))
    y *= square
    return _fused(y, x.astype(np.float64), x)


def _octant_cosine(x: Singles) -> Singles:
    """Cosine between -pi/4 and pi/4."""
    square = x * x
    wide_square = square.astype(np.float64)
    y = _polynomial(_COS, wide_square)
    y *= square
    y = _fused(y, wide_square, _single(-0.5) * square)
    y += _single(1)
    return y
