"""Replace one view of a tensor: in a copy (`select_scatter` and similar), or in the tensor itself.

Each function takes the options of the function that makes the view. Must not know how a view is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....foundations.errors import noted
from ....kernels.layout import dense_strides, empty_strided, steps
from ....ops.indexing import indexing as ops
from ...arguments.dims import array_of, as_int, axis_of, bounds
from ...arguments.options import number, refuse_complex_gradient, refuse_lost_gradient
from ...recording.out_rules import EXACT, FREE, UNDERIVED, rule
from ...recording.overwriting import fill_
from ...recording.public import public
from ...state.base import TensorBase
from ...state.writable import repeated, repeats
from .geometry import as_strided, geometry_of
from .rearranging import plane


@public("select_scatter(Tensor input, Tensor src, int dim, int index)", strict=True, method=True)
def select_scatter(input: TensorBase, src: TensorBase, dim: int, index: int) -> Any:
    """A copy with `src` as the slice number `index` along `dim`. Raises RuntimeError if `src` has another shape.

    >>> import retrograd as torch
    >>> torch.zeros(2, 2).select_scatter(torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    shape = input._array.shape
    axis, number = axis_of("select_scatter", dim, len(shape)), as_int("select_scatter", index, "index")
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if not -shape[axis] <= number < shape[axis]:
        raise IndexError(f"select(): index {number} out of range for tensor of size {list(shape)} at dimension {axis}")
    refuse_complex_gradient("select_scatter", input, src)
    refuse_lost_gradient(input, src)
    return ops.select_scatter(input, src, axis, number % shape[axis])


@public(
    "slice_scatter(Tensor input, Tensor src, int dim=0, int start=None, int end=None, int step=1, out)",
    out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED), strict=True, method=True)
def slice_scatter(input: TensorBase, src: TensorBase, dim: int = 0, start: int | None = None, end: int | None = None,
                  step: int = 1) -> Any:
    """A copy with `src` as the slices start:end:step along `dim`. Raises RuntimeError if `src` has another shape."""
    options = range_of(input, dim, start, end, step)
    refuse_complex_gradient("slice_scatter", input, src)
    refuse_lost_gradient(input, src)
    return ops.slice_scatter(input, src, *options)


def range_of(input: TensorBase, dim: int, start: int | None, end: int | None, step: int) -> tuple[int, int, int, int]:
    """The axis, and start:end:step as numbers from 0 to its size. Raises RuntimeError if the step is not positive."""
    if not input._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    axis = axis_of("slice", dim, input._array.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, by = bounds(slice(start, end, step), input._array.shape[axis])
    return axis, first, max(first, last), by


@public("diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1)", strict=True, method=True)
def diagonal_scatter(input: TensorBase, src: TensorBase, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A copy with `src` on the diagonals over two dimensions. Raises RuntimeError if `src` has another shape."""
    axes = plane("diagonal_scatter", dim1, dim2, input._array.ndim)
    refuse_lost_gradient(input, src)
    return ops.diagonal_scatter(input, src, as_int("diagonal_scatter", offset, "offset"), *axes)


@public("as_strided_scatter(Tensor input, Tensor src, ints size, ints stride, int storage_offset=None)", strict=True,
        method=True)
def as_strided_scatter(input: TensorBase, src: TensorBase, size: Sequence[int], stride: Sequence[int],
                       storage_offset: int | None = None) -> Any:
    """A copy with the strides of the tensor, and `src` in the elements that `as_strided` would view.

    Raises RuntimeError if `src` has another shape.
    """
    array = input._array
    if repeats(array.shape, steps(array)):
        array = empty_strided(array.shape, dense_strides(array), array.dtype)      # what a copy of it will be like
    sizes, strides, start = geometry_of("as_strided_scatter", array, size, stride, storage_offset)
    if sizes == src._array.shape and 0 not in sizes and repeats(sizes, strides):
        raise repeated()
    return ops.as_strided_scatter(input, src, sizes, strides, start, steps(array))


@public(method=True)
def fill_diagonal_(self: TensorBase, fill_value: Any, wrap: bool = False) -> TensorBase:
    """Write a number on the main diagonal. With `wrap`, the diagonal of a tall matrix starts again below each free row.

    Raises RuntimeError for fewer than two dimensions, and if a tensor of more than two dimensions has different sizes.
    """
    array, fill_value = array_of("fill_diagonal_", self, "self"), number("fill_diagonal_", "fill_value", 1, fill_value)
    shape, by = array.shape, steps(array)
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len({*shape}) > 1:
        raise noted(RuntimeError("all dimensions of input must be of equal length"), because=f"got {[*shape]}")
    start, size = self.storage_offset(), min(shape[:2])
    fill_(as_strided(self, (size,), (sum(by),), start), fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        more = math.ceil(array.size / (shape[1] + 1)) - size
        fill_(as_strided(self, (more,), (sum(by),), start + by[0] * (shape[1] + 1)), fill_value)
    return self
