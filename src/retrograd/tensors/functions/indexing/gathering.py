"""Reading and writing at places that an index tensor names, as functions and methods.

An index tensor has the dtype int64 or int32. If PyTorch allows it, negative indices count from the end. The functions
raise IndexError or RuntimeError for an index out of range, and TypeError for an argument that is not a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, Array, dtype as torch_dtype
from ....foundations.errors import noted, span, warn_once
from ....foundations.modes import local
from ....foundations.scalars import check_convertible, converted
from ....kernels.indexing import gathering as elements, indexing as kernels, scattering as combined
from ....kernels.shape import common_shape
from ....ops.basic import cast, check_values
from ....ops.elementwise import arithmetic
from ....ops.indexing import indexing as ops, scattering
from ...arguments.dims import array_of, axis_of
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import APART, EXACT, SCALAR, TARGET, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import TensorBase, plain, requires
from ...state.writable import warn_of_expanded
from ..shapes.shape import broadcast_to, reshape, view
from ..sparse import implementation

# Messages of `check_range`.
OUT_OF_BOUNDS = "index {wrong} is out of bounds for dimension {dim} with size {size}"
NO_ELEMENT = "out of range: tried to access index {wrong} on a tensor of {size} elements."
NO_SLICE = "index out of range in self"
_remainder = recorded(arithmetic.remainder_number)
_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32))
_take, _gather, _index_select = recorded(ops.take), recorded(ops.gather), recorded(ops.index_select)


def int_index(name: str, index: TensorBase, position: int = 3) -> Any:
    """The index tensor in int64. Raises RuntimeError for another dtype than int64 or int32."""
    array = array_of(name, index, "index", position)
    if array.dtype is I64 or array.dtype == I64:
        return index
    if array.dtype not in _INTEGERS:
        name = "scatter" if name == "scatter_add" else name
        which = "int32/int64" if name in ("gather", "scatter") else "int32 or int64"
        raise noted(RuntimeError(f"{name}(): Expected dtype {which} for index"), given=f"torch.{array.dtype.name}")
    return plain(cast.run(array, I64))


def check_range(index: Array, size: int, error: type[Exception], message: str, dim: int = 0, low: int = 0,
                entry: str = "") -> None:
    """Raises an error for an index below `low`, or not below `size`.

    The message may tell the first `wrong` index, the `dim` and its `size`. `entry` is that of the page on errors.
    """
    if local.thread.transform is not None or not kernels.within(index, size):
        check_values(index, _look_for_wrong, size, error, message, dim, low, entry)


def _look_for_wrong(index: Array, size: int, error: type[Exception], message: str, dim: int, low: int,
                    entry: str) -> None:
    wrong = index[(index < low) | (index >= size)]
    if wrong.size:
        raise noted(error(message.format(wrong=wrong.flat[0], dim=dim, size=size)), entry,
                    given=f"index {wrong.flat[0]}; allowed: {span(low, size - 1)}" if size else "no index fits")


def legacy(array: Array) -> str:
    """PyTorch's other name of the dtype of an array, such as Float."""
    return torch_dtype.of[array.dtype].legacy


# One dimension, element by element

def check_elements(name: str, array: Array, index: Array, dim: int, src: Array | None = None) -> None:
    """Raises RuntimeError if the shape of `index` does not fit the tensors, or an index is out of range."""
    if not index.size:
        return
    if max(array.ndim, 1) != max(index.ndim, 1):
        raise noted(
            RuntimeError("Index tensor must have the same number of dimensions "
                         f"as {('input' if name == 'gather' else 'self')} tensor"),
            given=f"{index.ndim} and {array.ndim}")
    if src is not None and max(src.ndim, 1) != max(index.ndim, 1):
        raise noted(
            RuntimeError("Index tensor must have the same number of dimensions as src tensor"),
            given=f"{index.ndim} and {src.ndim}")
    if array.shape != index.shape or (src is not None and src.shape != index.shape):
        _check_sizes(name, array, index, dim, src)
    check_range(index, array.shape[dim] if array.ndim else 1, RuntimeError, OUT_OF_BOUNDS, dim)


def _check_sizes(name: str, array: Array, index: Array, dim: int, src: Array | None) -> None:
    over = [d for d in range(min(index.ndim, array.ndim)) if d != dim and index.shape[d] > array.shape[d]]
    if name == "gather" and over:
        raise RuntimeError(f"Size does not match at dimension {over[0]} expected index {list(index.shape)} to be no "
                           f"larger than self {list(array.shape)} apart from dimension {dim}")
    beyond = src is not None and any([m > n for m, n in zip(index.shape, src.shape)])
    if over or beyond:
        also = "" if src is None else f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(f"Expected index {list(index.shape)} to be no larger than self {list(array.shape)} apart "
                           f"from dimension {dim}{also}")


