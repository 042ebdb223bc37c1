"""Activation functions: relatives of relu, gates, shrinkages and thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, F64, NARROW, Array, refuse, require
from ...foundations.scalars import COMMON, accumulated, check_convertible, converted
from ..elementwise.choosing import limited, signed, where, where_into
from ..elementwise.elementary import sigmoid, widened
from ..elementwise.parts import note_rule, served_or_in_blocks
from ..options import converts, option
from ..random.drawing import unit64
from ..random.twister import Twister
from ..special.normal import twice_ndtr
from ..thresholds import PARTS

_ALL_BUT_FLOATS = "biuc"


def _of_floats(name: str, refused: str = _ALL_BUT_FLOATS, cost: float = 0.0,
               rule: float = 0.0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A kernel of one array that refuses dtypes of these kinds, by PyTorch's name, and computes half as single.

    The costs of the kernel and of its derivative are in nanoseconds for each byte; see `parts`.
    """

    def decorated(kernel: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(kernel)
        def call(x: Array) -> Any:
            refuse(x.dtype, name, refused)
            wide = widened(x)
            out = kernel(wide) if x.size < PARTS else served_or_in_blocks(call, kernel, cost, wide)
            return out.astype(x.dtype, copy=False)

        if rule:
            note_rule(call, rule)
        return call

    return decorated


def leaky_relu(x: Array, negative_slope: float) -> Any:
    """x, and negative_slope * x if x is negative."""
    refuse(x.dtype, "leaky_relu_cpu", _ALL_BUT_FLOATS)
    negative_slope = accumulated(negative_slope, x.dtype)
    if x.dtype is F16:                                      # the slope may be larger than float16 holds
        return leaky_relu(x.astype(F32), negative_slope).astype(F16)
    scaled = np.multiply(x, negative_slope, out=...)
    if 0 < negative_slope <= 1:                             # 0 times infinity is nan
        return np.maximum(x, scaled, out=scaled)
    return where_into(scaled, x > 0, x)


def elu(x: Array, alpha: float, scale: float, input_scale: float) -> Any:
    """scale * x, and scale * alpha * (exp(input_scale * x) - 1) if x is not positive."""
    refuse(x.dtype, "elu_cpu", _ALL_BUT_FLOATS)
    wide, options = widened(x), (accumulated(alpha, x.dtype), scale, accumulated(input_scale, x.dtype))
    out = _elu(wide, *options) if x.size < PARTS else served_or_in_blocks(elu, _elu, 0.3, wide, *options)
    return out.astype(x.dtype, copy=False)


def _elu(x: Array, alpha: float, scale: float, input_scale: float) -> Any:
    below = limited(x, -math.inf, 0)
    if input_scale != 1:
        np.multiply(below, input_scale, out=below)
    np.expm1(below, out=below)
    np.multiply(below, alpha * scale, out=below)
    return where_into(below, x >= 0, np.multiply(x, scale))


note_rule(elu, 0.3)


@_of_floats("silu_cpu", "biu", 0.15, 0.3)
def silu(x: Array) -> Any:
    """x / (1 + exp(-x))."""
    t = np.negative(x, out=...)
    np.exp(t, out=t)
    np.add(t, 1, out=t)
    return np.divide(x, t, out=t)


@_of_floats("mish_cpu", cost=0.25, rule=0.8)
def mish(x: Array) -> Any:
    """x * tanh(log(1 + exp(x)))."""
    t = np.exp(limited(x, -math.inf, 40), out=...)          # beyond 40 the factor is 1
    np.multiply(t, t + 2, out=t)                            # tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2)
    np.divide(t, t + 2, out=t)
    return np.multiply(x, t, out=t)


def softplus(x: Array, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta * x)) / beta, and x if beta * x is above the threshold."""
    refuse(x.dtype, "softplus_cpu", _ALL_BUT_FLOATS)
    wide, options = widened(x), (accumulated(beta, x.dtype), accumulated(threshold, x.dtype))
    out = _softplus(wide, *options) if x.size < PARTS else served_or_in_blocks(softplus, _softplus, 0.4, wide, *options)
    return out.astype(x.dtype, copy=False)


def _softplus(x: Array, beta: float, threshold: float) -> Any:
    t = np.multiply(x, beta, out=...)
    straight = t > threshold
    np.exp(t, out=t)
    np.log1p(t, out=t)
    np.divide(t, beta, out=t)
    return where_into(t, straight, x)


note_rule(softplus, 0.4)


@_of_floats("log_sigmoid_cpu", cost=0.3, rule=0.25)
def log_sigmoid(x: Array) -> Any:
    """-log(1 + exp(-x))."""
    t = np.abs(np.asarray(x, order="C"), out=...)            # PyTorch's result is row-major
    np.negative(t, out=t)
    np.exp(t, out=t)
    np.log1p(t, out=t)
    return np.subtract(limited(x, -math.inf, 0), t, out=t)


@converts(1, 2)
def hardtanh(x: Array, min_val: float, max_val: float) -> Any:
    """x, clamped to [min_val, max_val]."""
    if x.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if x.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if x.dtype.kind in "iu":
        return np.minimum(np.maximum(x, converted(min_val, x.dtype), out=...), converted(max_val, x.dtype), out=...)
    for limit in (min_val, max_val):
        if not -COMMON <= limit <= COMMON:
            check_convertible(limit, x.dtype)
    return limited(x, min_val, max_val)


@_of_floats("GeluKernelImpl", cost=0.15, rule=0.55)
def gelu_tanh(x: Array) -> Any:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x³)))."""
    t = np.square(x, out=...)
    np.multiply(t, 0.044715, out=t)
    np.add(t, 1, out=t)
    np.multiply(t, x, out=t)
    np.multiply(t, math.sqrt(2 / math.pi), out=t)
    np.tanh(t, out=t)
    np.add(t, 1, out=t)
    np.multiply(t, 0.5, out=t)                              # first, since twice the largest x is infinite
    return np.multiply(t, x, out=t)


