"""Values combined at places that an index tensor names, as functions and methods; and coordinates of elements.

An index tensor has the dtype int64 or int32. Only `put` takes negative indices. The functions raise IndexError or
RuntimeError for an index out of range, and TypeError for an argument that is not a tensor.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, Array, refuse
from ....foundations.errors import noted, warn
from ....kernels.indexing import gathering as elements, scattering as kernels
from ....kernels.shape import clash
from ....ops.basic import beyond
from ....ops.indexing import indexing, scattering as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, as_int, axis_of
from ...arguments.options import refuse_complex_gradient
from ...recording.inplace import over
from ...recording.out_rules import APART, EXACT, TARGET, UNASKED, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import plain
from ..shapes.joining import unbind
from . import gathering

# The operators by the name of the reduction.
_SCATTER = {"sum": ops.scatter_reduce_sum, "prod": ops.scatter_prod, "mean": ops.scatter_mean,
            "amax": ops.scatter_extreme, "amin": ops.scatter_extreme}
_INDEX = {"prod": ops.index_prod, "mean": ops.index_mean, "amax": ops.index_extreme, "amin": ops.index_extreme}


# Element by element along one dimension

@twins(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, Tensor "
    "out=None)",
    out=rule(exact=EXACT, overlap=TARGET), strict=True, method=True)
def scatter_reduce(call: Call, input: TensorBase, dim: int, index: TensorBase, src: TensorBase, reduce: str, *,
                   include_self: bool = True) -> Any:
    """A copy with elements of `src` combined with the elements along `dim` that `index` names: for a matrix and dim 0,
    `src[i, j]` with `out[index[i, j], j]`.

    `reduce` is "sum", "prod", "mean", "amax" or "amin". Without `include_self` an element of `input` that values are
    combined with is left out. If several elements are the extreme, they share its gradient.

    >>> import retrograd as torch
    >>> torch.tensor([1., 2.]).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([3., 5.]), "mean")
    tensor([3., 2.])
    """
    array, source = array_of("scatter_reduce", input), array_of("scatter_reduce", src, "src", 4)
    axis = axis_of("scatter_reduce", dim, array.ndim)
    if reduce not in _SCATTER:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    index = gathering.int_index("scatter", index)
    gathering.check_types(array, source)
    if index._array.size:
        axis_of("scatter_reduce", dim, source.ndim)
        gathering.check_elements("scatter", array, index._array, axis, source)
        refuse(array.dtype, f"scatter_gather_tensor_cpu_reduce_{reduce}",
                     {"amax": "c", "amin": "c", "mean": "b"}.get(reduce, ""))
    if call is not over:
        refuse_complex_gradient("scatter_reduce", input, src)
    return call(_SCATTER[reduce], input, src, index, axis, reduce, bool(include_self),
                into=kernels.scatter_reduce_into)


# Slice by slice along one dimension

def _check_kind(array: Array, reduce: str, include_self: bool) -> None:
    """Raises NotImplementedError for dtypes without a kernel in PyTorch. Vectors have a kernel of their own."""
    if not include_self:
        refuse(array.dtype, "index_reduce_func_exclude_input_init", "cb")
    if array.ndim <= 1:
        refuse(array.dtype, "index_func_", "cb")
    elif reduce == "mean":
        refuse(array.dtype, "div_floor_cpu", "b")
    elif reduce != "prod":
        refuse(array.dtype, "maximum_cpu" if reduce == "amax" else "minimum_cpu", "c")


@twins(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, Tensor "
    "out=None)",
    out=rule(exact=EXACT, overlap=TARGET), strict=True, method=True)
def index_reduce(call: Call, input: TensorBase, dim: int, index: TensorBase, source: TensorBase, reduce: str, *,
                 include_self: bool = True) -> Any:
    """A copy with the slices of `source` combined with the slices along `dim` that `index` names.

    `reduce` is "prod", "mean", "amax" or "amin"; for sums use `index_add`. See `scatter_reduce`.
    """
    array, values = array_of("index_reduce", input), array_of("index_reduce", source, "source", 4)
    if reduce not in _INDEX:
        raise RuntimeError("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
                           f"{reduce}.")
    axis = axis_of("index_reduce", dim, array.ndim)
    gathering.check_slices("index_reduce", array, axis, array_of("index_reduce", index, "index", 3), values)
    numbers = gathering.int_index("index_reduce", index)._array
    if values.size:
        _check_kind(array, reduce, include_self)
    gathering.check_range(numbers, array.shape[axis] if array.ndim else 1, IndexError, gathering.NO_SLICE, axis)
    if array.ndim:
        numbers = beyond(partial(_spread, axis, values.shape), numbers)
    if call is not over:
        refuse_complex_gradient("index_reduce", input, source)
    return call(_INDEX[reduce], input, source, plain(numbers), axis, reduce, bool(include_self),
                into=kernels.index_reduce_into)


# By a mask, and by number

@twins("masked_scatter(Tensor input, Tensor mask, Tensor source)", method=True)
def masked_scatter(call: Call, input: TensorBase, mask: TensorBase, source: TensorBase) -> Any:
    """A copy with the first elements of `source`, in order, where the mask is true.

    The tensor and the mask broadcast to one shape. Raises RuntimeError if the source has too few elements.
    """
    array, values, chosen = input._array, source._array, array_of("masked_scatter", mask, "mask", 2)
    if array.dtype != values.dtype:
        raise RuntimeError("masked_scatter: expected self and source to have same dtypes but got"
                           f"{gathering.legacy(array)} and {gathering.legacy(values)}")
    if chosen.dtype == np.uint8:
        warn("masked_scatter_ received a mask with dtype torch.uint8, this behavior is now deprecated,please use a "
             "mask with dtype torch.bool instead.", UserWarning)
    if chosen.dtype.kind != "b":
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{gathering.legacy(chosen)}")
    if call is over and chosen.ndim > array.ndim:
        raise RuntimeError(f"expand(CPUBoolType{{{[*chosen.shape]}}}, size={[*array.shape]}): the number of sizes "
                           f"provided ({array.ndim}) must be greater or equal to the number of dimensions in the "
                           f"tensor ({chosen.ndim})")
    refusal = clash(chosen.shape, array.shape)
    if refusal is not None:
        raise noted(RuntimeError(refusal), given="a is the mask and b is the input")
    return call(indexing.masked_scatter, input, source, mask, into=elements.masked_scatter_into)


@twins("put(Tensor input, Tensor index, Tensor source, bool accumulate=False)", method=True)
def put(call: Call, input: TensorBase, index: TensorBase, source: TensorBase, accumulate: bool = False) -> Any:
    """A copy with elements of `source` written, or with `accumulate` added, at places given in row-major order.

    Negative indices count from the end. `source` has as many elements as `index`.
    """
    array, values, numbers = input._array, source._array, array_of("put", index, "index", 2)
    if numbers.dtype != I64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {gathering.legacy(numbers)}")
    if array.dtype != values.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{gathering.legacy(array)} and source.dtype = {gathering.legacy(values)}")
    if numbers.size != values.size:
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                         f"source.numel() = {values.size}, index.numel() = {numbers.size}")
    if numbers.size and not array.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    gathering.check_range(numbers, array.size, IndexError, gathering.NO_ELEMENT, low=-array.size)
    return call(indexing.put, input, source, index, bool(accumulate), into=elements.put_over)


def _spread(axis: int, shape: tuple[int, ...], numbers: Array) -> Any:
    """The numbers along an axis, expanded to the shape."""
    return np.broadcast_to(numbers.reshape(-1, *(1,) * (len(shape) - 1 - axis)), shape)


# Coordinates of elements

@public(
    out=rule(exact="nonzero_static: Expected out tensor to have scalar type {result} but got scalar type{out}",
        overlap=APART, gradient=UNASKED), method=True)
def nonzero_static(input: TensorBase, *, size: int, fill_value: int = -1) -> Any:
    """The indices of the first `size` elements that are not 0, one row each. Other rows hold `fill_value`."""
    array = array_of("nonzero_static", input)
    count = as_int("nonzero_static", size, "size")
    if count < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    return plain(beyond(partial(_first_places, count, as_int("nonzero_static", fill_value, "fill_value")), array))


def _first_places(count: int, fill_value: int, array: Array) -> Any:
    """The indices of the first elements that are not 0."""
    rows = np.full((count, array.ndim), fill_value, np.int64)
    found = np.argwhere(array)[:count]
    rows[:len(found)] = found
    return rows


@public()
def unravel_index(indices: Any, shape: int | Sequence[int]) -> tuple[Any, ...]:
    """The coordinates of elements, one tensor for each dimension, from their numbers in row-major order.

    Raises TypeError for indices or sizes that are not ints, ValueError for a negative size.

    >>> import retrograd as torch
    >>> torch.unravel_index(torch.tensor([4, 1]), (3, 2))
    (tensor([2, 0]), tensor([0, 1]))
    """
    array = array_of("unravel_index", indices, "indices")
    if array.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [*itertools.accumulate((*sizes[1:], 1)[::-1], operator.mul)][::-1] if sizes else []
    rows = beyond(lambda array: np.floor_divide(array[..., None], np.array(steps, np.int64))
                  % np.array(sizes, np.int64), array)
    return unbind(plain(rows), -1)
