"""Arithmetic for which NumPy has no single function, or a slow one.

A kernel that takes `out` is called as a ufunc: `...` asks for an array even if there is only one element.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, NARROW, Array, category, is_half, of_scalar, refuse, result_dtype
from ...foundations.scalars import accumulated, converted, rounded_to
from ..layout import copied
from ..options import converts, option, rounds_number, rounds_steps
from ..rounding import before_rounding
from . import remainders
from .choosing import where
from .halves import floor_divide_in_steps, with_scaled


def promoted(x: Array, number: Any) -> Any:
    """`x` in its common dtype with a Python number. A number counts less than an array: only its category matters."""
    if category(of_scalar(number)) <= category(x.dtype):
        return x
    return copied(x, result_dtype([(x.dtype, True)], [number]))


def like(number: Any, x: Array) -> Any:
    """A Python number as a 0-d array of the dtype of x. A number too large for an integer dtype wraps around."""
    if x.dtype.kind in "iu":
        return np.asarray(number).astype(x.dtype)
    return np.asarray(number, dtype=x.dtype)


def _refuse_factor(y: Array, alpha: Any) -> None:
    """Raise RuntimeError if the dtype of y cannot hold the kind of alpha."""
    kind = y.dtype.kind
    if isinstance(alpha, bool) and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if kind in "biu" and not isinstance(alpha, int):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if kind in "fV" and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


def _with_scaled(combine: np.ufunc, x: Array, y: Array, alpha: Any, out: Array | EllipsisType = ...) -> Any:
    """`combine(x, alpha * y)`, for arrays of one dtype. Raises RuntimeError if the dtype cannot hold alpha."""
    _refuse_factor(y, alpha)
    if is_half(y.dtype):
        return np.positive(with_scaled(combine, x, y, F32.type(rounded_to(alpha, y.dtype))), out=out)
    factor = option(alpha, y) if y.dtype.kind == "V" else converted(alpha, y.dtype)
    return combine(x, np.multiply(y, factor, out=...), out=out)


@rounds_steps
def add_scaled(x: Array, y: Array, alpha: Any, *, out: Array | EllipsisType = ...) -> Any:
    """x + alpha * y."""
    return _with_scaled(np.add, x, y, alpha, out)


@rounds_steps
def sub_scaled(x: Array, y: Array, alpha: Any) -> Any:
    """x - alpha * y."""
    return _with_scaled(np.subtract, x, y, alpha)


@rounds_steps
def rsub_scaled(x: Array, y: Array, alpha: Any) -> Any:
    """y - alpha * x."""
    return _with_scaled(np.subtract, y, x, alpha)


@converts(2, complex_stays=True)
@rounds_number
def rsub_number(x: Array, number: Any, alpha: Any) -> Any:
    """number - alpha * x."""
    if x.dtype.kind == "b":
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                           "invert a mask, use the `~` or `logical_not()` operator instead.")
    x = promoted(x, number)
    number = like(number, x)
    return np.subtract(number, x, out=...) if alpha == 1 else _with_scaled(np.subtract, number, x, alpha)


def _refuse_zero(x: Array, y: Array) -> None:
    if y.dtype.kind in "iu" and not (y.all() if y.ndim else y):
        np.broadcast_shapes(x.shape, y.shape)            # shapes that do not broadcast raise first
        raise RuntimeError("ZeroDivisionError")


@rounds_steps
def floor_divide(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The quotient rounded down. Raises RuntimeError for an integer divided by 0."""
    _refuse_zero(x, y)
    if x.dtype in NARROW:
        quotient = floor_divide_in_steps(x, y) if y.dtype is x.dtype else _by_number(floor_divide, x, y)
        return np.positive(quotient, out=out)
    return remainders.floor_divide(x, y, out)


def _by_number(kernel: Callable[..., Any], x: Array, number: Any) -> Any:
    """What a kernel makes of x and a number: in float32, and rounded once."""
    return kernel(x.astype(F32), np.asarray(number, F32)).astype(x.dtype)


