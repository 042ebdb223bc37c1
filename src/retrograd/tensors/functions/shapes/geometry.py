"""Strides and sizes that the caller chooses: `as_strided`, memory laid out by strides, changes of shape in place.

A change of geometry in place is recorded and counted as a write, like every in-place operation, but it moves no
element. `resize_` may also make the memory grow, and is not recorded. Must not know how a view is taken again, only
that it can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ....foundations.devices import DeviceLike
from ....foundations.dtypes import DIFFERENTIABLE, Array, Shape, dtype as torch_dtype
from ....foundations.errors import kind_of, noted, user_site
from ....foundations.modes import local
from ....graph import versions
from ....kernels.layout import (
    empty_strided as _empty_strided,
    in_rows,
    offset_of,
    out_of_bounds,
    owner_of,
    room,
    steps,
)
from ....ops import shape as ops
from ....ops.framework import Op
from ...arguments import options
from ...arguments.dims import array_of, as_int, axes_of, axis_of
from ...recording.inplace import check_writable, written
from ...recording.nodes import new_node
from ...recording.public import methods, public
from ...recording.resizing import reshape_memory
from ...recording.views import taken_again
from ...state.base import TensorBase, edge_of, meta_of, moves, note_layout, requires, set_edge
from ...state.replays import Chain
from ...state.writable import refuse_inference
from ...transforms.batched import is_batch
from .shape import check_dims_of_number, sizes_of

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]


# By strides

@public("as_strided(Tensor input, ints size, ints stride, int storage_offset=None)", method=True)
def as_strided(input: TensorBase, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """A view of the tensor's memory with other strides. Without `storage_offset` it starts where the tensor starts.

    The gradients of an element that the view reads several times add up. If several places of the tensor itself share
    an element, they share its gradient. Raises RuntimeError if the view would leave the memory.

    >>> import retrograd as torch
    >>> torch.arange(4).as_strided((3, 2), (1, 1))
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    array = array_of("as_strided", input)
    return ops.as_strided(input, *geometry_of("as_strided", array, size, stride, storage_offset), steps(array))


def geometry_of(name: str, array: Array, size: Any, stride: Any, offset: Any) -> Geometry:
    """The sizes, the strides, and the number of elements from the first element of `array` to the first of the view."""
    for i, (argument, value) in enumerate((("size", size), ("stride", stride))):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{name}(): argument '{argument}' (position {i + 1}) must be tuple of ints, not "
                            f"{kind_of(value)}")
    sizes, strides = sizes_of(name, (size,)), sizes_of(name, (stride,), "stride")
    own, owner = offset_of(array), owner_of(array)
    start = own if offset is None else as_int(name, offset, "storage_offset")
    if len(sizes) != len(strides):
        if is_batch(array):
            raise RuntimeError("Tensor.as_strided(size, stride, ...): size and stride must have the same length! Got "
                               f"size {[*sizes]} and stride {[*strides]}")
        raise noted(
            RuntimeError("mismatch in length of strides and shape"),
            given=f"{len(strides)} strides and {len(sizes)} sizes")
    if min(strides, default=0) < 0:
        raise RuntimeError(f"{name}: Negative strides are not supported at the moment, got strides: {[*strides]}")
    if start < 0:
        raise noted(
            RuntimeError(f"Tensor: invalid storage offset {start}"),
            because="the offset counts from the start of the memory")
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={[*sizes]} and strides={[*strides]}")
    needed = array.itemsize * (1 + start + sum([(n - 1) * step for n, step in zip(sizes, strides)]))
    if 0 not in sizes and isinstance(array, np.ndarray) and needed > room(owner):
        raise out_of_bounds(array, sizes, strides, start)
    return sizes, strides, start - own


@public()
def empty_strided(size: Any, stride: Any, *, dtype: torch_dtype | None = None, layout: Any = None,
                  device: DeviceLike | None = None, requires_grad: bool = False,
                  pin_memory: bool = False) -> TensorBase:
    """A new tensor of this shape with these strides. Its elements are whatever the memory held."""
    target = options.element_type("empty_strided", dtype)
    return _new_strided("empty_strided", size, stride, target, device, requires_grad)


