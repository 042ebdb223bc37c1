"""Elementary functions that NumPy lacks, or has only for real numbers.

A kernel that takes `out` is called as a ufunc: `...` asks for an array even if there is only one element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, F64, NARROW, Array
from ...foundations.scalars import rounded_to
from ..layout import copied, empty_as
from ..options import converts, rounds_steps
from .arithmetic import reciprocal
from .choosing import limited, where, where_into
from .parts import note_kernel


def delivered(result: Array, out: Array | EllipsisType) -> Any:
    """A result in the place that the caller asked for: in `out`, or as an array of its own for `...`."""
    if out is ...:
        return np.asarray(result)
    np.copyto(out, result)
    return out


def widened(x: Array) -> Any:
    """The array, with half precision cast to single. PyTorch computes half precision in single, and rounds once."""
    dtype = x.dtype
    if dtype is F32 or dtype is F64:                        # comparing dtypes takes longer
        return x
    return x.astype(F32) if dtype == F16 else x


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A version of the kernel that computes half precision in single, and rounds once."""

    @wraps(kernel)
    def call(x: Array, *options: Any, out: Array | EllipsisType = ...) -> Any:
        if x.dtype != F16:
            return kernel(x, *options, out=out)
        return delivered(kernel(x.astype(F32), *options).astype(F16), out)

    return call


