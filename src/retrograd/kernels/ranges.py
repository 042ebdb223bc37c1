"""Evenly spaced numbers, rounded where PyTorch rounds them.

PyTorch's loops over a range compute one AVX2 vector at a time, two vectors per iteration. The first number of each
vector is a product of its own, rounded to the result's dtype. The remaining numbers at the end are computed one by one.
Products and sums are fused. This module does the same, so its numbers have the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..foundations.dtypes import F32, F64, I64, Array, is_half
from ..foundations.errors import noted
from ..foundations.scalars import check_convertible, converted, filling
from .native.fma import multiply_add, multiply_add_arrays

_VECTOR_BYTES = 32


def accumulating_range(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type to which PyTorch converts the bounds of a range of a type."""
    return I64 if dtype.kind in "iu" else F32 if is_half(dtype) else F64


def arange_length(start: float, end: float, step: float, dtype: np.dtype[Any]) -> int:
    """How many numbers a range has. Raises RuntimeError for a step of zero, or a step in the wrong direction."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    for bound in (start, step, *((end,) if dtype == I64 else ())):
        if isinstance(bound, float):                        # a size of a trace stays unseen
            check_convertible(bound, accumulating_range(dtype))
    if (end - start) * step < 0:
        raise noted(
            RuntimeError("upper bound and lower bound inconsistent with step sign"),
            because=f"it goes from {start} to {end} by {step}")
    if dtype == np.int64:
        if int(step) == 0:
            raise noted(ValueError("step must be nonzero"), given=f"{step} is 0 as an int64")
        start, end, step = [bound if isinstance(bound, int) else int(bound) for bound in (start, end, step)]
        count = end - start if step == 1 else -((start - end) // step)           # a size of a trace notes a quotient
        return max(0, int(count))
    return max(0, math.ceil(end - start if step == 1 else (end - start) / step))


def arange(start: float, step: float, count: int, dtype: np.dtype[Any]) -> Array:
    """`count` numbers from `start` in steps of `step`. The first 32768 numbers have PyTorch's bits on any machine."""
    if dtype.kind in "iu":
        numbers: Array = (int(start) + int(step) * np.arange(count)).astype(dtype, copy=False)   # int(step) may be 0
        return numbers
    if dtype == np.float16:
        start, step = float(np.float32(start)), float(np.float32(step))
    values = np.arange(count, dtype=np.float64)
    if step != 1 or start != 0:
        values = multiply_add(values, step, start)
    width = _VECTOR_BYTES // dtype.itemsize
    body = count - count % (2 * width)
    if body and not (float(start).is_integer() and float(step).is_integer()):
        bases = _rounded(values[:body:width], dtype).astype(np.float64)
        lanes = [multiply_add_arrays(np.full(bases.shape, float(lane)), step, bases) for lane in range(width)]
        values[:body] = np.stack(lanes, axis=1).ravel()
    return _rounded(values, dtype)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """float64 rounded to `dtype`. The way to float16 goes through float32, in which PyTorch computes."""
    rounded: Array = (values.astype(np.float32) if dtype == np.float16 else values).astype(dtype)
    return rounded


def linspace(start: Any, end: Any, count: int, dtype: np.dtype[Any]) -> Array:
    """`count` numbers from `start` to `end`, both included. Each number is computed from the nearer end."""
    if count < 2:
        return np.full(count, filling(start, dtype, 1) if count else 0, dtype)
    start, end = converted(start, dtype), converted(end, dtype)
    half = count // 2
    up, down = np.arange(half), np.arange(count - 1 - half, -1, -1)
    if dtype.kind in "iu":
        step = (float(end) - float(start)) / (count - 1)
        ends = multiply_add(up.astype(float), step, start), multiply_add(down.astype(float), -step, end)
        return np.concatenate(ends).astype(dtype)
    scalar: Any = dtype.type
    low, high = scalar(start), scalar(end)
    step = (high - low) / scalar(count - 1)
    if dtype == np.float32 or dtype == np.float64:
        return np.concatenate([multiply_add(up.astype(dtype), float(step), float(low)),
                               multiply_add(down.astype(dtype), -float(step), float(high))])
    return np.concatenate([low + step * up.astype(dtype), high - step * down.astype(dtype)])


def logspace(start: Any, end: Any, count: int, base: Any, dtype: np.dtype[Any]) -> Array:
    """Powers of `base`. The exponents are evenly spaced float64 numbers between ends rounded to `dtype`."""
    if dtype.kind == "c":
        powers_of_complex: Array = np.power(dtype.type(base), linspace(start, end, count, dtype), out=...)
        return powers_of_complex
    scalar: Any = int if dtype.kind in "iu" else dtype.type
    if count < 2:
        exponents = np.full(count, float(start))    # PyTorch does not round the exponent of a single number
    else:
        low, high = scalar(converted(start, dtype)), scalar(converted(end, dtype))
        step, half = float(high - low) / (count - 1), count // 2
        up, down = np.arange(half), np.arange(count - 1 - half, -1, -1)
        exponents = np.concatenate([float(low) + step * up, float(high) - step * down])
    powers = np.array([_power(float(base), exponent) for exponent in exponents.tolist()])
    return _rounded(powers, dtype)


def _power(base: float, exponent: float) -> float:
    """The C library's power, which returns a number where Python's power raises an exception."""
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return float(np.power(base, exponent))
