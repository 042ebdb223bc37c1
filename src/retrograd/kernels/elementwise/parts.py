"""Elementwise functions of large arrays: in parts on several threads, and in blocks.

A number of the result depends only on the numbers in its own place, so the parts together have the bits of one call.
Callers compare the size of an array with `PARTS` first, so small arrays pay nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ..native import threads
from ..native.heap import LARGE, new_array
from ..native.served import served
from ..thresholds import FORMULA_BLOCK, FORMULA_FAR_BYTES, MOVED_COST, PAIRS

# Nanoseconds for each byte of the result: of the function, and of its derivative, which is 0 if it is not a formula.
_COSTS: dict[Any, tuple[float, float]] = {
    np.sin: (0.3, 0.4), np.cos: (0.3, 0.4), np.tan: (0.15, 0.1), np.sinh: (0.15, 0.2), np.cosh: (0.15, 0.2),
    np.tanh: (0.07, 0.1), np.arcsin: (0.15, 0.2), np.arccos: (0.15, 0.2), np.arctan: (0.15, 0.1),
    np.arcsinh: (0.2, 0.2), np.arccosh: (0.2, 0.3), np.arctanh: (0.15, 0.1), np.exp: (0.13, 0.0),
    np.expm1: (0.13, 0.05), np.log: (0.12, 0.0), np.log2: (0.13, 0.0), np.log10: (0.13, 0.0), np.sqrt: (0.08, 0.0),
}


# Derivatives that are one ufunc of the cotangent and of a saved value, by kernel.
_SINGLE: dict[Any, np.ufunc] = {np.multiply: np.multiply, np.exp: np.multiply, np.log: np.divide}
# Functions of two arrays whose time is that of the memory.
_PAIRS = frozenset((np.add, np.subtract, np.multiply, np.divide))
# The costs of the derivatives of kernels that are formulas.
_RULES: dict[Any, float] = {ufunc: cost for ufunc, (_, cost) in _COSTS.items() if cost}


def in_parts(kernel: Any) -> Callable[..., Any] | None:
    """The function that calls a kernel with `out=...` on large arrays, in parts; None if parts are not quicker."""
    cost, _ = _COSTS.get(kernel, (0.0, 0.0))
    return partial(_served, kernel, cost) if cost else None


def pair_in_parts(kernel: Any) -> Callable[..., Any] | None:
    """The function that calls a kernel of two arrays on large ones, as `in_parts` does for one; None for others."""
    return partial(_served_pair, kernel) if kernel in _PAIRS else None


def rule_in_parts(kernel: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    """The function that applies a rule of an elementwise operator with this kernel to a large cotangent."""
    if kernel in _SINGLE:
        return partial(_served_pair, _SINGLE[kernel])
    cost = _RULES.get(kernel)
    return rule if cost is None else partial(served_or_in_blocks, rule, rule, cost)


def served_or_in_blocks(kernel: Callable[..., Any], formula: Callable[..., Any], cost: float, *values: Any) -> Any:
    """A kernel or rule by machine code, or its formula in blocks."""
    found = served(kernel, *values)
    return in_blocks(formula, cost, *values) if found is None else found


def note_kernel(kernel: Callable[..., Any], cost: float, rule: float) -> None:
    """Note the costs of a kernel with the keyword `out` and of its derivative, for `in_parts` and `rule_in_parts`."""
    _COSTS[kernel], _RULES[kernel] = (cost, rule), rule


def note_rule(kernel: Any, cost: float) -> None:
    """Note the cost of the derivative of a kernel, for `rule_in_parts`."""
    _RULES[kernel] = cost


def _served(ufunc: Any, cost: float, x: Array, out: Array | EllipsisType = ...) -> Any:
    """A function of one array by machine code, or in parts."""
    found = served(ufunc, x) if out is ... else None
    return _called(ufunc, cost, x, out=out) if found is None else found


def _served_pair(ufunc: Any, x: Array, y: Array, out: EllipsisType = ...) -> Any:
    """A function of two arrays, or of an array and a number, by machine code or in parts if the arrays are large."""
    if x.size < PAIRS:
        return ufunc(x, y, out=...)
    if not y.ndim:
        y = np.broadcast_to(y, x.shape)
    found = served(ufunc, x, y)
    return _called(ufunc, MOVED_COST, x, y) if found is None else found


def _called(ufunc: Any, cost: float, *arrays: Any, out: Array | EllipsisType = ...) -> Any:
    x = arrays[0]
    if not (_shared(x, cost) or x.nbytes >= LARGE) or not _alike(arrays if out is ... else (*arrays, out)):
        return ufunc(*arrays, out=out)
    result = new_array(x.shape, x.dtype) if out is ... else out
    whole, *flat = (a.reshape(-1) for a in (result, *arrays))

    def work(start: int, stop: int) -> None:
        ufunc(*[a[start:stop] for a in flat], out=whole[start:stop])

    threads.in_parts(work, whole.size, cost * x.nbytes)
    return result


# The sum of two large arrays, written to `out`, which may be one of them.
add = partial(_called, np.add, MOVED_COST)


def in_blocks(formula: Callable[..., Any], cost: float, x: Array, *others: Any) -> Any:
    """`formula(x, *others)`, a formula with temporaries of arrays and options, of a cost for each byte of x."""
    arrays = [x, *[a for a in others if type(a) is np.ndarray]]
    if not (_shared(x, cost) or x.nbytes >= FORMULA_FAR_BYTES) or not _alike(arrays):
        return formula(x, *others)
    result = new_array(x.shape, x.dtype)
    whole, *flat = (a.reshape(-1) if type(a) is np.ndarray else a for a in (result, x, *others))

    def work(start: int, stop: int) -> None:
        for block in threads.blocks(start, stop, FORMULA_BLOCK):
            whole[block] = formula(*[a[block] if type(a) is np.ndarray else a for a in flat])

    threads.in_parts(work, whole.size, cost * x.nbytes)
    return result


def _shared(x: Array, cost: float) -> bool:
    """Whether the work is enough for several threads."""
    return bool(x.nbytes * cost >= 2 * threads.ENOUGH and threads.available() > 1)


def _alike(arrays: Sequence[Any]) -> bool:
    """Whether all arrays hold floats of one type that lie alike, row by row, or are one number repeated."""
    first = arrays[0]
    return (first.dtype is F32 or first.dtype is F64) and all([
        type(a) is np.ndarray and a.dtype is first.dtype and a.shape == first.shape and (
            a.flags.c_contiguous or not any(a.strides)) for a in arrays])