@public()
def empty_permuted(size: Any, physical_layout: Any, *, dtype: torch_dtype | None = None, layout: Any = None,
                   device: DeviceLike | None = None, requires_grad: bool = False,
                   pin_memory: bool = False) -> TensorBase:
    """A new tensor whose dimensions lie in memory in the order of `physical_layout`, the outermost first.

    Its elements are whatever the memory held. Raises RuntimeError unless `physical_layout` permutes the dims.

    >>> import retrograd as torch
    >>> torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
    """
    sizes = sizes_of("empty_permuted", (size,))
    order = sizes_of("empty_permuted", (physical_layout,), "physical_layout")
    if len(sizes) != len(order):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_layout; i.e. "
                           f"len(size) = {len(sizes)} is not equal to len(physical_layout) = {len(order)}")
    for place, dim in enumerate(order):
        if not 0 <= dim < len(sizes):
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {dim} "
                               f"at index {place}).  NB: negative dims not currently supported; file an issue if you "
                               "want it.")
        if dim in order[:place]:
            raise noted(RuntimeError("Duplicate dim not allowed"), because=f"{dim} occurs twice")
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim], step = step, step * max(sizes[dim], 1)
    target = options.element_type("empty_permuted", dtype)
    return _new_strided("empty_permuted", sizes, strides, target, device, requires_grad)


@public(method=True)
def new_empty_strided(self: TensorBase, size: Any, stride: Any, *, dtype: torch_dtype | None = None, layout: Any = None,
                      device: DeviceLike | None = None, requires_grad: bool = False,
                      pin_memory: bool = False) -> TensorBase:
    """A new tensor of this shape with these strides, by default in the dtype of `self`. See `empty_strided`."""
    target = self._array.dtype if dtype is None else options.element_type("new_empty_strided", dtype)
    return _new_strided("new_empty_strided", size, stride, target, device, requires_grad)