@_of_floats("GeluKernelImpl", cost=0.4, rule=0.65)
def gelu(x: Array) -> Any:
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    t = twice_ndtr(x)
    np.multiply(t, 0.5, out=t)                              # first, or large numbers would overflow
    return np.multiply(t, x, out=t)


@converts(1)
def hardshrink(x: Array, lambd: float) -> Any:
    """x, and 0 if x is in [-lambd, lambd]."""
    refuse(x.dtype, "hardshrink_cpu", _ALL_BUT_FLOATS)
    return where(np.less_equal(np.abs(x), converted(lambd, x.dtype), out=...), 0.0, x)


def softshrink(x: Array, lambd: float) -> Any:
    """x, moved towards 0 by lambd; 0 if x is in [-lambd, lambd]."""
    wide = widened(x)
    t = limited(wide, -lambd, lambd)
    return signed(np.subtract(wide, t, out=t), wide).astype(x.dtype, copy=False)             # zeros keep their sign


@_of_floats("hardsigmoid_cpu", cost=0.15, rule=0.3)
def hardsigmoid(x: Array) -> Any:
    """x / 6 + 1 / 2, clamped to [0, 1]."""
    t = np.add(x, 3, out=...)
    return np.divide(limited(t, 0, 6, out=t), 6, out=t)


@_of_floats("hardswish_cpu", cost=0.15, rule=0.6)
def hardswish(x: Array) -> Any:
    """x * hardsigmoid(x)."""
    t = np.add(x, 3, out=...)
    np.multiply(limited(t, 0, 6, out=t), x, out=t)
    return np.divide(t, 6, out=t)


def hardswish_slope(x: Array) -> Any:
    """The derivative of hardswish: x / 3 + 1 / 2 between -3 and 3, 0 below, 1 above, and 1 for nan, as in PyTorch."""
    t = limited(x, -3, 3)
    np.multiply(t, 1 / 3, out=t)
    np.add(t, 0.5, out=t)
    outside = np.subtract((x <= -3).view(np.int8), (x >= 3).view(np.int8), dtype=np.int8)
    np.add(t, np.multiply(outside, 0.5, dtype=x.dtype), out=t)
    undefined = np.not_equal(t, t, out=...)
    return where_into(t, undefined, 1.0) if undefined.any() else t


@converts(2)
def threshold(x: Array, threshold: float, value: Any) -> Any:
    """x, and `value` if x is not above the threshold."""
    refuse(x.dtype, "threshold_cpu", "bc")
    limit = accumulated(threshold, x.dtype) if x.dtype.kind == "f" else converted(threshold, x.dtype)
    return where(widened(x) <= limit, converted(value, x.dtype) if x.dtype.kind == "f" else option(value, x), x)


def glu(x: Array, dim: int) -> Any:
    """The first half along `dim`, times the sigmoid of the second half."""
    if not x.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if x.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {x.shape[dim]}")
    refuse(x.dtype, "glu_cpu", _ALL_BUT_FLOATS)
    first, second = np.split(widened(x), 2, dim)
    gate = sigmoid(second)
    return np.multiply(first, gate, out=gate).astype(x.dtype, copy=False)


def prelu(x: Array, weight: Array) -> Any:
    """x, and weight * x if x is not positive."""
    refuse(x.dtype, "prelu_cpu", _ALL_BUT_FLOATS)
    sloped = np.multiply(weight, x, out=...)
    if weight.size and weight.min() > 0 and weight.max() <= 1:
        return np.maximum(x, sloped, out=sloped if sloped.shape == x.shape else ...)
    return where(x > 0, x, sloped)


def rrelu_noise(generator: Twister, x: Array, lower: float, upper: float) -> Any:
    """Random slopes where x is not positive, and 1 elsewhere. Only the random slopes draw a number each."""
    require(x.dtype in (F32, F64) or x.dtype in NARROW, "rrelu_with_noise_out_cpu", x.dtype)
    noise = np.ones(x.shape, x.dtype)
    below = x <= 0
    drawn = unit64(generator, int(np.count_nonzero(below)))
    low, high = [float(x.dtype.type(accumulated(limit, x.dtype))) for limit in (lower, upper)]
    noise[below] = drawn * (high - low) + low
    return noise


def rrelu(x: Array, noise: Array, lower: float, upper: float) -> Any:
    """x times its random slope between two limits."""
    return np.multiply(x, noise, out=...)


def rrelu_even(x: Array, lower: float, upper: float) -> Any:
    """x, and x times the mean slope if x is negative."""
    return leaky_relu(x, (lower + upper) / 2)
