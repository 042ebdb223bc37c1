"""Arrays with those methods of tensors in which formulas of whole parameters are written.

Such a formula looks at numbers, so no code can be written from it (see `quick_code`). It computes with tensors, and can
be recorded, or with `Elements`, which cost little more than their arithmetic. Both round alike. This module must not
know any single optimizer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..foundations.dtypes import Array, dtype
from ..kernels.elementwise import arithmetic as kernels
from ..kernels.elementwise.choosing import limited
from ..kernels.elementwise.elementary import rsqrt
from ..kernels.linalg.matrix import bmm, mm
from ..kernels.linalg.norms import norm
from ..kernels.sums import mean_dim
from .stepping import numbers


class Elements:
    """The elements of an array of floats. Methods whose name ends in "_" write over the array, and return the object.

    Operands have the same dtype, or are Python numbers. `writes` counts the writes to the array.
    Only NumPy computes with such objects, so they are made only while no transform is on the seam.
    """

    __slots__ = ("array", "writes")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.writes = 0

    def _operand(self, other: Any) -> Any:
        return other.array if type(other) is Elements else numbers(self.array.dtype, other)[0]

    def __neg__(self) -> Elements:
        return Elements(np.negative(self.array))

    def add(self, other: Any, alpha: float = 1) -> Elements:
        if alpha != 1:
            return Elements(kernels.add_scaled(self.array, other.array, alpha))
        return Elements(np.add(self.array, self._operand(other)))

    def add_(self, other: Elements, alpha: float = 1) -> Elements:
        self.writes += 1
        if alpha != 1:
            kernels.add_scaled(self.array, other.array, alpha, out=self.array)
        else:
            np.add(self.array, self._operand(other), out=self.array)
        return self

    def mul(self, other: Elements) -> Elements:
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

    @property
    def ndim(self) -> int:
        ndim: int = self.array.ndim
        return ndim

    @property
    def dtype(self) -> dtype:
        return dtype.of[self.array.dtype]

    def size(self, dim: int) -> int:
        return int(self.array.shape[dim])

    def numel(self) -> int:
        size: int = self.array.size
        return size

    def item(self) -> float:
        value: float = self.array.item()
        return value

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
