"""The formulas of activation functions, and of what their derivative rules call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F32
from ...kernels.special.normal import ERF_ARGUMENT
from ...ops.framework import Op
from ...ops.networks import activations as ops
from . import single
from .arithmetic import Formula, plain
from .choices import clipped
from .elementary import erf, exp, expm1, log1p, sigmoid, tanh
from .lanes import Lanes, Unknown, absolute, intrinsic, maximum, minimum, select
from .polynomials import horner


def _floats(formula: Formula) -> Formula:
    """The formula, for floats only: the kernel refuses other dtypes, or treats them in another way."""

    def call(x: Lanes, *options: Any) -> Lanes:
        if x.dtype.kind != "f" or any([isinstance(o, Lanes) and o.dtype != x.dtype for o in options]):
            raise Unknown("an activation function of floats")
        return formula(x, *options)

    return call


def _relu(x: Lanes) -> Lanes:
    return clipped(x, 0, math.inf) if x.dtype.kind == "f" else maximum(x.like(0), x)


def _leaky_relu(x: Lanes, negative_slope: Any) -> Lanes:
    scaled = x * plain(negative_slope)
    return maximum(x, scaled) if 0 < negative_slope <= 1 else select(x > 0, x, scaled)


def _elu(x: Lanes, alpha: Any, scale: Any, input_scale: Any) -> Lanes:
    below = clipped(x, -math.inf, 0)
    below = below if input_scale == 1 else below * plain(input_scale)
    return select(x >= 0, x * scale, expm1(below) * (alpha * scale))


def _mish(x: Lanes) -> Lanes:
    t = exp(clipped(x, -math.inf, 40))
    t = t * (t + 2)
    return x * (t / (t + 2))


def _softplus(x: Lanes, beta: Any, threshold: Any) -> Lanes:
    t = x * plain(beta)
    return select(t > plain(threshold), x, log1p(exp(t)) / beta)


def _hardtanh(x: Lanes, low: Any, high: Any) -> Lanes:
    if x.dtype.kind == "f":
        return clipped(x, low, high)
    if x.dtype.kind == "b":
        raise Unknown("the kernel raises an error")
    return minimum(maximum(x, int(low)), int(high))


def _gelu_tanh(x: Lanes) -> Lanes:
    t = (x * x * 0.044715 + 1) * x * math.sqrt(2 / math.pi)
    return (tanh(t) + 1) * 0.5 * x


def _twice_ndtr(x: Lanes) -> Lanes:
    if x.dtype != F32:
        return erf(x * math.sqrt(0.5)) + 1
    return single.twice_ndtr(x)


def _gelu(x: Lanes) -> Lanes:
    """x / 2 * (1 + erf(x / sqrt(2))). In single precision erf is the hyperbolic tangent of the kernel's polynomial."""
    if x.dtype != F32:
        return _twice_ndtr(x) * 0.5 * x
    size = clipped(x, -6, 6)
    t = horner(size * size, [float(number) for number in ERF_ARGUMENT]) * size
    return select(x <= -6.0, x * 0.0, x / (exp(t * -2.0) + 1.0))


def _softshrink(x: Lanes, lambd: Any) -> Lanes:
    if not 0 <= plain(lambd) <= float(np.finfo(x.dtype).max):
        raise Unknown("the kernel raises an error")
    return _signed(x - clipped(x, -lambd, lambd), x)


def _signed(x: Lanes, sign: Lanes) -> Lanes:
    """x with the sign, which x has unless it is 0. A nan stays as it is."""
    return intrinsic("copysign", x, sign)


def _hardswish_slope(x: Lanes) -> Lanes:
    t = clipped(x, -3, 3) * (1 / 3) + 0.5
    t = t + (select(x <= -3, x.like(1), 0) - select(x >= 3, x.like(1), 0)) * 0.5
    return select(t != t, 1.0, t)


def _threshold(x: Lanes, threshold: Any, value: Any) -> Lanes:
    return select(x <= plain(threshold), plain(value), x)


def _prelu(x: Lanes, weight: Lanes) -> Lanes:
    return select(x > 0, x, weight * x)


FORMULAS: dict[Op, Formula] = {
    ops.threshold_backward: _floats(lambda g, result: select(result <= 0, 0.0, g)),
    ops.relu: _relu,
    ops.sigmoid: sigmoid,
    ops.sigmoid_backward: lambda grad_output, output: grad_output * (1 - output) * output,
    ops.at_most: _floats(lambda x, limit: clipped(x, -math.inf, limit)),
    **{op: _floats(formula) for op, formula in (
        (ops.leaky_relu, _leaky_relu), (ops.elu, _elu), (ops.celu, _elu), (ops.mish, _mish),
        (ops.silu, lambda x: x / (exp(-x) + 1)), (ops.softplus, _softplus),
        (ops.log_sigmoid, lambda x: clipped(x, -math.inf, 0) - log1p(exp(-absolute(x)))),
        (ops.gelu_tanh, _gelu_tanh), (ops.twice_ndtr, _twice_ndtr), (ops.gelu, _gelu),
        (ops.hardshrink, lambda x, lambd: select(absolute(x) <= plain(lambd), 0.0, x)),
        (ops.softshrink, _softshrink), (ops.hardswish_slope, _hardswish_slope),
        (ops.hardsigmoid, lambda x: clipped(x + 3, 0, 6) / 6), (ops.hardswish, lambda x: clipped(x + 3, 0, 6) * x / 6),
        (ops.threshold, _threshold), (ops.prelu, _prelu),
        (ops.rrelu, lambda x, noise, lower, upper: x * noise),
        (ops.rrelu_even, lambda x, lower, upper: _leaky_relu(x, (lower + upper) / 2)))},
    ops.hardtanh: _hardtanh,
}
