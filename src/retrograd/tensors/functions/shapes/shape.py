"""Tensors in other shapes, as functions and methods. The results are views if the strides allow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, Shape, dtype as torch_dtype, letter
from ....foundations.errors import kind_of, noted
from ....kernels.layout import in_rows, offset_of, steps
from ....kernels.shape import StrideError, common_shape
from ....ops import shape as ops
from ....ops.basic import clone as _clone_op
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, arrays_of, as_int, axes_of, axis_of
from ...arguments.options import lies_in, order_in
from ...recording.calls import recorded
from ...recording.public import public
from ...state.base import constant, plain, requires
from ...transforms.batched import is_batch
from ...transforms.refusals import check_copied_format, check_queried_format

_view, _unsafe_view, _expand, _alias = (recorded(op) for op in (ops.view, ops.unsafe_view, ops.expand, ops.alias))
_reshape_alias = recorded(ops.reshape_alias)
_squeeze, _squeeze_dim, _squeeze_dims = recorded(ops.squeeze), recorded(ops.squeeze_dim), recorded(ops.squeeze_dims)
_unsqueeze, _clone = recorded(ops.unsqueeze), recorded(_clone_op)


def sizes_of(name: str, sizes: Any, argument: str = "size") -> tuple[int, ...]:
    """Sizes given as `2, 3` or as one sequence, as a tuple of ints. Raises TypeError for other types."""
    listed = len(sizes) == 1 and isinstance(sizes[0], (tuple, list))
    if listed:
        sizes = sizes[0]
    for n in sizes:
        if type(n) is not int:
            return tuple([_size(name, n, argument, i, listed) for i, n in enumerate(sizes)])
    return tuple(sizes)


def _size(name: str, value: Any, argument: str, position: int, listed: bool) -> int:
    """One of several sizes, as an int. As in PyTorch, only the first may not be a bool."""
    if position and isinstance(value, bool):
        return int(value)
    try:
        return as_int(name, value, argument)
    except TypeError:
        if position:
            raise TypeError(f"{name}(): argument '{argument}' failed to unpack the object at pos {position + 1} with "
                            f'error "type must be tuple of ints,but got {kind_of(value)}"') from None
        found = f"but found element of type {kind_of(value)} at pos 0" if listed else f"not {kind_of(value)}"
        raise TypeError(f"{name}(): argument '{argument}' (position 1) must be tuple of ints, {found}") from None


def _checked_sizes(name: str, size: Any) -> tuple[int, ...]:
    """Like `sizes_of`. Raises RuntimeError for a size less than -1."""
    for n in size:
        if type(n) is not int or n < -1:
            break
    else:
        return size  # type: ignore[no-any-return]
    sizes = sizes_of(name, size, "shape" if name == "reshape" else "size")
    for n in sizes:
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {sizes.index(n)} of shape {[*sizes]}")
    return sizes


# The same elements in another shape

@public("view(Tensor input, dtype dtype)", "view(Tensor input, ints size)", method=True, bound=True)
def view(input: TensorBase, *shape: Any, size: Any = None, dtype: torch_dtype | None = None) -> Any:
    """A view of the same memory in another shape; with a dtype, a view of the same bytes in that dtype.

    One size may be -1. Raises RuntimeError if the number of elements differs or a copy is needed; `reshape` copies.
    """
    if dtype is not None or (shape and type(shape[0]) is torch_dtype):
        return _read_as(input, shape[0] if dtype is None else dtype)
    if not shape and size is None:
        raise TypeError("view() received an invalid combination of arguments - got (): it takes a shape or a dtype")
    try:
        return _view(input, _checked_sizes("view", shape or (size,)))
    except StrideError as error:
        raise noted(RuntimeError(str(error)), given=f"shape {[*input.shape]} with stride {[*input.stride()]}, "
                    f"to be viewed in shape {[*_checked_sizes('view', shape or (size,))]}") from None


def _read_as(input: TensorBase, dtype: torch_dtype) -> Any:
    """The same bytes as elements of another dtype. No gradient flows through this view."""
    array = input._array
    have, want = array.dtype.itemsize, dtype.itemsize
    if have != want:
        how = f"to view {torch_dtype.of[array.dtype].legacy} as {dtype.legacy} (different element sizes)"
        if not array.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {how}")
        strides = steps(array)
        if array.size and strides[-1] != 1:
            raise RuntimeError(f"self.stride(-1) must be 1 {how}, but got {strides[-1]}")
        if array.shape[-1] * have % want:
            raise RuntimeError(f"self.size(-1) must be divisible by {want // have} {how}, but got {array.shape[-1]}")
        if array.size and (start := offset_of(array) * array.itemsize) % want:
            raise RuntimeError(f"self.storage_offset() must be divisible by {want // have} {how}, but got "
                               f"{start // have}")
        for d, step in enumerate(strides[:-1]):
            if array.size and step * have % want:
                raise RuntimeError(f"self.stride({d}) must be divisible by {want // have} {how}, but got {step}")
    return plain(ops.read_as.run(constant(array), dtype.dtype))


@public(event="aten::view_as", method=True)
def view_as(input: TensorBase, other: TensorBase) -> Any:
    """Like `view`, in the shape of `other`."""
    return view(input, array_of("view_as", other, "other", 2).shape)


@public("reshape(Tensor input, ints shape)", event="aten::reshape", method=True)
def reshape(input: TensorBase, *size: Any, shape: Any = None) -> Any:
    """The same elements in another shape: a view if the strides allow it, else a copy. One size may be -1.

    >>> import retrograd as torch
    >>> torch.tensor([[1, 2], [3, 4]]).reshape(-1)
    tensor([1, 2, 3, 4])
    """
    if not size:
        if shape is None:
            raise TypeError('reshape() missing 1 required positional arguments: "shape"')
        size = (shape,)
    sizes = _checked_sizes("reshape", size)
    if in_rows(array_of("reshape", input)):
        return _view(input, sizes)
    try:
        return _reshape_alias(input, sizes)
    except StrideError:
        return _unsafe_view(_clone(input, "C"), sizes)


@public(event="aten::reshape_as", method=True)
def reshape_as(input: TensorBase, other: Any) -> Any:
    """Like `reshape`, in the shape of `other`."""
    return reshape(input, array_of("reshape_as", other, "other", 2).shape)


@public("flatten(Tensor input, int start_dim=0, int end_dim=-1)", event="aten::flatten", method=True)
def flatten(input: TensorBase, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one. If they are one already, the tensor itself."""
    shape = array_of("flatten", input).shape
    first, last = axis_of("flatten", start_dim, len(shape)), axis_of("flatten", end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*shape[:first], math.prod(shape[first:last + 1]), *shape[last + 1:]))


