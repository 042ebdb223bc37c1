"""Reading and writing by a mask, or by several index tensors together, as functions and methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ....foundations.dtypes import BOOL_, C_NAMES, I64, Array, dtype as torch_dtype
from ....foundations.errors import noted, warn
from ....foundations.modes import local
from ....foundations.scalars import check_convertible, converted
from ....kernels.indexing import gathering as elements, indexing as kernels
from ....kernels.shape import common_shape
from ....ops.basic import beyond, cast, check_values, clone
from ....ops.indexing import indexing as ops
from ...arguments.dims import array_of
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import APART, SCALAR, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import TensorBase
from ...state.writable import refuse_overlap, warn_of_expanded

_masked_select = recorded(ops.masked_select)


# Several dimensions

def _check_rank(target: Array, values: Array, indices: tuple[Any, ...], accumulate: bool) -> None:
    """Raises RuntimeError for values of more dimensions than the places have, which NumPy takes if the first is 1."""
    one = not accumulate and values.size == 1 and kernels.by_mask(indices)
    if values.ndim > 1 and values.shape[0] == 1 and not one:
        error = kernels.misfit(target.shape, indices, values.shape, bounds=False)
        if error is not None:
            raise error


def put(call: Call, input: TensorBase, indices: tuple[Any, ...], values: TensorBase, accumulate: bool) -> Any:
    """`index_put` with arrays as indices. It writes in place if `call` is `over`."""
    array = array_of("index_put", values, "values", 3)
    if call is over:
        check_apart(input._array, array, indices)
    check_put(input._array, array, indices, accumulate)
    return call(ops.index_put, input, values, indices, accumulate, into=kernels.put_into)


def check_apart(target: Array, values: Array, indices: tuple[Any, ...]) -> None:
    """Raises RuntimeError if target and values share memory, unless a mask writes a single number."""
    if values.size != 1 or not kernels.by_mask(indices):
        refuse_overlap(target, values, whole=True)


def check_put(target: Array, values: Array, indices: Any, accumulate: bool) -> None:
    """Raises RuntimeError for values of another dtype, after a check of the shapes. One value for a mask is cast."""
    if values.dtype != target.dtype:
        one = not accumulate and values.size == 1 and kernels.by_mask(indices)
        shapes = target.shape, () if one else values.shape
        beyond(partial(_check_fit, *shapes, one, [index is None for index in indices]),
               *[index for index in indices if index is not None])
        if one:
            check_values(values, lambda value: check_convertible(value.item(), target.dtype))
            return
        have, want = torch_dtype.of[values.dtype].legacy, torch_dtype.of[target.dtype].legacy
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {want} for the "
                           f"destination and {have} for the source.")


def _check_fit(target: tuple[int, ...], values: tuple[int, ...], bounds: bool, gaps: list[bool], *indices: Any) -> Any:
    """Raises an error if the shape of the values does not fit the indices. `gaps` says which dims have no index."""
    given = iter(indices)
    error = kernels.misfit(target, tuple([None if gap else next(given) for gap in gaps]), values, bounds)
    if error is not None:
        raise error
    return indices[0] if indices else np.empty(0)


def static_index(array: Array) -> Any:
    """A copy of an index, so that later writes cannot change it. Raises IndexError for a dtype that cannot index."""
    if array.dtype == I64 or array.dtype.kind == "b":
        return array.copy() if local.thread.transform is None else clone.run(array, "C")
    if array.dtype == np.uint8:
        warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")
        return cast.run(array, BOOL_)
    if array.dtype == np.int32:
        return cast.run(array, I64)
    raise noted(
        IndexError("tensors used as indices must be long, int, byte or bool tensors"),
        given=f"torch.{array.dtype.name}")


@twins("index_put(Tensor input, Tensors indices, Tensor values, bool accumulate=False)", strict=True, method=True)
def index_put(call: Call, input: TensorBase, indices: Sequence[Any], values: TensorBase,
              accumulate: bool = False) -> Any:
    """A copy with `values` written, or with `accumulate` added, at the places that the indices name.

    There is one index tensor for each leading dimension. The index tensors broadcast.
    """
    array_of("index_put", input)
    for i, each in enumerate(indices):
        if not isinstance(each, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(each).__name__}")
    arrays = tuple([static_index(each._array) for each in indices])
    if call is over:
        warn_of_put(input._array, arrays, values._array, accumulate)
    _check_rank(input._array, array_of("index_put", values, "values", 3), arrays, accumulate)
    return put(call, input, arrays, values, accumulate)


index_put_ = index_put.written


def warn_of_put(target: Array, indices: Sequence[Any], values: Array, accumulate: bool = False) -> None:
    """Warn once of a write to places of an expanded tensor. With a mask and one number, `masked_fill_` warns, too."""
    warn_of_expanded("index_put_", target, "tensor[indices] = tensor")
    kinds = [index.dtype.kind for index in indices if isinstance(index, np.ndarray)]
    if kinds == ["b"] and values.size == 1 and not accumulate:
        warn_of_expanded("masked_fill_", target, "tensor[mask] = scalar")


# By a mask

@twins("masked_fill(Tensor input, Tensor mask, Tensor value)",
       "masked_fill(Tensor input, Tensor mask, Number value)", method=True)
def masked_fill(call: Call, input: TensorBase, mask: TensorBase, value: Any) -> Any:
    """A copy with a number where the mask is true. The tensor and the mask broadcast to one shape.

    >>> import retrograd as torch
    >>> torch.tensor([1, 2, 3]).masked_fill(torch.tensor([True, False, True]), 0)
    tensor([0, 2, 0])
    """
    array, chosen = array_of("masked_fill", input), array_of("masked_fill", mask, "mask", 2)
    if chosen.dtype.kind != "b":
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype "
                           f"{C_NAMES[chosen.dtype.name]}")
    if call is over:
        warn_of_expanded("masked_fill_", array, "tensor[mask] = scalar")
    shapes = array.shape, chosen.shape
    common_shape(*(shapes if call is over else shapes[::-1]))
    if isinstance(value, TensorBase):
        if value._array.ndim:
            raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                               f"{value._array.ndim} dimension(s).")
        if value._array.dtype is not array.dtype:
            check_values(value._array, lambda number: check_convertible(number.item(), array.dtype))
        return call(ops.masked_fill_tensor, input, value, mask, into=elements.masked_fill_tensor_into)
    value = converted(number("masked_fill", "value", 3, value), array.dtype)
    return call(ops.masked_fill, input, mask, value, into=elements.masked_fill_into)


@public("masked_select(Tensor input, Tensor mask, out)", out=rule(exact=SCALAR, overlap=APART), method=True)
def masked_select(input: TensorBase, mask: TensorBase) -> Any:
    """A vector of the elements where the mask is true. The tensor and the mask broadcast to one shape."""
    if array_of("masked_select", mask, "mask", 2).dtype.kind != "b":
        raise noted(RuntimeError("masked_select: expected BoolTensor for mask"), given=f"{mask.dtype}")
    common_shape(mask._array.shape, input._array.shape)
    return _masked_select(input, mask)
