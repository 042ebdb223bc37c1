"""Tensors of evenly spaced numbers and of indices: `arange`, `linspace`, `logspace`, `tril_indices`, `triu_indices`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.devices import DeviceLike
from ....foundations.dtypes import (
    C_NAMES,
    I64,
    RARE,
    default_complex,
    default_floating,
    dtype as torch_dtype,
    is_half,
    unimplemented,
)
from ....foundations.errors import kind_of, noted, warn
from ....foundations.scalars import check_convertible, check_double
from ....kernels import ranges as kernels
from ....ops.basic import beyond
from ...arguments.options import element_type, layout as Layout, made, number, strided
from ...recording.out_rules import CONSTANT, COUNT_NOTICE, rule
from ...recording.public import public
from ...state.base import TensorBase, moves, numbers_in
from ...transforms.batched import is_batch

_OPTIONS = ("dtype dtype=None, layout layout=None, device device=None, bool pin_memory=False, "
            "bool requires_grad=False)")


@public(
    f"arange(Number end, *, Tensor out=None, {_OPTIONS}", f"arange(Number start, Number end, *, {_OPTIONS}",
    f"arange(Number start, Number end, Number step=1, *, Tensor out=None, {_OPTIONS}",
    out=rule(gradient=CONSTANT, typed=True, any_shape=True, notice=COUNT_NOTICE),
    event="aten::arange")
def arange(start: Any = None, end: Any = None, step: Any = 1, *, dtype: torch_dtype | None = None,
           layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
           requires_grad: bool = False) -> TensorBase:
    """A 1-d tensor of the numbers from `start` up to `end`, without `end`, in steps of `step`.

    `arange(end)` starts at 0. The dtype is `dtype`; by default int64 if all three are integers, else the default float
    dtype. Raises RuntimeError if the step is 0 or leads away from `end`.

    >>> import retrograd as torch
    >>> torch.arange(1, 2.5, 0.5)
    tensor([1.0000, 1.5000, 2.0000])
    """
    if type(start) is int and end is None and type(step) is int and step == 1 and dtype is None and start >= 0:
        return made(np.arange(start, dtype=I64), device, requires_grad)     # the most frequent call
    positions = 1, 2, 3
    if end is None:
        if start is None:
            raise TypeError("arange() takes an end")
        start, end, positions = 0, start, (0, 1, 2)
    elif start is None:
        start = 0
    bounds = [number("arange", *facts) for facts in zip(("start", "end", "step"), positions, (start, end, step))]
    if dtype is not None:
        target = element_type("arange", dtype)
    else:
        target = I64 if all(isinstance(bound, int) for bound in bounds) else default_floating()
    if target.kind in "bc" or (target in RARE and not is_half(target)):
        raise unimplemented("arange_cpu", target)
    for bound in bounds:
        check_double(bound)
    first, last, stride = bounds
    count = kernels.arange_length(first, last, stride, target)
    return made(kernels.arange(first, stride, count, target), device, requires_grad)


@public(
    out=rule(gradient=CONSTANT, typed=True, any_shape=True, notice=COUNT_NOTICE))
def range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: torch_dtype | None = None, layout: Layout = strided,
          device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """The deprecated form of `arange`. It makes floats, and `end` may be the last number. Raises a UserWarning."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
         "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).", UserWarning)
    first, last, stride = [number("range", *facts) for facts in zip(("start", "end", "step"), (1, 2, 3),
                                                                    (start, end, step))]
    target = element_type("range", dtype)
    if target.kind in "bc":
        raise unimplemented("range_cpu", target)
    for bound in (first, last, stride):
        check_convertible(bound, kernels.accumulating_range(target))
    if not stride:
        raise RuntimeError("step must be nonzero")
    if (last - first) * stride < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = int((last - first) / stride) + 1
    return made(kernels.arange(first, stride, count, target), device, requires_grad)


_ENDS = ("Tensor start, Tensor end", "Number start, Tensor end", "Tensor start, Number end", "Number start, Number end")


def _bound(name: str, which: str, position: int, bound: Any) -> Any:
    """A bound as a number; or the array of a tensor of which each sample has its own number."""
    if isinstance(bound, TensorBase):
        if moves(bound):
            raise noted(
                NotImplementedError(f"Trying to use forward AD with aten::{name} that does not support it."),
                instead=f"pass {which}.detach(), since the numbers have no derivatives")
        if is_batch(bound._array):
            return bound._array
        bound = numbers_in(bound)
    return number(name, which, position, bound)


