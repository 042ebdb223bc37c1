"""What a Python number becomes in an element type, as PyTorch converts a Scalar, and the errors if it cannot.

An operator converts its options so: `alpha`, `value`, limits, fill values. Operands are promoted by other rules.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .dtypes import C_NAMES, EIGHT_BITS, F32, F64, dtype as torch_dtype, float8_e5m2, float8_e8m0fnu, is_half, letter
from .errors import noted
from .limits import largest_float

# All floating-point and complex types but the floats of 8 bits hold the numbers up to this one.
COMMON = 65504.0
_OF_FLOATS = "fc"

# PyTorch's names of the types, in its messages about a number that does not fit.
_NAMES = {**C_NAMES, "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t",
          "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t"}


class _Limits(NamedTuple):
    """The numbers of a type: from `least` to `most`, and perhaps infinities. `unsigned` types have no negative ones."""

    least: Any
    most: Any
    infinite: bool
    unsigned: bool


@cache
def _limits(dtype: np.dtype[Any]) -> _Limits:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return _Limits(int(limits.min), int(limits.max), False, dtype.kind == "u")
    of = torch_dtype.of[dtype].to_real()
    most = largest_float(of)
    if of is float8_e8m0fnu:                                # which has neither a sign nor a zero
        return _Limits(1 / most, most, False, True)
    return _Limits(-most, most, of is float8_e5m2 or of not in EIGHT_BITS, False)


def beyond_64_bits(number: int) -> OverflowError:
    """The error for an int that 64 bits do not hold. PyTorch raises it when it reads the arguments of a call."""
    said = "int too big to convert" if number > 0 else "can't convert negative int to unsigned"
    return noted(OverflowError(said), because="a number has at most 64 bits")


def overflows(number: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a type cannot hold a Python number. An unsigned type takes -1 for its largest value."""
    kind = letter(dtype)
    if kind == "b":
        return False
    limits = _limits(dtype)
    if isinstance(number, complex):
        return (kind != "c" and number.imag != 0) or _beyond(number.real, limits) or _beyond(number.imag, limits)
    return _beyond(number, limits)


def _beyond(number: Any, limits: _Limits) -> bool:
    if not isinstance(number, float):
        return not (-limits.most if limits.unsigned else limits.least) <= number <= limits.most
    if math.isfinite(number):
        return not limits.least <= number <= float(limits.most)
    return isinstance(limits.most, int) if math.isnan(number) else not limits.infinite


def check_convertible(number: Any, dtype: np.dtype[Any]) -> None:
    """Raise RuntimeError if a type cannot hold a Python number, OverflowError if 64 bits cannot."""
    if dtype.kind in _OF_FLOATS and not isinstance(number, complex) and (
            -COMMON <= number <= COMMON or (type(number) is float and not math.isfinite(number))):
        return
    if isinstance(number, int) and not -2**63 <= number < 2**64:
        raise beyond_64_bits(number)
    if overflows(number, dtype):
        raise noted(
            RuntimeError(f"value cannot be converted to type {_NAMES[dtype.name]} without overflow"),
            given=f"{number!r}")


def check_double(number: Any) -> None:
    """Raise RuntimeError for a number that is not real, where PyTorch converts a number to a C double."""
    if isinstance(number, complex):
        check_convertible(number, F64)


def converted(number: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as a number of a type. Raises RuntimeError if the type cannot hold the number.

    Integers lose fractions, and take negative numbers of an unsigned type modulo its size. Floats are not rounded.
    """
    own = type(number)
    if own is float or own is int:                          # the usual numbers of the usual types
        if dtype.kind in _OF_FLOATS:
            if -COMMON <= number <= COMMON:
                return number
        elif own is int and dtype.kind in "iu" and 0 <= number <= 127:
            return number
    check_convertible(number, dtype)
    kind = letter(dtype)
    if kind == "b":
        return bool(number)
    if kind != "c" and isinstance(number, complex):
        number = number.real
    if kind in "iu":
        whole, least, size = int(number), _limits(dtype).least, 1 << 8 * dtype.itemsize
        return (whole - least) % size + least
    return float(number) if not isinstance(number, (float, complex)) and number >= 2**63 else number


def accumulated(number: Any, dtype: np.dtype[Any]) -> Any:
    """A number in the type in which PyTorch's kernels compute for a floating-point type: float32 for halves."""
    if type(number) is float and -COMMON <= number <= COMMON:
        return number
    return converted(number, F32 if is_half(dtype) else dtype)


def rounded_to(number: Any, dtype: np.dtype[Any]) -> Any:
    """`converted`, and rounded to the type."""
    return np.asarray(converted(number, dtype), dtype).item()


def filling(number: Any, dtype: np.dtype[Any], size: int) -> Any:
    """`converted`, to fill a tensor of so many elements with the number.

    The single element of a narrow float type gets the number by way of double, so that a large number is infinite.
    """
    if size != 1 or dtype.itemsize > 2 or letter(dtype) != "f":
        return converted(number, dtype)
    number = converted(number, F64)
    if -COMMON <= number <= COMMON:
        return number
    with np.errstate(all="ignore"):
        return float(np.float64(number).astype(dtype))
