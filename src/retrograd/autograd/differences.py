"""Finite differences of a Python function of tensors: the reference values of gradcheck.

The differences are central. The function runs after a write to the memory of an input, which is then restored; no
version counter changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import Array, dtype, letter
from ..foundations.errors import noted
from ..tensors.arguments.size import Size
from ..tensors.state.base import TensorBase


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple or a list as a tuple; any other value as a tuple of one element."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_float(tensor: TensorBase) -> bool:
    """Whether the value is a tensor of floating-point or complex numbers."""
    return isinstance(tensor, TensorBase) and letter(tensor._array.dtype) in "fc"


def matrices(func: Callable, inputs: Sequence[Any], x: TensorBase, eps: float) -> list[Array]:
    """The Jacobian of each floating-point output by the input `x`, with one row for each element of x.

    For a complex x and real outputs, a row is d/d(real part) + i d/d(imaginary part), as a gradient is.
    """
    rows = []
    for index in np.ndindex(x._array.shape):
        entry = x._array[(*index, ...)]
        columns = _slopes(func, inputs, entry, eps, eps, f"on index {index} ")
        if x._array.dtype.kind == "c":
            imaginary = _slopes(func, inputs, entry, eps * 1j, eps, f"on index {index} ")
            columns = [real + 1j * imag for real, imag in zip(columns, imaginary)]
        rows.append(columns)
    if rows:
        return [np.stack([row[i] for row in rows]) for i in range(len(rows[0]))]
    outputs = [o._array for o in as_tuple(func(*inputs)) if is_float(o)]
    return [np.zeros((0, o.size), o.dtype) for o in outputs]


def directional(func: Callable, inputs: Sequence[Any], x: TensorBase, direction: Any, eps: float) -> list[Array]:
    """The derivative of each floating-point output along a direction in x.

    The direction is an array like x. For a complex x it is two real arrays; the second one lies along the imaginary
    axis.
    """
    if x._array.dtype.kind != "c":
        return _slopes(func, inputs, x._array, direction * eps, eps, "")
    real, imaginary = direction
    along, across = (_slopes(func, inputs, x._array, step * eps, eps, "") for step in (real, imaginary * 1j))
    return [a + 1j * b for a, b in zip(along, across)]


def _slopes(func: Callable, inputs: Sequence[Any], entry: Array, step: Any, length: float, where: str) -> list[Array]:
    """The rate of change of each output, as a row, while `entry` (a part of an input's memory) moves along `step`."""
    before = entry.copy()
    try:
        entry[...] = before - step
        low = _outputs(func, inputs)
        entry[...] = before + step
        high = _outputs(func, inputs)
    finally:
        entry[...] = before
    for a, b in zip(low, high):
        shapes, dtypes = (Size(a.shape), Size(b.shape)), (dtype.of[a.dtype], dtype.of[b.dtype])
        for what, (was, became) in (("shape", shapes), ("dtype", dtypes)):
            if was != became:
                raise noted(
                    AssertionError(f"Expected `func` to return outputs with the same {what} when inputs are "
                                   f"perturbed {where}by {length}, but got: {what}s {was} and {became}."),
                    "gradcheck#different-outputs")
    with np.errstate(all="ignore"):
        return [((b - a) / (2 * length)).astype(a.dtype, copy=False).reshape(-1) for a, b in zip(low, high)]


def _outputs(func: Callable, inputs: Sequence[Any]) -> list[Array]:
    """Copies of the floating-point outputs. A function may return its input, or a view of it."""
    return [o._array.copy() for o in as_tuple(func(*inputs)) if is_float(o)]
