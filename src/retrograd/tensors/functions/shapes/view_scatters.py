"""Replace one view of a tensor: in a copy (`select_scatter` and similar), or in the tensor itself.

Each function takes the options of the function that makes the view. Must not know how a view is recorded.
"""

from __future__ import annotations

import math
from typing import Any

from ....kernels.layout import steps
from ....ops.indexing import indexing as ops
from ...arguments.dims import array_of, as_int, axis_of
from ...arguments.options import refuse_complex_gradient, refuse_lost_gradient
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, FREE, UNDERIVED, rule
from ...recording.overwriting import fill_
from ...recording.public import public
from ...state.base import TensorBase
from .geometry import as_strided, geometry_of
from .rearranging import plane

_select, _slice, _diagonal, _strided = (recorded(op) for op in (
    ops.select_scatter, ops.slice_scatter, ops.diagonal_scatter, ops.as_strided_scatter))


@public("select_scatter(Tensor input, Tensor src, int dim, int index)", method=True)
def select_scatter(input: TensorBase, src: TensorBase, dim: int, index: int) -> TensorBase:
    """A copy with `src` as the slice number `index` along `dim`. Raises RuntimeError if `src` has another shape.

    >>> import retrograd as torch
    >>> torch.zeros(2, 2).select_scatter(torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    shape = array_of("select_scatter", input).shape
    array_of("select_scatter", src, "src", 2)
    axis, number = axis_of("select_scatter", dim, len(shape)), as_int("select_scatter", index, "index")
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    if not -shape[axis] <= number < shape[axis]:
        raise IndexError(f"select(): index {number} out of range for tensor of size {list(shape)} at dimension {axis}")
    _check_gradient("select_scatter", input, src)
    result: TensorBase = _select(input, src, axis, number % shape[axis])
    return result


@public(
    "slice_scatter(Tensor input, Tensor src, int dim=0, int start=None, int end=None, int step=1, out)",
    out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED), method=True)
def slice_scatter(input: TensorBase, src: TensorBase, dim: int = 0, start: int | None = None, end: int | None = None,
                  step: int = 1) -> Any:
    """A copy with `src` as the slices start:end:step along `dim`. Raises RuntimeError if `src` has another shape."""
    shape = array_of("slice_scatter", input).shape
    array_of("slice_scatter", src, "src", 2)
    axis = axis_of("slice_scatter", dim, len(shape))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    _check_gradient("slice_scatter", input, src)
    first, last, by = slice(start, end, step).indices(shape[axis])
    return _slice(input, src, axis, first, max(first, last), by)


@public("diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1)", method=True)
def diagonal_scatter(input: TensorBase, src: TensorBase, offset: int = 0, dim1: int = 0, dim2: int = 1) -> TensorBase:
    """A copy with `src` on the diagonals over two dimensions. Raises RuntimeError if `src` has another shape."""
    axes = plane("diagonal_scatter", dim1, dim2, array_of("diagonal_scatter", input).ndim)
    array_of("diagonal_scatter", src, "src", 2)
    refuse_lost_gradient(input, src)
    result: TensorBase = _diagonal(input, src, as_int("diagonal_scatter", offset, "offset"), *axes)
    return result


@public(method=True)
def as_strided_scatter(input: TensorBase, src: TensorBase, size: Any, stride: Any,
                       storage_offset: int | None = None) -> TensorBase:
    """A copy with the strides of the tensor, and `src` in the elements that `as_strided` would view.

    Raises RuntimeError if `src` has another shape.
    """
    array = array_of("as_strided_scatter", input)
    array_of("as_strided_scatter", src, "src", 2)
    geometry = geometry_of("as_strided_scatter", array, size, stride, storage_offset)
    result: TensorBase = _strided(input, src, *geometry, steps(array))
    return result


def _check_gradient(name: str, input: TensorBase, src: TensorBase) -> None:
    """Raises RuntimeError if a gradient would flow through complex numbers or be lost in ints, as in PyTorch."""
    refuse_complex_gradient(name, input, src)
    refuse_lost_gradient(input, src)


@public(method=True)
def fill_diagonal_(self: TensorBase, fill_value: Any, wrap: bool = False) -> TensorBase:
    """Write a number on the main diagonal. With `wrap`, the diagonal of a tall matrix starts again below each free row.

    Raises RuntimeError for fewer than two dimensions, and if a tensor of more than two dimensions has different sizes.
    """
    array = array_of("fill_diagonal_", self, "self")
    shape, by = array.shape, steps(array)
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len({*shape}) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length. Got {[*shape]}.")
    start, size = self.storage_offset(), min(shape[:2])
    fill_(as_strided(self, (size,), (sum(by),), start), fill_value)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        more = math.ceil(array.size / (shape[1] + 1)) - size
        fill_(as_strided(self, (more,), (sum(by),), start + by[0] * (shape[1] + 1)), fill_value)
    return self