@public("unflatten(Tensor input, int dim, ints sizes)", event="aten::unflatten", method=True)
def unflatten(input: TensorBase, dim: int, sizes: Sequence[int]) -> Any:
    """One dimension split into several dimensions of the given sizes. One size may be -1."""
    shape = array_of("unflatten", input).shape
    axis = axis_of("unflatten", dim, len(shape))
    parts = sizes_of("unflatten", (sizes,))
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not shape:
        raise RuntimeError("unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions")
    if parts.count(-1) == 1 and (known := -math.prod(parts)):
        parts = tuple([shape[axis] // known if n == -1 else n for n in parts])
    if math.prod(parts) != shape[axis]:
        raise RuntimeError(f"unflatten: Provided sizes {[*sizes]} don't multiply up to the size of dim {axis} "
                           f"({shape[axis]}) in the input tensor")
    return view(input, (*shape[:axis], *parts, *shape[axis + 1:]))


@public("ravel(Tensor input)", event="aten::ravel", method=True)
def ravel(input: TensorBase) -> Any:
    """All elements in one dimension: a view if the strides allow it, else a copy."""
    return view(contiguous(input), -1)


# Copies

@public("clone(Tensor input, *, memory_format memory_format=None)", method=True)
def clone(input: TensorBase, *, memory_format: Any = None) -> Any:
    """A copy. Gradients flow through it."""
    array = array_of("clone", input)
    if memory_format is not None and is_batch(array):
        check_copied_format(memory_format.name)
    order = order_in("clone", memory_format, array, "K")
    if order == "K" and in_rows(array):
        order = steps(array) if 1 in array.shape and array.size else "C"
    return _clone(input, order)


@public(event="aten::contiguous", method=True)
def contiguous(input: TensorBase, memory_format: Any = None) -> Any:
    """The tensor itself if it lies in memory row by row, or as `memory_format` says; else a copy that does."""
    array = array_of("contiguous", input)
    if memory_format is None:
        return input if in_rows(array) else _clone(input, "C")
    if is_batch(array):
        (check_copied_format if requires(input) else check_queried_format)(memory_format.name)
    order = order_in("contiguous", memory_format, array, "C")
    if in_rows(array) if order == "K" else lies_in(memory_format, array):
        return input
    if order == "K":
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return _clone(input, order)


# Dimensions of size 1

@public("squeeze(Tensor input)", "squeeze(Tensor input, int dim)", "squeeze(Tensor input, ints dim)", method=True)
def squeeze(input: TensorBase, dim: Any = None, *dims: Any) -> Any:
    """A view without the dimensions of size 1. With `dim`, only the dimensions that `dim` lists are removed.

    The dims may also be given one by one.
    """
    if dim is None:
        return _squeeze(input)
    if dims:
        dim = (dim, *dims)
    ndim = array_of("squeeze", input).ndim
    if not ndim:
        check_dims_of_number(input._array, dim)
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, axes_of("squeeze", dim, ndim) if dim else ())
    return _squeeze_dim(input, axis_of("squeeze", dim, ndim))


def check_dims_of_number(array: Array, dim: Any) -> None:
    """Raise RuntimeError inside of `vmap`, if the samples are numbers and `dim` names none of the dims of a number."""
    if array.ndim or not is_batch(array):
        return
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if d not in (0, -1):
            raise RuntimeError(f"Dimension is out of range (expected to be in range of [-1, 0], but got [{d}]")


@public("unsqueeze(Tensor input, int dim)", method=True)
def unsqueeze(input: TensorBase, dim: int) -> Any:
    """A view with a dimension of size 1 at `dim`."""
    return _unsqueeze(input, axis_of("unsqueeze", dim, array_of("unsqueeze", input).ndim + 1))


# Repeated without copies

@public("expand(Tensor input, ints size, *, bool implicit=False)", method=True, bound=True)
def expand(input: TensorBase, *sizes: Any, size: Any = None, implicit: bool = False) -> Any:
    """A view that repeats the tensor along new leading dimensions and dimensions of size 1. A size of -1 stays.

    Raises RuntimeError if a size other than 1 would change.
    """
    return _expand(input, expanded(array_of("expand", input), sizes_of("expand", sizes or (size,))))


def expanded(array: Array, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array after `expand` to these sizes. Raises RuntimeError if a size other than 1 would change."""
    shape = array.shape
    if sizes == shape:
        return sizes
    lead = len(sizes) - len(shape)
    if lead < 0:
        legacy = torch_dtype.of[array.dtype].legacy
        kind = f"torch.{legacy}Tensor" if letter(array.dtype) in "fiu" else f"CPU{legacy}Type"
        raise RuntimeError(
            f"expand({kind}{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})")
    wanted = [*sizes]
    for d in reversed(range(len(sizes))):
        n, have = sizes[d], shape[d - lead] if d >= lead else 1
        if n == -1 and d >= lead:
            wanted[d] = have
        elif n < 0:
            raise RuntimeError(f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                               f"dimension {d}")
        elif n != have != 1:
            raise RuntimeError(f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                               f"non-singleton dimension {d}.  Target sizes: {list(sizes)}.  Tensor sizes: "
                               f"{list(shape)}")
    return tuple(wanted)


@public(event="aten::expand_as", method=True)
def expand_as(input: TensorBase, other: TensorBase) -> Any:
    """Like `expand`, to the shape of `other`."""
    return expand(input, array_of("expand_as", other, "other", 2).shape)


@public("broadcast_to(Tensor input, ints size)", method=True)
def broadcast_to(input: TensorBase, *sizes: Any, size: Any = None) -> Any:
    """Like `expand`, to the shape `size`."""
    return expand(input, *sizes, size=size)


@public()
def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Each tensor as a view of the shape that they all broadcast to."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    arrays = arrays_of(given)
    common = common_shape(*[array.shape for array in arrays])
    return tuple([x if array.shape == common else _expand(x, expanded(array, common))
                  for x, array in zip(given, arrays)])


# NumPy's functions on tensors

def _shape(shape: Shape) -> Any:
    return shape if isinstance(shape, (tuple, list)) else (shape,)

def _np_expand_dims(a: TensorBase, axis: Any) -> Any:
    if not isinstance(axis, (tuple, list)):
        return unsqueeze(a, axis)
    ndim = a.ndim + len(axis)
    for d in sorted(axis_of("expand_dims", d, ndim) for d in axis):
        a = unsqueeze(a, d)
    return a


NUMPY: dict[Any, Callable[..., Any]] = {
    np.reshape: lambda a, shape: reshape(a, _shape(shape)),
    np.broadcast_to: lambda array, shape: expand(array, _shape(shape)),
    np.ravel: ravel,
    np.expand_dims: _np_expand_dims,
    np.squeeze: squeeze,
    np.copy: clone,
}
