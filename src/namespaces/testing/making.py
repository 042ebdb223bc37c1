"""`make_tensor`: a tensor of random numbers of any dtype, to try functions on."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..foundations.devices import DeviceLike
from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.errors import warn
from ..foundations.limits import finfo, iinfo
from ..tensors.arguments.options import shape_of
from ..tensors.functions.creation.creation import empty, full
from ..tensors.functions.creation.random import randint


def make_tensor(*shape: Any, dtype: torch_dtype, device: DeviceLike | None, low: float | None = None,
                high: float | None = None, requires_grad: bool = False, noncontiguous: bool = False,
                exclude_zero: bool = False, memory_format: Any = None) -> Any:
    """A tensor of random numbers from `low` to `high`. Integers stay below `high`.

    Without bounds, numbers are from -9 to 9, or from 0 to 9 if the dtype is unsigned. `noncontiguous` leaves gaps in
    memory. `exclude_zero` replaces zeros by the smallest positive number. Raises ValueError for an empty range.

    >>> import retrograd as torch
    >>> torch.testing.make_tensor(2, 3, dtype=torch.int64, device="cpu").shape
    torch.Size([2, 3])
    """
    sizes = shape_of("make_tensor", shape) if shape else ()
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
                         f"noncontiguous={noncontiguous!r} and memory_format={memory_format!r}")
    gaps = noncontiguous and math.prod(sizes) > 1
    drawn = (*sizes[:-1], 2 * sizes[-1]) if gaps else sizes
    with no_grad():
        result = _drawn(drawn, dtype, device, *_bounds(dtype, low, high))
        if gaps:
            result = result[..., 1::2]
        elif memory_format is not None:
            result = result.clone(memory_format=memory_format)
        if exclude_zero:
            result[result == 0] = _least(dtype)
    result.requires_grad = requires_grad
    return result


def _bounds(dtype: torch_dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds to draw between, within the range of the dtype."""
    least, most = {"b": (0, 2), "u": (0, 10), "i": (-9, 10)}.get(dtype.kind, (-9, 9))
    low, high = least if low is None else low, most if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    inexact = dtype.is_floating_point or dtype.is_complex
    if inexact and low == high:
        warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
             "and will be removed in 2.3. Use `torch.full(...)` instead.", FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    bottom, top = _limits(dtype)
    if low > top or high < bottom:
        raise ValueError(f"The value interval [{low}, {high}] has no overlap with that of {dtype}, [{bottom}, {top}]")
    low, high = max(low, bottom), min(high, top)
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))


def _limits(dtype: torch_dtype) -> tuple[Any, Any]:
    """The smallest and the greatest number of the dtype; for integers 1 more than the greatest."""
    if dtype.kind == "b":
        return 0, 2
    if dtype.kind in "iu":
        integers = iinfo(dtype)
        return integers.min, integers.max + 1
    floats = finfo(dtype)
    return floats.min, floats.max


def _drawn(shape: tuple[int, ...], dtype: torch_dtype, device: DeviceLike | None, low: Any, high: Any) -> Any:
    if not (dtype.is_floating_point or dtype.is_complex):
        return randint(low, min(high, 2**63 - 1), shape, dtype=dtype, device=device)
    if low == high:
        return full(shape, low, dtype=dtype, device=device)
    result = empty(shape, dtype=dtype, device=device)
    numbers = result.view(dtype.to_real()) if dtype.is_complex else result
    if math.isfinite(high - low) and high - low <= finfo(numbers.dtype).max:
        numbers.uniform_(low, high)
    else:                                                    # the dtype cannot hold the width, but half of it
        numbers.uniform_(low / 2, high / 2).mul_(2)
    return result


def _least(dtype: torch_dtype) -> Any:
    """The replacement of an unwanted 0."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return 1
    tiny = finfo(dtype).tiny
    return complex(tiny, tiny) if dtype.is_complex else tiny