@rounds_steps
def trunc_divide(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The quotient rounded towards 0. Raises RuntimeError for an integer divided by 0."""
    _refuse_zero(x, y)
    if x.dtype.kind not in "iu":                           # PyTorch rounds the quotient of two tensors before
        if x.dtype in NARROW and y.dtype is not x.dtype:
            return np.positive(_by_number(trunc_divide, x, y), out=out)
        return np.trunc(np.divide(x, y, out=...), out=out)
    quotient = np.floor_divide(x, y, out=...)
    inexact = np.logical_and((x < 0) != (y < 0), quotient * y != x)
    return np.add(quotient, inexact, out=out, dtype=quotient.dtype)


@rounds_steps
def div_rounded(x: Array, y: Array, rounding_mode: str) -> Any:
    """The quotient, rounded down ('floor') or towards 0 ('trunc')."""
    return floor_divide(x, y) if rounding_mode == "floor" else trunc_divide(x, y)


def remainder(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The remainder of x / y when the quotient is rounded down. It has the sign of y, and a 0 that of x."""
    _refuse_zero(x, y)
    return remainders.remainder(x, y, out)


def fmod(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """The remainder of x / y when the quotient is rounded towards 0. It has the sign of x."""
    _refuse_zero(x, y)
    return remainders.fmod(x, y, out)


def _with_number(kernel: Callable[..., Any], name: str, number_first: bool = False) -> Callable[[Any, Any], Any]:
    """The kernel of an array and a Python number, or of a number and an array. It refuses complex numbers and bools."""

    def call(x: Array, number: Any) -> Any:
        x = promoted(x, number)
        refuse(x.dtype, name, "bc")
        if x.dtype is F16 and kernel is floor_divide and not number_first:
            return _by_number(kernel, x, number)
        number = like(number, x)
        return kernel(number, x) if number_first else kernel(x, number)

    return call


# By a Python number, or of a number by an array
floor_divide_number = _with_number(floor_divide, "div_floor_cpu")
number_floor_divide = rounds_steps(rounds_number(_with_number(floor_divide, "div_floor_cpu", number_first=True)))
number_remainder = rounds_number(_with_number(remainder, "remainder_cpu", number_first=True))
remainder_number = rounds_number(_with_number(remainder, "remainder_cpu"))
fmod_number = rounds_number(_with_number(fmod, "fmod_cpu"))


_ONES = {np.dtype(code): np.ones((), code) for code in "fd"}


def reciprocal(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """1 / x. Division has vector instructions, while np.reciprocal has none. That of a complex 0 is inf + nan j."""
    one = _ONES.get(x.dtype)
    if one is not None:
        return np.divide(one, x, out=out)
    zero = x == 0 if x.dtype.kind == "c" else None
    found = np.reciprocal(x, out=out)
    if zero is not None:
        found[zero] = complex(math.inf, math.nan)
    return found


_QUICK: dict[Any, Callable[..., Any]] = {0.5: np.sqrt, -1: reciprocal, 2: np.square, 1: np.positive}


@converts(1, complex_stays=True)
@rounds_steps
def power_number(x: Array, exponent: Any) -> Any:
    """x ** exponent for a Python number. Small powers are products: `np.power` is some 20 times slower."""
    if x.dtype in NARROW and type(exponent) is not complex:
        return _power_of_narrow(x, exponent)
    kind = x.dtype.kind
    if kind != "f" or type(exponent) is complex:
        x = promoted(x, exponent)
        kind = x.dtype.kind
    if kind == "b":
        return np.logical_or(x, not exponent, out=...)
    if kind in "iu":
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return np.power(x, converted(exponent, x.dtype), out=...) if exponent != 2 else np.square(x, out=...)
    if x.dtype == F16 and (exponent == 0.5 or exponent == -0.5):
        return _root_of_half(x, exponent < 0)
    quick = _QUICK.get(exponent)
    if quick is not None:
        return quick(x, out=...)
    if x.dtype == F16:
        return power_number(x.astype(F32), rounded_to(exponent, F16)).astype(F16)
    if exponent == 3:
        squared = np.square(x, out=...)
        return np.multiply(squared, x, out=squared)
    if exponent == -2 or exponent == -0.5:
        t = (np.square if exponent == -2 else np.sqrt)(x, out=...)
        return reciprocal(t, out=t)
    return np.power(x, like(exponent, x), out=...)


def _power_of_narrow(x: Array, exponent: Any) -> Any:
    """PyTorch rounds each step of the powers 3 and -2."""
    if exponent == 3 or exponent == -2:
        squared = np.square(x, out=...)
        return np.multiply(squared, x, out=...) if exponent == 3 else np.divide(x.dtype.type(1), squared, out=...)
    return power_number(x.astype(F32), rounded_to(exponent, x.dtype)).astype(x.dtype)


def _root_of_half(x: Array, inverse: bool) -> Any:
    """PyTorch takes a root only of other types. In C++, the power of -0.0 is 0.0, and that of -inf is inf."""
    exact = x.astype(F32)
    root = np.where(exact == -np.inf, np.inf, np.sqrt(exact) + 0.0).astype(F32)
    return (1 / root if inverse else root).astype(F16)


def power(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """x ** y, elementwise."""
    if x.dtype.kind == "i" and np.any(np.less(y, 0)):
        return _integer_power(x, y, out)
    return np.power(x, y, out=out)


def _integer_power(x: Any, y: Any, out: Array | EllipsisType) -> Any:
    """Integers to integer powers, some of them negative. Negative powers of 1 and -1 are exact; all others are 0."""
    inverse = np.where(np.abs(x) == 1, np.where(y % 2 == 0, x * x, x), 0)
    result = np.where(y < 0, inverse, np.power(x, np.maximum(y, 0))).astype(x.dtype)
    if out is ...:
        return result
    out[...] = result
    return out


@rounds_number
def number_to_power(y: Array, base: Any) -> Any:
    """base ** y for a Python number."""
    y = promoted(y, base)
    if y.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if base == 1 and y.dtype.kind == "c":                   # also to the power of infinity and nan
        return np.ones_like(y)
    return power(like(base, y), y)


def log_of(base: Any) -> Any:
    """The logarithm of a Python number, nan for a negative one."""
    if isinstance(base, complex):
        return cmath.log(base)
    return math.log(base) if base > 0 else math.nan


def square(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """x * x."""
    return np.square(x, out=out)


def lerp_number(x: Array, y: Array, weight: Any, *, out: Array | EllipsisType = ...) -> Any:
    """x + weight * (y - x). The result is computed from the nearer end, so that both ends are exact."""
    weight = accumulated(weight, x.dtype)
    if x.dtype is F16:                                     # as in `_added`
        return np.positive(lerp_number(x.astype(F32), y.astype(F32), weight).astype(F16), out=out)
    way = np.subtract(y, x, out=...)
    if abs(weight) < 0.5:
        return np.add(x, np.multiply(way, like(weight, way), out=way), out=out)
    return np.subtract(y, np.multiply(way, like(1 - weight, way), out=way), out=out)


def lerp(x: Array, y: Array, weight: Array) -> Any:
    """`lerp_number` with a weight for each element."""
    if x.dtype is F16:
        return np.asarray(lerp(x.astype(F32), y.astype(F32), weight.astype(F32)).astype(F16))
    way = np.subtract(y, x, out=...)
    near = np.abs(weight) < 0.5
    start, gone = where(near, x, y), np.subtract(weight, np.logical_not(near), out=..., dtype=way.dtype)
    return np.add(start, np.multiply(gone, way, out=way if gone.shape == way.shape else ...), out=...)


def addcmul(x: Array, y: Array, z: Array, value: Any, *, out: Array | EllipsisType = ...) -> Any:
    """x + value * y * z, in this order, so that value * y * z may be finite where y * z is not."""
    return _added(x, np.multiply, y, z, value, out)


def addcdiv(x: Array, y: Array, z: Array, value: Any, *, out: Array | EllipsisType = ...) -> Any:
    """x + value * y / z, in this order."""
    return _added(x, np.divide, y, z, value, out)


def _added(x: Array, combine: np.ufunc, y: Array, z: Array, value: Any, out: Array | EllipsisType) -> Any:
    if x.dtype is F16:                                     # PyTorch computes in float32, and rounds once
        total = _added(x.astype(F32), combine, y.astype(F32), z.astype(F32), value, ...).astype(F16)
        return np.positive(total, out=out)
    if value == 1:
        return np.add(x, combine(y, z, out=...), out=out)
    scaled = np.multiply(y, converted(value, y.dtype), out=...)
    whole = scaled.shape == np.broadcast_shapes(scaled.shape, z.shape)
    return np.add(x, combine(scaled, z, out=scaled if whole else ...), out=out)


def product_in_half(x: Array, y: Array) -> Any:
    """x * y in float16, rounded once. One of them is float16, the other a number in float32."""
    return np.multiply(x, y, out=...).astype(F16)


def quotient_in_half(x: Array, y: Array) -> Any:
    """x / y in float16, rounded once. One of them is float16, the other a number in float32."""
    return np.divide(x, y, out=...).astype(F16)


def rounded_quotient_in_half(x: Array, y: Array, rounding_mode: str) -> Any:
    """`div_rounded` in float16. One operand is float16, the other a number in float32."""
    return div_rounded(x.astype(F32), y.astype(F32), rounding_mode).astype(F16)


def add_number(x: Array, number: Any) -> Any:
    """x + number, in the dtype of x."""
    return np.add(x, number, out=...)


def sub_number(x: Array, number: Any) -> Any:
    """x - number, in the dtype of x."""
    return np.subtract(x, number, out=...)


def mul_number(x: Array, number: Any) -> Any:
    """x * number, in the dtype of x."""
    return np.multiply(x, number, out=...)


def div_number(x: Array, number: Any) -> Any:
    """x / number, in the dtype of x."""
    if x.dtype is F16:                                     # the number may be larger than float16 holds
        return np.divide(x.astype(F32), number, out=...).astype(F16)
    return np.divide(x, number, out=...)


def filled(x: Array, value: Any) -> Any:
    """An array like x that holds the number everywhere."""
    return np.full_like(x, value)


def overwritten(x: Array, y: Array) -> Any:
    """The value of x after y is copied into it: y in the dtype of x, broadcast to the shape of x."""
    if y.dtype.kind == "c" and x.dtype.kind not in "cb":
        y = y.real
    return np.broadcast_arrays(x, before_rounding(y, x.dtype))[1].astype(x.dtype)


def overwrite(x: Array, y: Array) -> Any:
    """Copy y into the memory of x."""
    y = y.real if y.dtype.kind == "c" and x.dtype.kind not in "cb" else y
    np.copyto(x, before_rounding(y, x.dtype), casting="unsafe")
    return x


def fill_all(x: Array, value: Any) -> None:
    """Write the number everywhere."""
    x[...] = value


def zeroed(x: Array) -> Any:
    """Zeros like x."""
    return np.zeros_like(x)


def zero_all(x: Array) -> None:
    """Write zeros everywhere."""
    x[...] = 0


def as_float32(x: Array) -> Any:
    """The numbers as float32, without their imaginary parts."""
    return (x.real if x.dtype.kind == "c" else x).astype(np.float32)
