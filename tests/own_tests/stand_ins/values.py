"""torch.testing: random tensors, and the comparison of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .comparing import Options, compare, name_of

_INTEGERS = frozenset(("uint8", "int8", "int16", "int32", "int64"))
_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
complex_to_corresponding_float_type_map = {
    getattr(torch, whole): getattr(torch, part) for whole, part in _PARTS.items()}
float_to_corresponding_complex_type_map = {
    part: whole for whole, part in complex_to_corresponding_float_type_map.items()}


def make_tensor(*shape: Any, dtype: Any, device: Any = "cpu", low: Any = None, high: Any = None,
                requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False,
                memory_format: Any = None) -> Any:
    """A random tensor with elements from [low, high), by default from -9 to 9."""
    sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    values = _numbers(tuple(sizes), name_of(dtype), low, high)
    if exclude_zero:
        values = np.where(values == 0, np.ones((), values.dtype), values)
    apart = noncontiguous and values.size > 1
    if apart:
        values = np.repeat(values, 2, axis=-1)
    made = torch.from_numpy(np.ascontiguousarray(values).reshape(values.shape)).to(dtype)
    if apart:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.contiguous(memory_format=memory_format)
    return made.to(device).requires_grad_(requires_grad)


def _numbers(shape: tuple[int, ...], name: str, low: Any, high: Any) -> Any:
    if name == "bool":
        return np.asarray(np.random.randint(0, 2, shape)).astype(bool)
    if name in _INTEGERS:
        least = max(-9 if low is None else int(np.floor(low)), np.iinfo(name).min)
        most = min(10 if high is None else int(np.ceil(high)), np.iinfo(name).max)
        return np.asarray(np.random.randint(least, most, shape)).astype(name)
    if name not in _FLOATS and name not in _PARTS:
        raise TypeError(f"make_tensor: no values for dtype {name}")
    bounds = [-9 if low is None else low, 9 if high is None else high]
    if "16" in name:
        bounds = [max(bounds[0], -3e4), min(bounds[1], 3e4)]
    values = np.asarray(np.random.uniform(*bounds, shape))
    return values + 1j * np.random.uniform(*bounds, shape) if name in _PARTS else values


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: Any = None, atol: Any = None,
                 equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True,
                 check_layout: bool = True, check_stride: bool = False, msg: Any = None) -> None:
    """Raise AssertionError unless the values are equal within the tolerances."""
    compare(actual, expected, Options(rtol, atol, equal_nan=equal_nan, exact_dtype=check_dtype,
                                      exact_device=check_device, exact_layout=check_layout,
                                      exact_stride=check_stride))


def assert_allclose(actual: Any, expected: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = True,
                    msg: Any = "") -> None:
    """`assert_close` of values of any dtypes and devices."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, check_device=False)
