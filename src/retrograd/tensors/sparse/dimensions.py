"""Dimensions of sparse tensors, by the names of the public functions: in another order, indexed, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...foundations.errors import no_kernel, noted
from ...kernels.sparse.arrays import Coo, unsupported
from ...kernels.sparse.structure import check_turned
from ...ops import shape as shapes, sparse as ops
from ...ops.indexing.indexing import index_select as index_select_op, select as select_op
from ...ops.joining import cat as cat_op, stack as stack_op
from ...tensors.state.base import TensorBase
from ..arguments.dims import as_int
from ..recording.public import METHODS
from ..state.inside import is_sparse
from .recording import record, sparse


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions as non-negative ints. Raises IndexError for one that does not exist."""
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    for axis in dims:
        if not -ndim <= axis < max(ndim, 1):
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
                             f"{axis})")
    return tuple(axis % max(ndim, 1) for axis in dims)


def distinct_axes(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions as non-negative ints. Raises RuntimeError for one that is listed twice."""
    axes = axes_of(dim, ndim)
    twice = next((axis for i, axis in enumerate(axes) if axis in axes[:i]), None)
    if twice is not None:
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return axes


def _turned(result: Any) -> Any:
    """The transposed tensor. As in PyTorch, one by coordinates stores elements of its own."""
    if isinstance(result._array, Coo):
        result._array.values = np.array(result._array.values)
    return result


@sparse("t")
def t(input: Any) -> Any:
    if not is_sparse(input):
        return METHODS["t"](input)
    sparse = input._array.indices.shape[0] if isinstance(input._array, Coo) else 2
    if input._array.ndim > 2 or sparse < input._array.ndim:
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {sparse} sparse and "
                           f"{input._array.ndim - sparse} dense dimensions")
    return _turned(record(shapes.t, input))


@sparse("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    axes = axes_of((dim0, dim1), input._array.ndim)
    if isinstance(input._array, Coo) and axes[0] != axes[1]:
        check_turned(input._array, *axes)
    return _turned(record(shapes.transpose, input, *axes))


@sparse("movedim", "moveaxis")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    ndim = input._array.ndim
    moved = axes_of(source, ndim)
    order = [axis for axis in range(ndim) if axis not in moved]
    for place, axis in sorted(zip(axes_of(destination, ndim), moved)):
        order.insert(place, axis)
    return permute(input, order)


@sparse("permute")
def permute(input: Any, *dims: Any) -> Any:
    order = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    if len(order) != input._array.ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of "
                           f"the desired ordering of dimensions i.e. input.dim() = {input._array.ndim} is not equal to "
                           f"len(dims) = {len(order)}")
    return record(shapes.permute, input, axes_of(order, input._array.ndim))


@sparse("unsqueeze")
def unsqueeze(input: TensorBase, dim: int) -> Any:
    return record(shapes.unsqueeze, input, *axes_of(dim, input._array.ndim + 1))


@sparse("select")
def select(input: Any, dim: int, index: Any) -> Any:
    array, at = input._array, as_int("select", index, "index")
    if not array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis, = axes_of(dim, array.ndim)
    if not -array.shape[axis] <= at < array.shape[axis]:
        raise IndexError(f"select(): index {at} out of range for tensor of size {list(array.shape)} at dimension {dim}")
    return record(select_op, input, axis, at % array.shape[axis])


@sparse("__getitem__")
def getitem(self: TensorBase, index: Any) -> Any:
    result, dim = self, 0
    for part in index if isinstance(index, tuple) else (index,):
        if part is None:
            result, dim = unsqueeze(result, dim), dim + 1
        elif isinstance(part, int) and not isinstance(part, bool):
            result = select(result, dim, part) if is_sparse(result) else METHODS["select"](result, dim, part)
        elif isinstance(part, slice) and part == slice(None):
            dim += 1
        else:
            raise unsupported("as_strided" if isinstance(part, slice) else "index.Tensor", "SparseCPU")
    return result


@sparse("__setitem__")
def setitem(self: Any, index: Any, value: Any) -> NoReturn:
    if not is_sparse(self):
        raise unsupported("index_put_", "SparseCPU")
    raise TypeError("Cannot assign to a sparse tensor")


@sparse("unbind", "__iter__")
def unbind(input: Any, dim: int = 0) -> Any:
    axis, = axes_of(dim, input._array.ndim)
    return tuple(select(input, axis, i) for i in range(input._array.shape[axis]))


@sparse("narrow_copy")
def narrow_copy(input: TensorBase, dim: int, start: int, length: int) -> Any:
    shape = input._array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    axis, = axes_of(dim, len(shape))
    if start < 0 or length < 0 or start + length > shape[axis]:
        raise RuntimeError("Invalid range to narrow. range(start, start+length) must be a subset of range(0, "
                           f"{shape[axis]}).")
    return record(ops.narrow_copy, input, axis, start, length)


@sparse("index_select")
def index_select(input: TensorBase, dim: int, index: TensorBase) -> Any:
    array = input._array
    axis, = axes_of(dim, array.ndim)
    wrong = [i for i in index._array.reshape(-1).tolist() if not -array.shape[axis] <= i < array.shape[axis]]
    if wrong:
        raise IndexError(f"index_select(): index contains {wrong[0]} that is out of range for tensor of size "
                         f"{list(array.shape)} at dimension {dim}")
    return record(index_select_op, input, index, axis)


def _check_all_sparse(tensors: Sequence[Any]) -> None:
    """Raises PyTorch's error for the first dense tensor."""
    place = next((i for i, x in enumerate(tensors) if not is_sparse(x)), None)
    if place == 0:
        raise no_kernel("aten::_values", "CPU", instead="convert all with .to_dense() or .to_sparse()")
    if place is not None:
        raise noted(
            RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {place}."),
            instead="convert all with .to_dense() or .to_sparse()")


@sparse("cat", "concat", "concatenate")
def cat(tensors: Sequence[TensorBase], dim: int = 0) -> Any:
    _check_all_sparse(tensors)
    return record(cat_op, [*tensors], *axes_of(dim, tensors[0]._array.ndim))


@sparse("stack")
def stack(tensors: Sequence[TensorBase], dim: int = 0) -> Any:
    _check_all_sparse(tensors)
    return record(stack_op, [*tensors], *axes_of(dim, tensors[0]._array.ndim + 1))
