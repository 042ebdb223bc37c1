"""Rounding to the numbers that a quantized tensor could hold, and the choice of their scale and of their zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...foundations.dtypes import Array

# A scale below this one loses precision, so it is not chosen.
_LEAST_SCALE = float(np.float32(6.1e-5))


class Quantization(NamedTuple):
    """The distance of neighboring numbers, and the integer that stands for 0."""

    scale: float
    zero: int


def fake_quantized(x: Array, scale: Array, zero: Array, least: int, largest: int) -> tuple[Array, Array]:
    """x rounded to multiples of the scale, and whether the rounded number lies between both ends.

    A multiple has the integer `multiple + zero`, from `least` to `largest`. The scale and the zero broadcast.
    """
    wide = x if x.dtype == np.float64 else x.astype(np.float32)
    found = np.round(wide * (np.float32(1) / scale)) + zero
    inside = np.logical_and(found >= least, found <= largest)
    whole = np.fmin(np.fmax(found, least), largest) - zero
    return (whole.astype(np.float32) * scale).astype(x.dtype), inside


def fake_quantized_channels(x: Array, scale: Array, zero: Array, least: int, largest: int) -> tuple[Array, Array]:
    """The same for a scale and a zero of each channel, by integers: a number beyond int64 becomes the least.

    A zero that is no integer is added before the rounding.
    """
    wide = x if x.dtype == np.float64 else x.astype(np.float32)
    times = wide * (np.float32(1) / scale)
    found = np.round(times + zero.astype(np.float32)) if zero.dtype.kind == "f" else np.round(times) + zero
    found = np.where(np.abs(found) < 2.0**63, found, -np.inf)
    inside = np.logical_and(found >= least, found <= largest)
    return ((np.clip(found, least, largest) - zero) * scale).astype(x.dtype), inside


def observed_and_quantized(x: Array, scale: Array, zero: Array, least: int, largest: int,
                           on: bool) -> tuple[Array, Array]:
    """`fake_quantized` if it is `on`; otherwise a copy of x, and True everywhere."""
    if on:
        return (fake_quantized_channels if scale.ndim else fake_quantized)(x, scale, zero, least, largest)
    return x.copy(), np.ones(x.shape, bool)


def moved(before: Array, found: Array, weight: np.float32) -> Array:
    """A running end that moves by a fraction towards what was found, or all the way if it is infinite."""
    return np.where(np.isinf(before), found, before + weight * (found - before))


def chosen(low: float, high: float, least: int, largest: int, symmetric: bool = False) -> Quantization:
    """The scale and the zero for numbers from `low` to `high`, as integers from `least` to `largest`.

    Zero is always among the numbers. `symmetric` puts it in the middle if there are numbers on both sides.
    """
    both = symmetric and low < 0 < high
    if both:
        half = (largest - least) // 2
        step = max(abs(np.float32(low) / np.float32(-half - 1)), abs(np.float32(high) / np.float32(half)))
        low, high = float(step * np.float32(-half - 1)), float(step * np.float32(half))
    low, high, count = min(low, 0.0), max(high, 0.0), largest - least
    scale = (high - low) / count
    if np.float32(scale) == 0 or np.isinf(np.float32(1) / np.float32(scale)):
        scale = 0.1
    if scale < _LEAST_SCALE:
        widened = _LEAST_SCALE / scale
        low, high, scale = low * widened, high * widened, _LEAST_SCALE
    below = abs(least) - abs(low / scale) < abs(largest) - abs(high / scale)
    zero = (least + largest) / 2 if both else least - low / scale if below else largest - high / scale
    nearest = np.round(min(max(zero, least), largest))
    return Quantization(scale, -2**31 if np.isnan(nearest) else int(nearest))        # the int that C++ makes of nan
