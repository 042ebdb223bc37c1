"""Shrinkages, thresholds, gates: piecewise activations, and those with a weight. Arrays in, arrays out; no ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import F32, F64, dtype as torch_dtype, refuse, require
from ..elementwise.choosing import limited, signed, where, where_into
from ..elementwise.elementary import sigmoid, widened
from ..random.drawing import unit64
from ..random.twister import Twister
from .rectifiers import leaky_relu

_ALL_BUT_FLOATS = "biuc"


def hardshrink(x: Any, lambd: float) -> Any:
    """x, and 0 where it is in [-lambd, lambd]."""
    refuse(x.dtype, "hardshrink_cpu", _ALL_BUT_FLOATS)
    return where(np.less_equal(np.abs(x), lambd, out=...), 0.0, x)


def softshrink(x: Any, lambd: float) -> Any:
    """x, brought nearer to 0 by lambd; 0 where it is in [-lambd, lambd]."""
    refuse(x.dtype, "softshrink_check", _ALL_BUT_FLOATS)
    largest = float(np.finfo(x.dtype).max)
    if not 0 <= lambd <= largest:
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype "
                           f"{torch_dtype.of[x.dtype].legacy}, but found {lambd:g}.")
    t = limited(x, -lambd, lambd)
    return signed(np.subtract(x, t, out=t), x)                      # zeros keep it


def hardsigmoid(x: Any) -> Any:
    """x / 6 + 1 / 2, moved into [0, 1]."""
    refuse(x.dtype, "hardsigmoid_cpu", _ALL_BUT_FLOATS)
    wide = widened(x)
    t = np.add(wide, 3, out=...)
    return np.divide(limited(t, 0, 6, out=t), 6, out=t).astype(x.dtype, copy=False)


def hardswish(x: Any) -> Any:
    """x * hardsigmoid(x)."""
    refuse(x.dtype, "hardswish_cpu", _ALL_BUT_FLOATS)
    wide = widened(x)
    t = np.add(wide, 3, out=...)
    np.multiply(limited(t, 0, 6, out=t), wide, out=t)
    return np.divide(t, 6, out=t).astype(x.dtype, copy=False)


def hardswish_slope(x: Any) -> Any:
    """x / 3 + 1 / 2 between -3 and 3, where it goes from -1 / 2 to 3 / 2; 0 below, 1 above and, as PyTorch, at nan."""
    t = limited(x, -3, 3)
    np.multiply(t, 1 / 3, out=t)
    np.add(t, 0.5, out=t)
    outside = np.subtract((x <= -3).view(np.int8), (x >= 3).view(np.int8), dtype=np.int8)
    np.add(t, np.multiply(outside, 0.5, dtype=x.dtype), out=t)
    undefined = np.not_equal(t, t, out=...)
    return where_into(t, undefined, 1.0) if undefined.any() else t


def threshold(x: Any, threshold: Any, value: Any) -> Any:
    """x, and `value` where it is not above the threshold."""
    refuse(x.dtype, "threshold_cpu", "bc")
    return where(x <= threshold, float(value) if x.dtype.kind == "f" else np.asarray(x.dtype.type(value)), x)


def glu(x: Any, dim: int) -> Any:
    """The first half along `dim`, times the sigmoid of the second."""
    if not x.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if x.shape[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {x.shape[dim]}")
    refuse(x.dtype, "glu_cpu", _ALL_BUT_FLOATS)
    first, second = np.split(x, 2, dim)
    gate = sigmoid(second)
    return np.multiply(first, gate, out=gate)


def prelu(x: Any, weight: Any) -> Any:
    """x, and weight * x where it is not positive."""
    refuse(x.dtype, "prelu_cpu", _ALL_BUT_FLOATS)
    return where(x > 0, x, weight * x)


def rrelu_noise(generator: Twister, x: Any, lower: float, upper: float) -> Any:
    """Random slopes where x is not positive, which alone draw a number each; 1 elsewhere."""
    require(x.dtype in (F32, F64), "rrelu_with_noise_out_cpu", x.dtype)
    noise = np.ones(x.shape, x.dtype)
    below = x <= 0
    drawn = unit64(generator, int(np.count_nonzero(below)))
    noise[below] = drawn * (upper - lower) + lower
    return noise


def rrelu(x: Any, noise: Any, lower: float, upper: float) -> Any:
    """x times its random slope, drawn between two limits."""
    return np.multiply(x, noise, out=...)


def rrelu_even(x: Any, lower: float, upper: float) -> Any:
    """x, and x times the middle slope where it is negative."""
    return leaky_relu(x, (lower + upper) / 2)