@public("gather(Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None)",
        out=rule(exact=EXACT, overlap=APART), method=True)
def gather(input: TensorBase, dim: int, index: TensorBase, *, sparse_grad: bool = False) -> Any:
    """Elements along `dim`: for a matrix and dim 0, `out[i, j] = input[index[i, j], j]`.

    `index` has as many dimensions as `input`. The result has the shape of `index`.
    """
    array = array_of("gather", input)
    dim = axis_of("gather", dim, array.ndim)
    places = array_of("gather", index, "index", 3)
    index = int_index("gather", index) if places.size else plain(cast.run(places, I64))
    check_elements("gather", array, index._array, dim)
    return (implementation("_gather") if sparse_grad else _gather)(input, index, dim)


def check_types(array: Array, source: Array) -> None:
    """Raises RuntimeError unless both have the same dtype."""
    if source.dtype != array.dtype:
        raise noted(
            RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype"),
            given=f"torch.{array.dtype.name} and torch.{source.dtype.name}")


# What `reduce` of `scatter` stands for.
_COMBINED = {None: "", "add": "sum", "multiply": "prod"}


@twins(
    "scatter(Tensor input, int dim, Tensor index, Tensor src, out)",
    "scatter(Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)",
    "scatter(Tensor input, int dim, Tensor index, Number value, out)",
    "scatter(Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out=None)",
    out=rule(exact=EXACT, overlap=TARGET), method=True)
def scatter(call: Call, input: TensorBase, dim: int, index: TensorBase, src: Any = None, *, value: Any = None,
            reduce: str | None = None) -> Any:
    """A copy with elements of `src`, or a number, written along `dim`: for a matrix and dim 0,
    `out[index[i, j], j] = src[i, j]`. With `reduce` "add" or "multiply" the elements are combined, without a gradient;
    `scatter_reduce` has one."""
    array = array_of("scatter", input)
    dim = axis_of("scatter", dim, array.ndim)
    index = int_index("scatter", index)
    if reduce not in _COMBINED:
        raise noted(RuntimeError("reduce argument must be either add or multiply."), given=f"{reduce!r}")
    kind = _COMBINED[reduce]
    if src is None or not isinstance(src, TensorBase):
        value = number("scatter", "value", 4, value if src is None else src)
        check_elements("scatter", array, index._array, dim)
        value = converted(value, array.dtype) if index._array.size else 0
        if kind:
            return call(scattering.scatter_number, input, index, dim, value, kind, into=combined.scatter_number_into)
        return call(ops.scatter_value, input, index, dim, value, into=elements.scatter_value_into)
    if kind:
        warn_once("The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
                  "PyTorch release. Use torch.scatter_reduce instead for more reduction options.")
    check_types(array, src._array)
    check_elements("scatter", array, index._array, dim, src._array)
    if kind:
        return call(scattering.scatter_with, input, src, index, dim, kind, True, into=combined.scatter_reduce_into)
    return call(ops.scatter, input, src, index, dim, into=elements.scatter_into)


@twins("scatter_add(Tensor input, int dim, Tensor index, Tensor src, out)", out=rule(exact=EXACT, overlap=TARGET),
       method=True)
def scatter_add(call: Call, input: TensorBase, dim: int, index: TensorBase, src: TensorBase) -> Any:
    """A copy with elements of `src` added along `dim`: for a matrix and dim 0, `out[index[i, j], j] += src[i, j]`."""
    array, source = array_of("scatter_add", input), array_of("scatter_add", src, "src", 4)
    dim = axis_of("scatter_add", dim, array.ndim)
    index = int_index("scatter_add", index)
    check_types(array, source)
    check_elements("scatter_add", array, index._array, dim, source)
    return call(ops.scatter_add, input, src, index, dim, into=elements.scatter_add_into)


@public("take(Tensor input, Tensor index, out)",
        out=rule(exact="take(): self and out expected to have the same dtype, but got self.dtype = {result} and "
                       "out.dtype = {out}", overlap=APART), method=True)
def take(input: TensorBase, index: TensorBase) -> Any:
    """Elements by their number in row-major order. Negative numbers count from the end. The result has the shape of
    `index`."""
    array, numbers = array_of("take", input), array_of("take", index, "index", 2)
    if numbers.dtype != I64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {legacy(numbers)}")
    if numbers.size and not array.size:
        raise IndexError("take(): tried to take from an empty tensor")
    check_range(numbers, array.size, IndexError, NO_ELEMENT, low=-array.size)
    return _take(input, index)