def _ends(name: str, start: Any, end: Any, steps: Any,
          dtype: torch_dtype | None) -> tuple[Any, Any, int, np.dtype[Any]]:
    """The checked bounds and number of steps of `linspace` or `logspace`, and the dtype of the result."""
    given = [(which, bound._array.ndim) for which, bound in (("start", start), ("end", end))
             if isinstance(bound, TensorBase)]
    if any([ndim for _, ndim in given]):
        found = " and ".join([f"{which} with {ndim} dimension(s)" for which, ndim in given])
        raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {found}.")
    ends = _bound(name, "start", 1, start), _bound(name, "end", 2, end)
    if isinstance(steps, float) or not hasattr(steps, "__index__"):
        raise TypeError(f"{name}() received an invalid combination of arguments - steps must be int, not "
                        f"{kind_of(steps)}")
    if steps < 0:
        raise noted(RuntimeError("number of steps must be non-negative"), because=f"not {steps}")
    is_complex = any(isinstance(bound, complex) or (is_batch(bound) and bound.dtype.kind == "c") for bound in ends)
    if dtype is None:
        target = default_complex() if is_complex else default_floating()
    else:
        target = element_type(name, dtype)
        if is_complex and target.kind != "c":
            inferred, passed = C_NAMES[default_complex().name], torch_dtype.of[target].legacy
            raise RuntimeError(f"torch.{name}(): inferred dtype {inferred} can't be safely cast to passed dtype "
                               f"{passed}")
    if target.kind == "b" and steps > 1:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return ends[0], ends[1], int(steps), target


def _between(low: Any, high: Any, spaced: Callable[[Any, Any], Any]) -> Any:
    """The numbers between two ends, for each sample if an end differs by sample."""
    if is_batch(low) and is_batch(high):
        return beyond(lambda first, last: spaced(first.item(), last.item()), low, high)
    if is_batch(low):
        return beyond(lambda first: spaced(first.item(), high), low)
    if is_batch(high):
        return beyond(lambda last: spaced(low, last.item()), high)
    return spaced(low, high)


@public(
    *[f"linspace({ends}, int steps, *, Tensor out=None, {_OPTIONS}" for ends in _ENDS],
    out=rule(gradient=CONSTANT, typed=True, any_shape=True, notice=""), event="aten::linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: torch_dtype | None = None, layout: Layout = strided,
             device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False) -> TensorBase:
    """A 1-d tensor of `steps` evenly spaced numbers. The first is `start`, and the last is `end`.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError if `steps` is negative.

    >>> import retrograd as torch
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    low, high, count, target = _ends("linspace", start, end, steps, dtype)
    numbers = _between(low, high, lambda first, last: kernels.linspace(first, last, count, target))
    return made(numbers, device, requires_grad)


@public(
    *[f"logspace({ends}, int steps, float base=10.0, *, Tensor out=None, {_OPTIONS}" for ends in _ENDS],
    out=rule(gradient=CONSTANT, typed=True, any_shape=True, notice=""), event="aten::logspace")
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: torch_dtype | None = None,
             layout: Layout = strided, device: DeviceLike | None = None, pin_memory: bool = False,
             requires_grad: bool = False) -> TensorBase:
    """A 1-d tensor of `base` to the power of `steps` evenly spaced numbers from `start` to `end`.

    The dtype is `dtype`, or the default float dtype. Raises RuntimeError if `steps` is negative.
    """
    low, high, count, target = _ends("logspace", start, end, steps, dtype)
    power = number("logspace", "base", 4, base, "float")
    numbers = _between(low, high, lambda first, last: kernels.logspace(first, last, count, power, target))
    return made(numbers, device, requires_grad)


@public(
    "tril_indices(int row, int col, int offset=0, *, dtype dtype=None, layout layout=None, device device=None, bool "
    "pin_memory=None, bool requires_grad=False)",
    strict=True)
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: torch_dtype | None = None,
                 device: DeviceLike | None = None, layout: Layout = strided, pin_memory: bool = False,
                 requires_grad: bool = False) -> TensorBase:
    """The rows and the columns, as (2, n), of the elements on and below a diagonal of a (row, col) matrix.

    The dtype is `dtype`, or int64. Raises RuntimeError for a negative size.
    """
    return _indices(np.tril_indices, row, col, offset, dtype, device, requires_grad)


@public(
    "triu_indices(int row, int col, int offset=0, *, dtype dtype=None, layout layout=None, device device=None, bool "
    "pin_memory=None, bool requires_grad=False)",
    strict=True)
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: torch_dtype | None = None,
                 device: DeviceLike | None = None, layout: Layout = strided, pin_memory: bool = False,
                 requires_grad: bool = False) -> TensorBase:
    """The rows and the columns, as (2, n), of the elements on and above a diagonal of a (row, col) matrix.

    The dtype is `dtype`, or int64. Raises RuntimeError for a negative size.
    """
    return _indices(np.triu_indices, row, col, offset, dtype, device, requires_grad)


def _indices(indices: Any, row: int, col: int, offset: int, dtype: Any, device: DeviceLike | None,
             requires_grad: bool) -> TensorBase:
    for name, count in (("row", row), ("col", col)):
        if count < 0:
            raise RuntimeError(f"{name} must be non-negative, got{count}")
    target = I64 if dtype is None else element_type(indices.__name__, dtype)
    if target.kind not in "iu":
        raise unimplemented(indices.__name__, target)
    return made(np.stack(indices(row, offset, col)).astype(target), device, requires_grad)
