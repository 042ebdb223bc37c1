"""torch.testing._internal.common_dtype: dtypes by kind, in the order in which the tests' names show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_FLOATING, _HALF = (torch.float32, torch.float64), (torch.float16,)
_COMPLEX = (torch.complex64, torch.complex128)
_INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _kind(*dtypes: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: dtypes


def _kind_and(*dtypes: Any) -> Callable[..., tuple[Any, ...]]:
    return lambda *more: dtypes + more


floating_types, floating_types_and = _kind(*_FLOATING), _kind_and(*_FLOATING)
floating_types_and_half = _kind(*_FLOATING, *_HALF)
floating_and_complex_types = _kind(*_FLOATING, *_COMPLEX)
floating_and_complex_types_and = _kind_and(*_FLOATING, *_COMPLEX)
integral_types, integral_types_and = _kind(*_INTEGRAL), _kind_and(*_INTEGRAL)
complex_types, complex_types_and = _kind(*_COMPLEX), _kind_and(*_COMPLEX)
double_types = _kind(torch.float64, torch.complex128)
all_types, all_types_and = _kind(*_FLOATING, *_INTEGRAL), _kind_and(*_FLOATING, *_INTEGRAL)
all_types_and_half = _kind(*_FLOATING, *_INTEGRAL, *_HALF)
all_types_and_complex = _kind(*_FLOATING, *_INTEGRAL, *_COMPLEX)
all_types_and_complex_and = _kind_and(*_FLOATING, *_INTEGRAL, *_COMPLEX)


def get_all_int_dtypes() -> list[Any]:
    """The integer dtypes."""
    return list(_INTEGRAL)


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[Any]:
    """The real floating dtypes."""
    return [*_FLOATING, *_HALF[:include_half], *(torch.bfloat16,)[:include_bfloat16]]


def get_all_complex_dtypes(include_complex32: bool = False) -> list[Any]:
    """The complex dtypes."""
    return list(_COMPLEX)


def get_all_math_dtypes(device: Any = None) -> list[Any]:
    """The dtypes that every operator of arithmetic takes."""
    return [*get_all_int_dtypes(), *get_all_fp_dtypes(include_half=False, include_bfloat16=False), *_COMPLEX]


def get_all_dtypes(include_half: bool = True, include_bfloat16: bool = True, include_bool: bool = True,
                   include_complex: bool = True, **others: bool) -> list[Any]:
    """All dtypes but those that are left out."""
    return [*get_all_int_dtypes(), *get_all_fp_dtypes(include_half, include_bfloat16),
            *(torch.bool,)[:include_bool], *_COMPLEX[:2 * include_complex]]