@in_single
def rsqrt(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """1 / sqrt(x)."""
    t = np.sqrt(x, out=...)
    return reciprocal(t, out=t if out is ... else out)


@in_single
def sigmoid(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """1 / (1 + exp(-x))."""
    t = np.negative(x, out=...)
    np.exp(t, out=t)
    np.add(t, 1, out=t)
    return reciprocal(t, out=t if out is ... else out)


note_kernel(rsqrt, 0.15, 0.2)
note_kernel(sigmoid, 0.2, 0.1)


def exp2(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """2 ** x, also for complex numbers."""
    if x.dtype.kind != "c":
        return np.exp2(x, out=out)
    scaled = np.empty_like(x)                               # part by part, because a complex product makes inf * 0
    scaled.real, scaled.imag = x.real * math.log(2), x.imag * math.log(2)
    return np.exp(scaled, out=out)


def log1p(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """log(1 + x). NumPy loses the digits of small complex numbers, and overflows for large ones."""
    if x.dtype.kind != "c":
        return np.log1p(x, out=out)
    real, imag, shifted = x.real, x.imag, x.real + 1
    square = real * (2 + real) + imag * imag                # that of the size of 1 + x, less 1
    near = np.where(square == 0, real, np.log1p(square) / 2)
    size = np.where(np.abs(x) < 0.5, near, np.log(np.hypot(shifted, imag)))
    return delivered(complex_of(size, np.arctan2(imag, shifted)), out)


note_kernel(log1p, 0.13, 0.05)


def tanh_backward(grad_output: Array, output: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The gradient of tanh: 1 - output * output times the gradient of the output."""
    if output.dtype == F16:
        return delivered(tanh_backward(grad_output.astype(F32), output.astype(F32)).astype(F16), out)
    slope = np.multiply(output, output, out=...)
    np.subtract(1, slope, out=slope)
    return np.multiply(grad_output, slope, out=out)


def sigmoid_backward(grad_output: Any, output: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The gradient of the logistic function: (1 - output) * output times the gradient of the output."""
    scaled = np.multiply(grad_output, np.subtract(1, output, out=...), out=...)
    return np.multiply(scaled, output, out=out)


def threshold_backward(g: Array, result: Array) -> Any:
    """The gradient of relu: g, and 0 where the result is not positive."""
    return where(result <= 0, 0.0, g)


def relu(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """max(x, 0). A -0.0 and a nan stay as they are."""
    return limited(x, 0, math.inf, out=out) if x.dtype.kind == "f" else np.maximum(0, x, out=out)


def sgn(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """x / abs(x), and 0 at 0. A real nan gives 0 too, and a complex infinity gives nan."""
    kind = x.dtype.kind
    if kind == "b":
        return np.logical_or(x, x, out=out)
    undefined = np.not_equal(x, x, out=...) if kind == "f" else np.isinf(x, out=...) if kind == "c" else None
    result = np.sign(x, out=out)
    number = 0.0 if kind == "f" else complex(math.nan, math.nan)
    return result if undefined is None else _replace(result, undefined, number)


def rounded(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The nearest integer, or the even one of two."""
    return np.rint(x, out=out) if x.dtype.kind not in "iu" else np.positive(x, out=out)


# The exponent of the largest power of 10 that a float holds.
_MOST_DIGITS = 308


def rounded_at(x: Array, decimals: Any) -> Any:
    """x rounded to `decimals` digits after the point, or before the point if `decimals` is negative."""
    if x.dtype.kind != "f":
        return rounded(x)
    wide = widened(x)
    power = wide.dtype.type(10.0 ** abs(decimals) if abs(decimals) <= _MOST_DIGITS else math.inf)
    if decimals < 0:
        found = np.multiply(np.rint(np.divide(wide, power, out=...)), power, out=...)
    else:
        found = np.divide(np.rint(np.multiply(wide, power, out=...)), power, out=...)
    return found.astype(x.dtype, copy=False)


def frac(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The fractional part, with the sign of x."""
    return np.subtract(x, np.trunc(x), out=out)


def whole(ufunc: np.ufunc) -> Callable[..., Any]:
    """A kernel that rounds floats to whole numbers, and leaves integers as they are."""

    def call(x: Array, *, out: Array | EllipsisType = ...) -> Any:
        return ufunc(x, out=out) if x.dtype.kind == "f" else np.positive(x, out=out)

    return call


def conjugate(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The complex conjugate. A real array keeps its dtype, bools included."""
    return np.conjugate(x, out=out) if x.dtype.kind == "c" else delivered(x.copy(), out)


def angle(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The angle of a complex number. For a real number: pi if it is negative, else 0."""
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real, out=out)
    return delivered(np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0))), out)


@converts(1)
@rounds_steps
def logit(x: Array, eps: float | None) -> Any:
    """log(x / (1 - x)). If eps is given, x is first limited to [eps, 1 - eps]."""
    if eps is not None:
        low = rounded_to(eps, x.dtype)
        high = rounded_to(1 - low, x.dtype)
        if low <= high and x.dtype not in NARROW:
            x = limited(x, low, high)
        else:                                               # if the limits cross, the lower limit wins
            x = np.where(x < low, low, np.where(x > high, high, x)).astype(x.dtype)
    t = np.subtract(x.dtype.type(1), x, out=...)           # float16 and bfloat16 are rounded at each step
    np.divide(x, t, out=t)
    return np.log(t, out=t)


def nan_to_num(x: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    """x with numbers instead of nan and infinities: by default 0 and the largest number of either sign."""
    if x.dtype.kind in "biu":
        return copied(x, x.dtype)
    if x.dtype.kind == "f":
        largest = float(np.finfo(x.dtype).max)
        if posinf is None and neginf is None:
            result = limited(x, -largest, largest)
        else:
            result = copied(x, x.dtype)
            for limit, value in ((math.inf, largest if posinf is None else posinf),
                                 (-math.inf, -largest if neginf is None else neginf)):
                _replace(result, np.equal(x, limit, out=...), value)
        return _replace(result, np.not_equal(x, x, out=...), 0.0 if nan is None else nan)
    return np.asarray(np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf))


def _replace(out: Array, condition: Array, value: complex) -> Any:
    """Write a number to where the condition is true, which is rarely anywhere."""
    return where_into(out, condition, value) if condition.any() else out


def xlogy(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """x * log(y), and 0 if x is 0 and y is not nan."""
    return times_log(x, y, np.log(y, out=...), out)


def times_log(x: Array, y: Array, log: Array, out: Array | EllipsisType) -> Any:
    """x times a given logarithm of y, and 0 if x is 0 and y is not nan."""
    zero = np.equal(x, 0, out=...)                          # first: the result may be written over x or y
    if zero.any():
        zero = np.logical_and(zero, ~np.isnan(y))
    value = np.multiply(x, log, out=out)
    np.copyto(value, 0, where=zero)
    return value


def _log_of_sum(x: Array, y: Array, power: np.ufunc, unit: float, out: Array | EllipsisType) -> Any:
    """The logarithm of power(x) + power(y), without overflow on the way: the larger one plus a rest from 0 to `unit`.

    The difference of two equal infinities is nan, which fmax ignores.
    """
    t = np.subtract(x, y, out=...)
    np.abs(t, out=t)
    np.negative(t, out=t)
    np.log1p(power(t, out=t), out=t)
    if unit != 1:
        np.multiply(t, unit, out=t)
    return np.add(np.maximum(x, y), np.fmax(t, 0, out=t), out=out)


def logaddexp2(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """log2(2 ** x + 2 ** y), without overflow on the way."""
    if x.dtype == F16:
        return np.logaddexp2(x, y, out=out)
    return _log_of_sum(x, y, np.exp2, 1 / math.log(2), out)


# Larger sums of squares have all their digits. The C library's function always has them, but is many times slower.
_LEAST_SQUARE = {F32: 1e-30, F64: 1e-290}


def hypot(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """sqrt(x * x + y * y), without overflow or underflow on the way."""
    least = _LEAST_SQUARE.get(x.dtype)
    if least is None or x.size < 64:
        return np.hypot(x, y, out=out)
    square = np.add(x * x, y * y, out=...)
    if square.min() > least and square.max() < math.inf:
        return np.sqrt(square, out=square if out is ... else out)
    return np.hypot(x, y, out=out)


@in_single
def deg2rad(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """Degrees converted to radians."""
    return np.multiply(x, math.pi / 180, out=out)


@in_single
def rad2deg(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """Radians converted to degrees."""
    return np.multiply(x, 180 / math.pi, out=out)


def logaddexp(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """log(exp(x) + exp(y)), without overflow on the way."""
    if x.dtype == F16:
        return np.logaddexp(x, y, out=out)
    if x.dtype.kind != "c":
        return _log_of_sum(x, y, np.exp, 1.0, out)
    first = x.real >= y.real
    larger, smaller = np.where(first, x, y), np.where(first, y, x)
    result = np.where(larger.real == -np.inf, larger, larger + log1p(np.exp(smaller - larger)))
    return delivered(result, out)


def nextafter(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The next number from x towards y, and y if they are equal. Only of halves, NumPy's is x then."""
    if x.dtype == F16:
        return delivered(np.where(x == y, y, np.nextafter(x, y)), out)
    return np.nextafter(x, y, out=out)


def complex_of(x: Array, y: Array) -> Any:
    """x + y * 1j for two real arrays of one dtype."""
    shape, dtype = np.broadcast_shapes(x.shape, y.shape), np.result_type(x.dtype, np.complex64)
    lead = x if x.shape == shape else y
    out = empty_as(lead, dtype) if lead.shape == shape else np.empty(shape, dtype)
    out.real, out.imag = x, y
    return out


def polar(x: Array, y: Array) -> Any:
    """The complex number with absolute value x and angle y."""
    return complex_of(x * np.cos(y), x * np.sin(y))


@in_single
def sinc(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """sin(pi x) / (pi x), and 1 at 0."""
    t = x * math.pi
    return delivered(np.where(x == 0, x.dtype.type(1), np.sin(t) / t), out)


def view_as_real(x: Array) -> Any:
    """The real and imaginary parts along a last dimension of size 2."""
    return x[..., None].view(x.real.dtype)


def view_as_complex(x: Array) -> Any:
    """Complex numbers of the pairs along the last dimension, which has size 2 and stride 1."""
    if x.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    dtype = np.dtype("c16" if x.itemsize == 8 else "c8")
    if not x.size:                                      # the strides of no elements mean nothing
        return np.empty(x.shape[:-1], dtype)
    if x.strides[-1] != x.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any([step // x.itemsize % 2 for step in x.strides[:-1]]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return x.view(dtype)[..., 0]


def part(x: Array, index: int) -> Any:
    """The real (0) or imaginary (1) one of the parts along the last dimension."""
    return x[..., index]


# Mantissas and exponents of floats


def frexp(x: Array) -> tuple[Any, Any]:
    """The mantissa, with an absolute value from 1 / 2 to 1, and the exponent of the power of 2."""
    mantissa, exponent = np.frexp(x)
    return np.asarray(mantissa), np.asarray(exponent)


# Beyond this exponent, every product with a power of 2 is 0 or infinite.
_FARTHEST = 4096


def gcd(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The greatest common divisor. Beside the least integer, which has no absolute value, it may be negative."""
    if x.dtype.kind != "i":
        return np.gcd(x, y, out=out)
    pairs, least = np.broadcast_arrays(x, y), np.iinfo(x.dtype).min
    hard = (pairs[0] == least) | (pairs[1] == least)
    special = [_signed_gcd(abs(int(a)), abs(int(b)), least) for a, b in zip(*[each[hard] for each in pairs])]
    found = np.gcd(x, y, out=out)
    if special:
        found[hard] = special
    return found


def _signed_gcd(a: int, b: int, least: int) -> int:
    """Euclid's algorithm as C runs it, where the absolute value of the least integer is this integer."""
    a, b = (least if n == -least else n for n in (a, b))
    while a:
        a, b = abs(b) % abs(a) * (-1 if b < 0 else 1), a
    return b


def ldexp(x: Array, y: Array, whole: bool = False, *, out: Array | EllipsisType = ...) -> Any:
    """x * 2 ** y. If `whole` says that y are whole numbers, 2 ** y may be too large or too small for the dtype."""
    if whole and x.dtype.kind == "f":
        return np.ldexp(x, np.clip(y, -_FARTHEST, _FARTHEST).astype(np.int32), out=out)
    return np.multiply(x, exp2(y), out=out)
