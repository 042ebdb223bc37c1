"""What kernels say of types of 16 and of 8 bits: which arguments are numbers of a type, and whether steps are rounded.

A kernel receives bfloat16 and the floats of 8 bits as float32, so it cannot convert its options to these types. Here
kernels say which of their arguments are such numbers, and the numbers are converted before the kernel is called. A
kernel that rounds each of its steps says so, too, and receives bfloat16 as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import NARROW, Array, is_half
from ..foundations.scalars import converted, rounded_to

_Kernel = Callable[..., Any]

# Kernels of an array and a Python number that round the number to the narrow type of the array.
_ROUNDING: set[_Kernel] = set()
# The places of options among the arguments of a kernel, and whether complex options make complex results instead.
_CONVERTING: dict[_Kernel, tuple[tuple[int, ...], bool]] = {}
# Kernels that round each of their steps to a type of 16 bits.
_STEPWISE: set[_Kernel] = set()
# Rules for which PyTorch has one kernel.
_ONCE: set[_Kernel] = set()


def rounds_number(kernel: _Kernel) -> _Kernel:
    """Have a kernel of an array and a Python number take the number as PyTorch's takes a tensor of one number."""
    _ROUNDING.add(kernel)
    return kernel


def converts(*places: int, complex_stays: bool = False) -> Callable[[_Kernel], _Kernel]:
    """Have a kernel take the options at these places as numbers of the type of the arrays. None stays None.

    If `complex_stays`, so does a complex number, which makes the result complex.
    """

    def stated(kernel: _Kernel) -> _Kernel:
        _CONVERTING[kernel] = places, complex_stays
        return kernel

    return stated


def rounds_steps(kernel: _Kernel) -> _Kernel:
    """Have a kernel receive bfloat16 as it is: PyTorch's rounds each step, or some of them, or computes in float32."""
    _STEPWISE.add(kernel)
    return kernel


def rounds_once(rule: _Kernel) -> _Kernel:
    """Have a rule for a gradient of 16 bits compute in float32, and round once: PyTorch has a kernel for the rule."""
    _ONCE.add(rule)
    return rule


def is_rounded_once(rule: _Kernel) -> bool:
    """Whether a rule computes gradients of 16 bits in float32."""
    return rule in _ONCE


def takes_narrow(kernel: _Kernel, dtype: np.dtype[Any] | None) -> bool:
    """Whether a kernel receives arrays of a narrow type as they are."""
    return dtype is not None and kernel in _STEPWISE and is_half(dtype)


def in_narrow(kernel: _Kernel, args: Sequence[Any], dtype: np.dtype[Any] | None) -> Sequence[Any]:
    """The arguments of a kernel with its numbers rounded to a narrow type. Other types change nothing."""
    if dtype is None or dtype not in NARROW:
        return args
    if kernel in _ROUNDING and isinstance(args[1], (int, float)):
        args = [args[0], float(np.asarray(float(args[1]), dtype)), *args[2:]]
    places, complex_stays = _CONVERTING.get(kernel, ((), False))
    args = [*args]
    for place in places:
        number = args[place]
        if number is not None and not (complex_stays and isinstance(number, complex)):
            args[place] = rounded_to(number, dtype)
    return args


def option(number: Any, x: Array) -> Any:
    """An option as a 0-d array of the dtype of x. Raises RuntimeError if the dtype cannot hold it."""
    return np.asarray(converted(number, x.dtype), x.dtype)