@public("take_along_dim(Tensor input, Tensor indices, int dim=None, out)",
        out=rule(exact=EXACT, overlap=APART, blame="gather"), event="aten::take_along_dim", method=True)
def take_along_dim(input: TensorBase, indices: TensorBase, dim: int | None = None) -> Any:
    """`gather`, with input and indices broadcast to one shape except along `dim`; without `dim`, of the flat input."""
    array, places = array_of("take_along_dim", input), array_of("take_along_dim", indices, "indices", 2)
    if places.dtype != I64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {legacy(places)}")
    if dim is None:
        return gather(view(input, (-1,)), 0, view(indices, (-1,)))
    if array.ndim != places.ndim:
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but "
                           f"got {array.ndim} dimensions for input, and {places.ndim} dimensions for indices")
    if not array.ndim:
        raise noted(IndexError("Dimension specified as 0 but tensor has no dimensions"), instead="leave the dim out")
    axis = axis_of("take_along_dim", dim, array.ndim)
    shape = common_shape(*[(*s[:axis], 1, *s[axis + 1:]) for s in (array.shape, places.shape)])
    if array.shape[axis] and (local.thread.transform is not None or not kernels.within(places, array.shape[axis])):
        indices = _remainder(indices, array.shape[axis])                  # PyTorch's indices start anew at each end
    whole, wanted = [(*shape[:axis], s[axis], *shape[axis + 1:]) for s in (array.shape, places.shape)]
    if array.shape != whole or requires(input):                           # PyTorch's graph always has the expansion
        input = broadcast_to(input, whole)
    return gather(input, axis, indices if places.shape == wanted else broadcast_to(indices, wanted))


# One dimension, slice by slice

def _as_vector(index: TensorBase) -> Any:
    """The index as a vector. A 0-d index becomes a vector over the same memory."""
    return index if index._array.ndim else reshape(index, (1,))


@public("index_select(Tensor input, int dim, Tensor index, out)", out=rule(exact=SCALAR, overlap=APART), method=True)
def index_select(input: TensorBase, dim: int, index: TensorBase) -> Any:
    """A new tensor with the slices along `dim` that a vector of indices names. Indices may not be negative."""
    array = array_of("index_select", input)
    axis = axis_of("index_select", dim, array.ndim)
    index = int_index("index_select", index)
    numbers = index._array
    if numbers.ndim > 1:
        raise noted(IndexError("index_select(): Index is supposed to be a vector"), given=f"shape {[*numbers.shape]}")
    check_range(numbers, array.shape[axis] if array.ndim else 1, IndexError, NO_SLICE, axis)
    if not array.ndim and numbers.size != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value, got "
                         f"{numbers.size} value(s)")
    return _index_select(input, _as_vector(index), axis)


def check_slices(name: str, array: Array, axis: int, index: Array, source: Array) -> None:
    """Raises an error if a vector of indices, or the slices of `source`, do not fit those of the array."""
    if index.ndim > 1:
        raise IndexError(f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
                         f"{legacy(index)} and size: {[*index.shape]}")
    if index.dtype not in _INTEGERS:
        raise RuntimeError(f"{name}_(): Expected dtype int32/int64 for index but got: {legacy(index)}")
    if array.dtype != source.dtype:
        raise RuntimeError(f"{name}_(): self ({legacy(array)}) and source ({legacy(source)}) must have the same "
                           "scalar type")
    if axis and axis >= source.ndim:
        raise RuntimeError(f"{name}_(): Indexing dim {axis} is out of bounds of the source tensor with dim "
                           f"{source.ndim}")
    count = source.shape[axis] if source.ndim else 1
    if index.size != count:
        raise RuntimeError(f"{name}_(): Number of indices ({index.size}) should be equal to source.size(dim): "
                           f"({count}), for dim: {axis}")
    rest = [(*a.shape[:axis], *a.shape[axis + 1:]) if array.ndim and source.ndim else a.shape for a in (array, source)]
    if rest[0] != rest[1]:
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {[*array.shape]} source.shape = {[*source.shape]}")


@twins("index_add(Tensor input, int dim, Tensor index, Tensor source, *, Number alpha=1, Tensor out=None)",
       out=rule(exact=EXACT, overlap=TARGET), method=True)