def _new_strided(name: str, size: Shape, stride: Any, dtype: np.dtype[Any], device: DeviceLike | None,
                 requires_grad: bool) -> TensorBase:
    sizes, strides = sizes_of(name, (size,)), sizes_of(name, (stride,), "stride")
    if len(sizes) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides "
                           f"({len(strides)})")
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {[*sizes]}")
    if min(strides, default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={[*sizes]} and strides={[*strides]}")
    return options.made(_empty_strided(sizes, strides, dtype), device, requires_grad)


# Geometry in place

def _turn(op: Op, x: TensorBase, *given: Any) -> TensorBase:
    """Give x the geometry of the view that `op` takes of x."""
    op, edge = op.written, edge_of(x) if local.thread.grad else None
    before = x._array
    x._array = op.run(before, *given)
    written(x)
    meta = meta_of(x)
    if meta.replay is None:
        meta.turned = versions.next_number()
    else:
        meta.replay = Chain(meta.replay, partial(taken_again, op, given, None))
    if edge is not None and before.dtype in DIFFERENTIABLE:
        node = new_node(op, (x,), (before,), (edge,), (before, *given), (x,))
        node.shape, node.dtype = x._array.shape, before.dtype
        set_edge(x, node)
        meta.seen = versions.next_number()               # without a record, x is stale like any view after a write
    return x


def _rank(x: TensorBase) -> int:
    """The number of dimensions of a tensor that is about to get another geometry. Raises RuntimeError if it may not."""
    check_writable(x, local.thread.grad and requires(x))
    return x._array.ndim


@public("as_strided_(Tensor input, ints size, ints stride, int storage_offset=None)", method=True, bound=True)
def as_strided_(self: TensorBase, size: Sequence[int], stride: Sequence[int],
                storage_offset: int | None = None) -> TensorBase:
    """Give the tensor other sizes and strides over its memory. Returns the tensor itself. See `as_strided`."""
    _rank(self)
    array = self._array
    return _turn(ops.as_strided, self, *geometry_of("as_strided_", array, size, stride, storage_offset), steps(array))


@public("transpose_(Tensor input, int dim0, int dim1)", method=True, bound=True)
def transpose_(self: TensorBase, dim0: int, dim1: int) -> TensorBase:
    """Swap two dimensions of the tensor itself."""
    ndim = _rank(self)
    return _turn(ops.transpose, self, axis_of("transpose_", dim0, ndim), axis_of("transpose_", dim1, ndim))


@public("swapaxes_(Tensor input, int axis0, int axis1)", method=True, bound=True)
def swapaxes_(self: TensorBase, axis0: int, axis1: int) -> TensorBase:
    """Swap two dimensions of the tensor itself."""
    return transpose_(self, axis0, axis1)


@public("t_(Tensor input)", method=True, bound=True)
def t_(self: TensorBase) -> TensorBase:
    """Transpose the tensor itself. Raises RuntimeError for more than two dimensions."""
    ndim = _rank(self)
    if ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _turn(ops.t, self)


@public("squeeze_(Tensor input)", "squeeze_(Tensor input, int dim)", "squeeze_(Tensor input, ints dim)", method=True,
        bound=True)
def squeeze_(self: TensorBase, dim: Any = None, *dims: Any) -> TensorBase:
    """Remove the dimensions of size 1 from the tensor itself. With `dim`, only the dimensions that it lists.

    The dims may also be given one by one.
    """
    ndim = _rank(self)
    if dim is None:
        return _turn(ops.squeeze, self)
    if dims:
        dim = (dim, *dims)
    check_dims_of_number(self._array, dim)
    if isinstance(dim, (tuple, list)):
        return _turn(ops.squeeze_dims, self, axes_of("squeeze_", dim, ndim) if dim else ())
    return _turn(ops.squeeze_dim, self, axis_of("squeeze_", dim, ndim))


@public("unsqueeze_(Tensor input, int dim)", method=True, bound=True)
def unsqueeze_(self: TensorBase, dim: int) -> TensorBase:
    """Insert a dimension of size 1 into the tensor itself, at `dim`."""
    return _turn(ops.unsqueeze, self, axis_of("unsqueeze_", dim, _rank(self) + 1))


swapdims_ = transpose_
methods(swapdims_=swapdims_)


# Other sizes in place

@public(method=True)
def resize_(self: TensorBase, *sizes: Any, size: Any = None, memory_format: Any = None) -> TensorBase:
    """Give the tensor another shape, row by row over its memory. If the memory is too small, it grows.

    With `memory_format` the elements lie in this order instead, even if the shape does not change. New elements are
    whatever the memory held. Raises RuntimeError if the tensor requires grad, and if memory that views, arrays or
    graphs share would have to grow.

    >>> import retrograd as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = options.shape_of("resize_", sizes, size)
    if memory_format is options.preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    _resize("resize_", self, shape, memory_format)
    return self


@public(method=True)
def resize_as_(self: TensorBase, the_template: TensorBase, *, memory_format: Any = None) -> TensorBase:
    """`resize_` to the shape of another tensor. `preserve_format` also takes its memory format."""
    options.check_tensor("resize_as_", the_template, "the_template", 1)
    like = the_template._array
    if memory_format is options.preserve_format:
        memory_format = options.contiguous_format
        if not in_rows(like):
            orders = (options.channels_last, options.channels_last_3d)
            memory_format = next((last for last in orders if options.lies_in(last, like)), memory_format)
    _resize("resize_as_", self, like.shape, memory_format)
    return self


def _resize(name: str, tensor: TensorBase, shape: tuple[int, ...], memory_format: Any) -> None:
    """Resize to a shape, in the order of a memory format. None is row by row, and keeps an equal shape as it is."""
    if requires(tensor):
        raise noted(
            RuntimeError("cannot resize variables that require grad"), "in-place#resize-requires-grad",
            instead="resize x.detach() or a clone instead")
    if moves(tensor):
        raise noted(
            RuntimeError("cannot resize variables that has a forward grad"), instead="resize x.detach() or a clone")
    if tensor._grad_meta is not None:
        refuse_inference(tensor._grad_meta)
    order: Any = "C" if memory_format is None else options.order_of_shape(name, memory_format, shape)
    other = shape != tensor._array.shape
    if other or memory_format is not None:
        reshape_memory(tensor, shape)
        if order != "C" and tensor._array.size:
            tensor._array = ops.as_strided.run(tensor._array, shape, order, 0, steps(tensor._array))
            note_layout(tensor)
    if other:
        versions.written(tensor._array, user_site(2))
