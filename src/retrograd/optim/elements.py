"""Arrays with the methods of tensors in which optimizers write their formulas.

A formula that is written once with these methods computes with tensors, and so can be recorded, or with `Elements`,
which cost little more than their arithmetic. Both round alike. This module must not know any single optimizer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import dtype
from ..kernels.elementwise import arithmetic as kernels
from ..kernels.elementwise.choosing import limited, where_into
from ..kernels.elementwise.elementary import rsqrt, sgn
from ..kernels.linalg.matrix import bmm, mm
from ..kernels.linalg.norms import norm
from ..kernels.reductions import mean_dim
from .stepping import numbers


class Elements:
    """The elements of an array of floats. Methods whose name ends in "_" write over the array, and return the object.

    Operands have the same dtype, or are Python numbers. `writes` counts the writes to the array.
    Only NumPy computes with such objects, so they are made only while no transform is on the seam.
    """

    __slots__ = ("array", "writes")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.writes = 0

    def _operand(self, other: Any) -> Any:
        return other.array if type(other) is Elements else numbers(self.array.dtype, other)[0]

    def __neg__(self) -> Elements:
        return Elements(np.negative(self.array))

    def abs(self) -> Elements:
        return Elements(np.abs(self.array))

    def sqrt(self) -> Elements:
        return Elements(np.sqrt(self.array))

    def reciprocal(self) -> Elements:
        return Elements(kernels.reciprocal(self.array))

    def add(self, other: Any, alpha: float = 1) -> Elements:
        if alpha != 1:
            return Elements(kernels.add_scaled(self.array, other.array, alpha))
        return Elements(np.add(self.array, self._operand(other)))

    def add_(self, other: Any, alpha: float = 1) -> Elements:
        self.writes += 1
        if alpha != 1:
            kernels.add_scaled(self.array, other.array, alpha, out=self.array)
        else:
            np.add(self.array, self._operand(other), out=self.array)
        return self

    def sub(self, other: Any) -> Elements:
        return Elements(np.subtract(self.array, self._operand(other)))

    def mul(self, other: Any) -> Elements:
        return Elements(np.multiply(self.array, self._operand(other)))

    def mul_(self, other: Any) -> Elements:
        self.writes += 1
        np.multiply(self.array, self._operand(other), out=self.array)
        return self

    def div(self, other: Any) -> Elements:
        return Elements(np.divide(self.array, self._operand(other)))

    def lerp_(self, end: Elements, weight: float) -> Elements:
        self.writes += 1
        kernels.lerp_number(self.array, end.array, weight, out=self.array)
        return self

    def addcmul(self, first: Elements, second: Elements, value: float = 1) -> Elements:
        return Elements(kernels.addcmul(self.array, first.array, second.array, value))

    def addcmul_(self, first: Elements, second: Elements, value: float = 1) -> Elements:
        self.writes += 1
        kernels.addcmul(self.array, first.array, second.array, value, out=self.array)
        return self

    def addcdiv_(self, first: Elements, second: Elements, value: float = 1) -> Elements:
        self.writes += 1
        kernels.addcdiv(self.array, first.array, second.array, value, out=self.array)
        return self

    def copy_(self, other: Elements) -> Elements:
        self.writes += 1
        np.copyto(self.array, other.array)
        return self

    def maximum(self, other: Elements) -> Elements:
        return Elements(np.maximum(self.array, other.array))

    def clamp_(self, low: float, high: float) -> Elements:
        self.writes += 1
        limited(self.array, low, high, out=self.array)
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def ndim(self) -> int:
        ndim: int = self.array.ndim
        return ndim

    @property
    def dtype(self) -> dtype:
        return dtype.of[self.array.dtype]

    def size(self, dim: int) -> int:
        return self.shape[dim]

    def numel(self) -> int:
        size: int = self.array.size
        return size

    def item(self) -> float:
        value: float = self.array.item()
        return value

    def new_ones(self, shape: tuple[int, ...]) -> Elements:
        return Elements(np.ones(shape, self.array.dtype))

    def sign(self) -> Elements:
        return Elements(sgn(self.array))

    def gt(self, other: float) -> Elements:
        return Elements(np.greater(self.array, self._operand(other)))

    def lt(self, other: float) -> Elements:
        return Elements(np.less(self.array, self._operand(other)))

    def masked_fill(self, mask: Elements, value: float) -> Elements:
        return Elements(where_into(self.array.copy(), mask.array, value))

    def square(self) -> Elements:
        return Elements(np.square(self.array))

    def rsqrt(self) -> Elements:
        return Elements(rsqrt(self.array))

    def clamp(self, min: float) -> Elements:
        return Elements(limited(self.array, min, math.inf))

    # Of whole arrays

    def norm(self, p: float, dim: int | None = None, keepdim: bool = False) -> Elements:
        axes = tuple(range(self.ndim)) if dim is None else (dim % self.ndim,)
        return Elements(norm(self.array, p, axes, keepdim, None))

    def mean(self, dim: int, keepdim: bool) -> Elements:
        return Elements(mean_dim(self.array, (dim % self.ndim,), keepdim, None))

    def matmul(self, other: Elements) -> Elements:
        return Elements((mm if self.ndim == 2 else bmm)(self.array, other.array))