def index_add(call: Call, input: TensorBase, dim: int, index: TensorBase, source: TensorBase, *, alpha: Any = 1) -> Any:
    """A copy with `alpha` times the slices of `source` added to the slices along `dim` that `index` names."""
    array, parts = array_of("index_add", input), array_of("index_add", source, "source", 4)
    axis = axis_of("index_add", dim, array.ndim)
    check_slices("index_add", array, axis, array_of("index_add", index, "index", 3), parts)
    index = int_index("index_add", index)
    check_range(index._array, array.shape[axis] if array.ndim else 1, RuntimeError, OUT_OF_BOUNDS, axis)
    alpha = number("index_add", "alpha", 5, alpha)
    return call(ops.index_add, input, source, _as_vector(index), axis, alpha, into=combined.index_add_into)


@twins("index_copy(Tensor input, int dim, Tensor index, Tensor source, out)", out=rule(exact=EXACT, overlap=TARGET),
       method=True)
def index_copy(call: Call, input: TensorBase, dim: int, index: TensorBase, source: TensorBase) -> Any:
    """A copy with the slices along `dim` that `index` names replaced by the slices of `source`."""
    array, parts, numbers = input._array, source._array, array_of("index_copy", index, "index", 3)
    axis = axis_of("index_copy", dim, array.ndim)
    if numbers.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {numbers.ndim})")
    if numbers.dtype != I64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {legacy(numbers)}")
    if parts.dtype != array.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{legacy(array)} and (source) {legacy(parts)}")
    if not parts.ndim and numbers.size != 1:
        raise IndexError("index_copy_(): When source is scalar, index should have one element (got "
                         f"{numbers.size})")
    if parts.ndim and array.ndim and parts.ndim != array.ndim:
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. "
                         f"Source dimensionality ({parts.ndim}), destination dimensionality ({array.ndim})")
    rest = [(*a.shape[:axis], *a.shape[axis + 1:]) for a in (array, parts)]
    if parts.ndim and array.ndim and rest[0] != rest[1]:
        have, given = (" ".join(map(str, shape)) for shape in rest)
        raise RuntimeError("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
                           f"shape: {have} at dimension {axis} and source slice shape: {given} at dimension 0.")
    if parts.ndim and numbers.size != parts.shape[axis]:
        raise IndexError(f"index_copy_(): Number of indices ({numbers.size}) should be equal to source.size(dim) "
                         f"({parts.shape[axis]})")
    check_range(numbers, array.shape[axis] if array.ndim else 1, IndexError, "index_copy_(): " + OUT_OF_BOUNDS, axis)
    return call(ops.index_copy, input, source, _as_vector(index), axis, into=kernels.index_copy_into)


@twins(
    "index_fill(Tensor input, int dim, Tensor index, Tensor value)",
    "index_fill(Tensor input, int dim, Tensor index, Number value)", method=True)
def index_fill(call: Call, input: TensorBase, dim: int, index: TensorBase, value: Any) -> Any:
    """A copy with the slices along `dim` that `index` names filled with a number."""
    array, numbers = input._array, array_of("index_fill", index, "index", 3)
    if call is over:
        warn_of_expanded("index_fill_", array, "tensor[mask] = scalar")
    axis = axis_of("index_fill", dim, array.ndim)
    if numbers.dtype != I64:
        raise noted(IndexError("index_fill_(): Expected dtype int64 for index."), given=f"torch.{numbers.dtype.name}")
    if numbers.ndim > 1:
        raise noted(RuntimeError("Index has to be a vector/scalar"), given=f"shape {list(numbers.shape)}")
    size = array.shape[axis] if array.ndim else 1
    check_range(numbers, size, IndexError, OUT_OF_BOUNDS, axis, -size)
    if isinstance(value, TensorBase):
        if value._array.ndim:
            raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value._array.ndim} dimension(s).")
        _refuse_imaginary(value._array.dtype.kind == "c", array)
        if value._array.dtype is not array.dtype:
            check_values(value._array, lambda number: check_convertible(number.item(), array.dtype))
        return call(ops.index_fill_tensor, input, value, index, axis, into=kernels.index_fill_tensor_into)
    value = number("index_fill", "value", 4, value)
    _refuse_imaginary(isinstance(value, complex), array)
    value = converted(value, array.dtype)
    return call(ops.index_fill, input, index, axis, value, into=kernels.index_fill_into)


def _refuse_imaginary(imaginary: bool, target: Array) -> None:
    """Raises RuntimeError if a complex value is to fill a tensor of real numbers."""
    if imaginary and target.dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")


NUMPY: dict[Any, Callable[..., Any]] = {
    np.take_along_axis: lambda arr, indices, axis=-1: take_along_dim(arr, indices, axis),
}
