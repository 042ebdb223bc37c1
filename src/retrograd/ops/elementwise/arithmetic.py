"""Elementwise arithmetic: sums, products, quotients, powers, and writing one array over another.

If one operand is a Python number, that number is a static option of an op of its own: PyTorch's node for such an
operation has another name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.elementwise import arithmetic as kernels
from ...kernels.elementwise.arithmetic import log_of
from ..domains import counted, promoted, subtracted
from ..framework import Op, elementwise, flat, not_differentiable

if TYPE_CHECKING:
    from ..values import Value

add = elementwise("add", np.add, x=lambda g: g, y=lambda g: g, complex="real")
sub = elementwise("sub", np.subtract, domain=subtracted, x=lambda g: g, y=lambda g: -g, complex="real")
mul = elementwise("mul", np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)
div = elementwise("div", np.divide, domain="float", x=lambda g, y: g / y, y=lambda g, x, y: -g * ((x / y) / y))
neg = elementwise("neg", np.negative, x=lambda g: -g, complex="real", domain=promoted(b=RuntimeError(
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead.")))
positive = elementwise("positive", np.positive, x=lambda g: g)
reciprocal = elementwise("reciprocal", kernels.reciprocal, domain="float", x=lambda g, out: -g * (out * out))

add_scaled = elementwise("add", kernels.add_scaled, any_type=True, x=lambda g: g, y=lambda g, alpha: g * alpha)
sub_scaled = elementwise("sub", kernels.sub_scaled, domain=subtracted, any_type=True, x=lambda g: g,
                         y=lambda g, alpha: -g * alpha)
rsub_scaled = elementwise("rsub", kernels.rsub_scaled, domain=subtracted, any_type=True,
                          x=lambda g, alpha: -g * alpha, y=lambda g: g)
rsub = elementwise("rsub", kernels.rsub_number, node=1, x=lambda g, alpha: -g * alpha)

# With a Python number, as PyTorch's composed functions record it. Calls of users are recorded by the ops above.

add_number = elementwise("add", kernels.add_number, domain="float", node=1, tensors=1, x=lambda g: g)
sub_number = elementwise("sub", kernels.sub_number, domain="float", node=1, tensors=1, x=lambda g: g)
mul_number = elementwise("mul", kernels.mul_number, domain="float", node=1, tensors=1, x=lambda g, number: g * number)
div_number = elementwise("div", kernels.div_number, domain="float", node=1, tensors=1, x=lambda g, number: g / number)



def among(g: Value, n: int) -> Any:
    """A gradient, divided among n elements. Beyond 2048, float16 does not hold all integers."""
    return g / n if n <= 2048 else div_number(g, n)


# Rounded division, and its remainders

_undefined, _undefined_written = not_differentiable("floor_divide"), not_differentiable("floor_divide_")
_DIVIDED, _DIVIDED_NUMBER = promoted("div_floor_cpu", "bc"), promoted("div_floor_cpu", "c")
floor_divide = elementwise("floor_divide", kernels.floor_divide, node="NotImplemented", domain=_DIVIDED, x=_undefined,
                         y=_undefined, written={"x": _undefined_written, "y": _undefined_written})
floor_divide_number = elementwise("floor_divide", kernels.floor_divide_number, node="NotImplemented",
                                  domain=_DIVIDED_NUMBER, x=_undefined, written={"x": _undefined_written})
number_floor_divide = elementwise("floor_divide", kernels.number_floor_divide, node="NotImplemented",
                                  domain=_DIVIDED_NUMBER, x=_undefined)
number_remainder = elementwise("remainder", kernels.number_remainder, node="NotImplemented",
                             domain=promoted("remainder_cpu", "c"), x=not_differentiable("remainder"))


def _flat_by_dividend(g: Value, y: Value, rounding_mode: str) -> Any:
    """A rounded quotient is flat. The rule names `y` because PyTorch saves it, so a second pass raises its error."""
    return np.zeros_like(g)


def _flat_by_divisor(g: Value, x: Value, y: Value, rounding_mode: str) -> Any:
    return np.zeros_like(g)


div_floor = elementwise("div", kernels.div_rounded, node=2, x=_flat_by_dividend, y=_flat_by_divisor, domain=_DIVIDED)
div_trunc = elementwise("div", kernels.div_rounded, node=2, x=_flat_by_dividend, y=_flat_by_divisor,
                        domain=promoted("div_trunc_cpu", "bc"))
remainder = elementwise("remainder", kernels.remainder, node=1, domain=promoted("remainder_cpu", "bc"),
                        x=lambda g: g, y=lambda g, x, y: -g * div_floor(x, y, "floor"))
fmod = elementwise("fmod", kernels.fmod, node=1, domain=promoted("fmod_cpu", "bc"),
                   x=lambda g: g, y=lambda g, x, y: -g * div_trunc(x, y, "trunc"))
remainder_number = elementwise("remainder", kernels.remainder_number, domain=promoted("remainder_cpu", "c"),
                               x=lambda g: g)
fmod_number = elementwise("fmod", kernels.fmod_number, domain=promoted("fmod_cpu", "c"), x=lambda g: g)

# Powers


def _at_least_zero(y: Value) -> Any:
    """Where an exponent is real and not negative."""
    if y.dtype.kind == "c":
        return np.logical_and(np.imag(y) == 0.0, np.real(y) >= 0.0)
    return y >= 0.0


def _by_base(g: Value, x: Value, exponent: Any) -> Any:
    """The derivative of x ** exponent by x, for a number as exponent. It is 0 for an exponent of 0, at x = 0 too."""
    if exponent == 0:
        return np.zeros_like(g)
    return g * (exponent * power(x, exponent - 1))


def _by_base_tensor(g: Value, x: Value, y: Value) -> Any:
    flat = y == 0.0
    return np.where(flat, 0.0, g * (y * x ** np.where(flat, 1.0, y - 1.0)))


def _by_exponent(g: Value, x: Value, y: Value, out: Value) -> Any:
    """out * log(x), and 0 where the base is 0 and the exponent is not negative, as PyTorch defines it."""
    flat = np.logical_and(x == 0.0, _at_least_zero(y))
    return g * np.where(flat, 0.0, out * np.log(np.where(flat, 1.0, x)))


def _by_exponent_of_number(g: Value, y: Value, base: complex, out: Value) -> Any:
    if base == 0:
        return g * (out * np.where(_at_least_zero(y), 0.0, -math.inf))
    return g * (out * log_of(complex(base) if y.dtype.kind == "c" else base))


square = elementwise("square", kernels.square, node="PowBackward0", domain=counted, x=lambda g, x: g * (2.0 * x))
power = elementwise("pow", kernels.power_number, x=_by_base)
pow_ = elementwise("pow", kernels.power, node=1, x=_by_base_tensor, y=_by_exponent, domain=promoted("pow", "b"))
number_to_power = elementwise("pow", kernels.number_to_power, node=2, y=_by_exponent_of_number)

# What computes the products and quotients of float16 with a number in float32.
IN_HALF = {op: Op(op.name, kernel, " ".join(op.arguments), op.rules, kind=op.kind, domain=op.domain, node=op.node_name,
                  complex=op.complex, tensors=op.arity) for op, kernel in (
    (mul, kernels.product_in_half), (div, kernels.quotient_in_half),
    (div_floor, kernels.rounded_quotient_in_half), (div_trunc, kernels.rounded_quotient_in_half))}

# Called with a tensor, these ufuncs mean the ops whose kernels are not the ufuncs themselves.
Op.by_kernel.update({np.floor_divide: floor_divide, np.remainder: remainder, np.fmod: fmod, np.power: pow_,
                     np.reciprocal: reciprocal, np.square: square})

# Three operands

lerp_number = elementwise("lerp", kernels.lerp_number, domain=promoted("lerp_kernel_scalar", "bi"),
                        x=lambda g, weight: g * (1 - weight), y=lambda g, weight: g * weight)
lerp = elementwise("lerp", kernels.lerp, node=1, domain=promoted("lerp_kernel_tensor", "bi"),
                   x=lambda g, weight: g * (1 - weight), y=lambda g, weight: g * weight,
                   weight=lambda g, x, y: g * (y - x))
addcmul = elementwise("addcmul", kernels.addcmul, domain=promoted("addcmul_cpu_out", "b"), x=lambda g: g,
                    y=lambda g, z, value: g * (z * value), z=lambda g, y, value: g * (y * value))
addcdiv = elementwise("addcdiv", kernels.addcdiv, x=lambda g: g, y=lambda g, z, value: g * (value / z),
                    z=lambda g, y, z, value: -g * (value * y / (z * z)))

# Writing over

fill = elementwise("fill", kernels.filled, domain="as given", any_type=True, tensors=1, x=flat, written={"node": 2})
fill_tensor = elementwise("fill", kernels.overwritten, node=1, domain="as given", any_type=True, x=flat,
                          y=lambda g: np.positive(g), written={"node": 3})     # PyTorch has the sum, in its own memory
zero = elementwise("zero", kernels.zeroed, domain="as given", any_type=True, x=flat)
copy = elementwise("copy", kernels.overwritten, node="torch::autograd::CopyBackwards", domain="as given",
                   any_type=True, x=flat, y=lambda g: g)


def _not_dequantized(g: Value) -> Any:
    raise RuntimeError("derivative for dequantize is not implemented")


# The numbers of a tensor that is not quantized, in float32.
dequantize = elementwise("dequantize", kernels.as_float32, node="NotImplemented", domain="as given", x=_not_dequantized)
