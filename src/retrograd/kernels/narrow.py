"""Kernels on the types of ml_dtypes: bfloat16 and the floats of 8 bits.

PyTorch computes with such numbers in float32, and rounds the result once. So does this module, for any kernel that does
not round its steps: it hands the kernel float32 copies of the arrays, and rounds the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import F32, NARROW, RARE, Array, is_narrow
from .kinds import OtherArray
from .layout import copied
from .options import in_narrow, takes_narrow


def first_among(args: Sequence[Any], types: set[np.dtype[Any]]) -> np.dtype[Any] | None:
    """The first of these types among the arguments of a kernel: of an array, of an array in a list, or a dtype."""
    for arg in args:
        if isinstance(arg, (np.ndarray, np.generic)):
            if arg.dtype in types:
                return arg.dtype
        elif isinstance(arg, np.dtype):
            if arg in types:
                return arg
        elif isinstance(arg, (list, tuple)) and _of_arrays(arg):
            found = first_among(arg, types)
            if found is not None:
                return found
    return None


def rare_among(args: Sequence[Any]) -> bool:
    """Whether a rare type is among the arguments of a kernel."""
    return first_among(args, RARE) is not None


def wide(arg: Any) -> Any:
    """An argument of a kernel with float32 in place of a narrow type: an array, a list of arrays, or a dtype."""
    if isinstance(arg, (np.ndarray, np.generic)):
        return copied(np.asarray(arg), F32) if arg.dtype in NARROW else arg
    if isinstance(arg, np.dtype):
        return F32 if arg in NARROW else arg
    return [wide(part) for part in arg] if isinstance(arg, (list, tuple)) and _of_arrays(arg) else arg


def single(args: Any) -> Any:
    """Arrays of 16 or fewer bits, in lists and tuples too, in float32. Anything else as it is."""
    if isinstance(args, (list, tuple)):
        return [single(arg) for arg in args]
    return args.astype(F32) if isinstance(args, (np.ndarray, np.generic)) and is_narrow(args.dtype) else args


def _of_arrays(parts: Sequence[Any]) -> bool:
    """Whether a list holds arrays, perhaps with other things between them. Lists of numbers may be long."""
    return any(isinstance(part, np.ndarray) for part in parts[:8])


def _target(args: Sequence[Any]) -> np.dtype[Any] | None:
    """The type of the results of a kernel that returns float32: the dtype among the arguments, or a narrow operand's.
    """
    found = None
    for arg in args:
        if isinstance(arg, np.dtype):
            return arg
        parts = arg if isinstance(arg, (list, tuple)) else (arg,)
        found = found or next((a.dtype for a in parts if isinstance(a, np.ndarray) and a.dtype in NARROW), None)
    return found


def _beside_float32(args: Sequence[Any]) -> bool:
    """Whether an operand with dimensions is float32, beside narrow ones."""
    return any(isinstance(arg, np.ndarray) and arg.dtype is F32 and arg.ndim for arg in args)


def rounded(result: Array, dtype: np.dtype[Any]) -> Any:
    """A float32 result in its own type, also a sparse one. Any other result, such as indices, stays as it is."""
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype == F32:
        return copied(np.asarray(result), dtype)
    if isinstance(result, OtherArray) and result.dtype == F32:
        return result.with_values(copied(result.values, dtype))
    return result


def write_in_float32(into: Callable[..., Any], *args: Any) -> None:
    """Call a kernel that writes over its first argument, and round what it wrote."""
    target, options = args[0], in_narrow(into, args, args[0].dtype)[1:]
    if takes_narrow(into, target.dtype):
        into(target, *options)
        return
    exact = wide(target)
    into(exact, *map(wide, options))
    if exact is not target:
        np.copyto(target, exact, casting="unsafe")


def in_float32(kernel: Callable[..., Any], args: Sequence[Any], promotes: bool = False) -> Any:
    """The kernel's results if some arguments are narrow: computed in float32, and rounded once.

    Beside float32 operands with dimensions, an op that `promotes` has float32 results. Any other op rounds its first
    result to the narrow type; the others are statistics in float32.
    """
    target = _target(args)
    args = in_narrow(kernel, args, target)
    if takes_narrow(kernel, target):
        return kernel(*args)
    results = kernel(*map(wide, args))
    if target is None or target not in NARROW:
        return results
    several, beside = isinstance(results, (tuple, list)), _beside_float32(args)
    if beside and promotes:
        return results
    if beside and several:
        return [rounded(results[0], target), *results[1:]]
    return [rounded(result, target) for result in results] if several else rounded(results, target)
