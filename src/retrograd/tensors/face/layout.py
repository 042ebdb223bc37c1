"""Sizes, strides and offsets of tensors in memory. These functions are not recorded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ...kernels.layout import (
    address,
    by_falling_strides,
    empty_strided,
    in_rows,
    laid_out,
    offset_of,
    row_by_row,
    steps,
)
from ..arguments.dims import axis_of
from ..arguments.options import channels_last, lies_in, memory_format
from ..arguments.size import size_of
from ..functions.shapes.joining import unbind
from ..recording.public import methods, public
from ..state.base import TensorBase, requires
from ..state.dispatch import is_wrapper
from ..transforms.batched import is_batch
from ..transforms.refusals import check_queried_format


@public("numel(Tensor input) -> int", method=True)
def numel(input: TensorBase) -> int:
    """The number of elements."""
    return input._array.size


@public(method=True)
def size(self: TensorBase, dim: int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    shape = self._array.shape
    if dim is None:
        return size_of(shape)
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[axis_of("size", dim, len(shape))]


@public(method=True)
def ndimension(self: TensorBase) -> int:
    """The number of dimensions."""
    return self._array.ndim


@public(method=True)
def stride(self: TensorBase, dim: int | None = None) -> Any:
    """The distance in memory between neighbors along each dimension, or along one, counted in elements."""
    strides = steps(self._array) if self._array.size else _empty_steps(self)
    if dim is None:
        return strides
    if not strides:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return strides[axis_of("stride", dim, len(strides))]


def _empty_steps(tensor: Any) -> tuple[int, ...]:
    """PyTorch's strides for a tensor without elements. NumPy's strides mean something only if a kernel chose them."""
    meta, array = tensor._grad_meta, tensor._array
    if meta is None or meta.base is None:
        return steps(array) if laid_out(array) else row_by_row(array.shape)
    base = meta.base._array
    whole = base if base.size else empty_strided(base.shape, row_by_row(base.shape), base.dtype)
    return steps(meta.replay(whole))


@public(method=True)
def data_ptr(self: TensorBase) -> int:
    """The address of the first element; 0 without elements, and for a wrapper of other tensors."""
    return address(self._array) if self._array.size and not is_wrapper(self) else 0


@public(method=True)
def storage_offset(self: TensorBase) -> int:
    """The number of elements between the start of the memory and the first element."""
    return offset_of(self._array)


@public(method=True)
def is_contiguous(self: TensorBase, *, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory without gaps, row by row or in the order of `memory_format`."""
    array = self._array
    if memory_format is None:
        return array.flags.c_contiguous
    if is_batch(array) and not requires(self):             # a `grad` inside of `vmap` knows its own tensors
        check_queried_format(memory_format.name)
    return lies_in(memory_format, array)


_AMBIGUOUS = "The tensor does not have unique dim order"


@public(method=True)
def dim_order(self: TensorBase, ambiguity_check: bool | list[memory_format] = False) -> tuple[int, ...]:
    """The dimensions from the slowest in memory to the fastest.

    Raises RuntimeError with `ambiguity_check=True` if other orders name the same places, and with a list of memory
    formats if the tensor does not lie in exactly one of them, either.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if any([not isinstance(each, memory_format) for each in formats]) or (
            not isinstance(ambiguity_check, (bool, list))):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    array: Any = self._array
    shape, by = tuple(array.shape), tuple(stride(self))
    if ambiguity_check is not False and (1 in shape or any([one == other for one, other in pairwise(by)])) and (
            sum([lies_in(each, array) for each in formats]) != 1):
        raise RuntimeError(f"{_AMBIGUOUS}, or cannot map to exact one of the given memory formats.")
    rows, last = in_rows(array), lies_in(channels_last, array)
    if rows != last:
        return tuple(range(len(shape))) if rows else (0, 2, 3, 1)
    order = by_falling_strides(shape, [by])
    if ambiguity_check and any([not by[slow] > by[fast] > 0 for slow, fast in pairwise(order)]):
        raise RuntimeError(f"{_AMBIGUOUS}.")
    return tuple(order)


@public(method=True)
def element_size(self: TensorBase) -> int:
    """The number of bytes of an element."""
    return self._array.itemsize


@public("is_same_size(Tensor input, Tensor other) -> bool", method=True)
def is_same_size(input: TensorBase, other: TensorBase) -> bool:
    """Whether two tensors have the same shape."""
    return bool(input._array.shape == other._array.shape)


def iterate(self: TensorBase) -> Iterator[Any]:
    """The slices along the first dimension. Raises TypeError for a 0-d tensor."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self))


methods(nelement=numel, dim=ndimension, __iter__=iterate)
