"""The relatives of relu, leaky or smooth. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import refuse
from ..elementwise.choosing import limited, where_into
from ..elementwise.elementary import in_single
from ..special.normal import twice_ndtr


def leaky_relu(x: Any, negative_slope: float) -> Any:
    """x, and negative_slope * x where x is negative."""
    refuse(x.dtype, "leaky_relu_cpu", "biuc")
    scaled = np.multiply(x, negative_slope, out=...)
    if 0 <= negative_slope <= 1:
        return np.maximum(x, scaled, out=scaled)
    return where_into(scaled, x > 0, x)


def elu(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """scale * x, and scale * alpha * (exp(input_scale * x) - 1) where x is not positive."""
    refuse(x.dtype, "elu_cpu", "biuc")
    return _elu(x, alpha, scale, input_scale)


@in_single
def _elu(x: Any, alpha: float, scale: float, input_scale: float, *, out: Any = ...) -> Any:
    below = limited(x, -math.inf, 0)
    if input_scale != 1:
        np.multiply(below, input_scale, out=below)
    np.expm1(below, out=below)
    np.multiply(below, alpha * scale, out=below)
    return where_into(below, x > 0, np.multiply(x, scale))


def silu(x: Any) -> Any:
    """x / (1 + exp(-x))."""
    refuse(x.dtype, "silu_cpu", "biu")
    return _silu(x)


@in_single
def _silu(x: Any, *, out: Any = ...) -> Any:
    t = np.negative(x, out=...)
    np.exp(t, out=t)
    np.add(t, 1, out=t)
    return np.divide(x, t, out=t)


def mish(x: Any) -> Any:
    """x * tanh(log(1 + exp(x)))."""
    refuse(x.dtype, "mish_cpu", "biuc")
    return _mish(x)


@in_single
def _mish(x: Any, *, out: Any = ...) -> Any:
    t = np.exp(limited(x, -math.inf, 40), out=...)          # beyond, the factor is 1
    np.multiply(t, t + 2, out=t)                            # tanh(log(1 + e)) is e (e + 2) / (e (e + 2) + 2)
    np.divide(t, t + 2, out=t)
    return np.multiply(x, t, out=t)


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold."""
    refuse(x.dtype, "softplus_cpu", "biuc")
    return _softplus(x, beta, threshold)


@in_single
def _softplus(x: Any, beta: float, threshold: float, *, out: Any = ...) -> Any:
    t = np.multiply(x, beta, out=...)
    straight = t > threshold
    np.exp(t, out=t)
    np.log1p(t, out=t)
    np.divide(t, beta, out=t)
    return where_into(t, straight, x)


def log_sigmoid(x: Any) -> Any:
    """-log(1 + exp(-x))."""
    refuse(x.dtype, "log_sigmoid_cpu", "biuc")
    return _log_sigmoid(np.asarray(x, order="C"))            # PyTorch lays out the result row by row


@in_single
def _log_sigmoid(x: Any, *, out: Any = ...) -> Any:
    t = np.abs(x, out=...)
    np.negative(t, out=t)
    np.exp(t, out=t)
    np.log1p(t, out=t)
    return np.subtract(limited(x, -math.inf, 0), t, out=t)


def hardtanh(x: Any, min_val: float, max_val: float) -> Any:
    """x, moved into [min_val, max_val]."""
    if x.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if x.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if x.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        return np.minimum(np.maximum(x, min_val, out=...), max_val, out=...)
    return limited(x, min_val, max_val)


def gelu_tanh(x: Any) -> Any:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x³)))."""
    refuse(x.dtype, "GeluKernelImpl", "biuc")
    return _gelu_tanh(x)


@in_single
def _gelu_tanh(x: Any, *, out: Any = ...) -> Any:
    t = np.square(x, out=...)
    np.multiply(t, 0.044715, out=t)
    np.add(t, 1, out=t)
    np.multiply(t, x, out=t)
    np.multiply(t, math.sqrt(2 / math.pi), out=t)
    np.tanh(t, out=t)
    np.add(t, 1, out=t)
    np.multiply(t, x, out=t)
    return np.multiply(t, 0.5, out=t)


def gelu(x: Any) -> Any:
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    refuse(x.dtype, "GeluKernelImpl", "biuc")
    return _gelu(x)


@in_single
def _gelu(x: Any, *, out: Any = ...) -> Any:
    t = twice_ndtr(x)
    np.multiply(t, x, out=t)
    return np.multiply(t, 0.5, out=t)
