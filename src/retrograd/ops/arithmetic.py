"""Sums, products, quotients, powers: the arithmetic of two arrays, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..kernels import arithmetic as kernels
from .framework import backward_name, pointwise

add = pointwise("add", np.add, x=lambda g: g, y=lambda g: g)
sub = pointwise("sub", np.subtract, x=lambda g: g, y=lambda g: -g)
rsub = pointwise("rsub", kernels.rsub, node=backward_name("rsub", 1), tensors=2, x=lambda g: -g, y=lambda g: g)
mul = pointwise("mul", np.multiply, x=lambda g, y: g * y, y=lambda g, x: g * x)
div = pointwise("div", np.divide, domain="float", x=lambda g, y: g / y, y=lambda g, x, y: -g * ((x / y) / y))
neg = pointwise("neg", np.negative, x=lambda g: -g)
positive = pointwise("positive", np.positive, x=lambda g: g)
reciprocal = pointwise("reciprocal", kernels.reciprocal, domain="float", x=lambda g, out: -g * (out * out))
square = pointwise("pow", np.square, x=lambda g, x: g * (2.0 * x))


def _by_base(g: Any, x: Any, exponent: Any) -> Any:
    """The derivative of x ** exponent, where exponent is a number. 0 ** 0 has a flat neighbourhood."""
    if exponent == 0:
        return np.zeros_like(g)
    return g * (exponent * power(x, exponent - 1))


def _by_base_tensor(g: Any, x: Any, y: Any) -> Any:
    return np.where(y == 0.0, np.zeros_like(g), g * (y * x ** (y - 1.0)))


def _by_exponent(g: Any, x: Any, y: Any, out: Any) -> Any:
    """out * log(x), and 0 where the base is 0 and the exponent is not negative, as PyTorch defines it."""
    flat = np.logical_and(x == 0.0, y >= 0.0) if y.dtype.kind != "c" else np.logical_and(x == 0.0, np.real(y) >= 0.0)
    return np.where(flat, np.zeros_like(g), g * (out * np.log(x)))


def _by_exponent_of_number(g: Any, y: Any, base: Any, out: Any) -> Any:
    if base == 0:
        return np.where(y >= 0.0, np.zeros_like(g), g * (out * -math.inf))
    return g * (out * np.log(np.asarray(base, dtype=out.dtype)))


power = pointwise("pow", kernels.power_number, tensors=1, x=_by_base)
pow_ = pointwise("pow", kernels.power, node=backward_name("pow", 1), x=_by_base_tensor, y=_by_exponent)
number_to_power = pointwise("pow", kernels.number_to_power, node=backward_name("pow", 2), tensors=1,
                            y=_by_exponent_of_number)
