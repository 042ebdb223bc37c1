"""Joining and splitting tensors, as functions and methods. Parts are views; joined tensors have new memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, dtype as torch_dtype
from ....foundations.errors import noted
from ....ops import joining as ops
from ....ops.indexing.indexing import slice_
from ...arguments.checking import refusal
from ...arguments.dims import array_of, arrays_of, as_int, axis_of, bounds
from ...recording.calls import recorded
from ...recording.out_rules import APART, UNJOINABLE, rule
from ...recording.public import public, renamed
from ...state.base import TensorBase, numbers_in
from .shape import flatten, reshape, sizes_of, unsqueeze, view

_cat, _stack = recorded(ops.cat), recorded(ops.stack)
_unbind, _split, _split_with_sizes = recorded(ops.unbind), recorded(ops.split), recorded(ops.split_with_sizes)
_slice = recorded(slice_)


# A part takes some hundred bytes, so more parts than these take over 64 GiB. PyTorch's vector has the second limit.
_MOST_PARTS, _LONGEST_VECTOR = 1 << 28, (1 << 60) - 1


def _sequence(name: str, tensors: Any) -> Any:
    """The tensors to join. Raises TypeError unless they are a tuple or list, RuntimeError if there are none."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


@public("cat(Tensors tensors, int dim=0, out)", out=rule(uncastable=UNJOINABLE, error=TypeError, overlap=APART))
def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """The tensors one after another along `dim`, in their common dtype.

    All other sizes must be equal. Tensors of shape [0] are ignored. Raises RuntimeError if other sizes differ, and
    ValueError for an empty list.

    >>> import retrograd as torch
    >>> torch.cat([torch.tensor([1., 2.]), torch.tensor([3.])])
    tensor([1., 2., 3.])
    """
    if isinstance(tensors, (tuple, list)) and not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    arrays = arrays_of(_sequence("cat", tensors))
    ndim = arrays[0].ndim
    if ndim <= 1:
        for i, a in enumerate(arrays):
            if not a.ndim:
                raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
            if a.shape != (0,):
                ndim = max(ndim, a.ndim)
    return _cat(tensors, axis_of("cat", dim, ndim))


concat, concatenate = renamed(cat, "concat"), renamed(cat, "concatenate")


@public("stack(Tensors tensors, int dim=0, out)",
        out=rule(uncastable=UNJOINABLE, error=TypeError, overlap=APART, in_rows=True))
def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors of the same shape along a new dimension `dim`, in their common dtype.

    Raises RuntimeError if the shapes differ.

    >>> import retrograd as torch
    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    ndim = arrays_of(_sequence("stack", tensors))[0].ndim + 1
    return _stack(tensors, axis_of("stack", dim, ndim))


@public("unbind(Tensor input, int dim=0)", method=True)
def unbind(input: TensorBase, dim: int = 0) -> tuple[Any, ...]:
    """The slices along `dim`, each a view without that dimension."""
    array = input._array
    axis = axis_of("unbind", dim, array.ndim)
    if not array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    parts: tuple[Any, ...] = _unbind(input, axis)
    return parts


@public()
def split(tensor: TensorBase, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Consecutive views along `dim`: all of the size given (the last may be smaller), or of the sizes in a list.

    Raises RuntimeError if the sizes in the list do not add up to the size of `dim`.

    >>> import retrograd as torch
    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return _split_into(tensor, split_size_or_sections, dim)


@public(method=True, name="Tensor.split")
def split_of(tensor: TensorBase, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """Consecutive views along `dim`. See `torch.split`.

    >>> import retrograd as torch
    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    return _split_into(tensor, split_size, dim)


def _split_into(tensor: TensorBase, given: Any, dim: int) -> tuple[Any, ...]:
    array = array_of("split", tensor)
    try:
        return _pieces(tensor, array, given, dim)
    except TypeError as error:
        schemas = _OF_ONE_SIZE if isinstance(given, int) else _OF_SIZES
        raise refusal(schemas, (tensor, given, dim), {}) or error from None


_OF_ONE_SIZE = ("split(Tensor input, int split_size, int dim=0)", "split(Tensor input, ints split_size, int dim=0)")
_OF_SIZES = ("split_with_sizes(Tensor input, ints split_sizes, int dim=0)",)


def _pieces(tensor: TensorBase, array: Array, given: Any, dim: int) -> tuple[Any, ...]:
    if not array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of("split", dim, array.ndim)
    n = array.shape[axis]
    if isinstance(given, (tuple, list)):
        return _of_sizes(tensor, sizes_of("split_with_sizes", (given,)), axis, n)
    size = as_int("split", given, "split_size_or_sections")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if not size and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    count = -(-n // size) if n else 1
    _refuse_endless(count)
    parts: tuple[Any, ...] = _split(tensor, (size,) * (count - 1) + (n - size * (count - 1),), axis)
    return parts


@public(method=True)
def split_with_sizes(input: TensorBase, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Consecutive views along `dim`, of the given sizes. Raises RuntimeError if they do not add up to its size."""
    return split(input, [*split_sizes], dim)


def _refuse_endless(count: int) -> None:
    """Raise RuntimeError for a number of parts that no memory holds."""
    if count > _MOST_PARTS:
        said = "std::bad_alloc" if count <= _LONGEST_VECTOR else "cannot create std::vector larger than max_size()"
        raise noted(RuntimeError(said), because=f"{count} parts do not fit into memory", instead="ask for fewer parts")


def _of_sizes(tensor: TensorBase, sizes: tuple[int, ...], axis: int, n: int) -> tuple[Any, ...]:
    if any([size < 0 for size in sizes]):
        raise RuntimeError("split_with_sizes expects split_sizes have only non-negative entries, but got "
                           f"split_sizes={[*sizes]}")
    if sum(sizes) != n:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                           f"dimension {axis}), but got split_sizes={[*sizes]}")
    parts: tuple[Any, ...] = _split_with_sizes(tensor, sizes, axis)
    return parts


@public("chunk(Tensor input, int chunks, int dim=0) -> Tensors", event="aten::chunk", method=True)
def chunk(input: TensorBase, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` consecutive views along `dim`, all of the same size except the last, which may be smaller."""
    array = input._array
    if not array.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = axis_of("chunk", dim, array.ndim)
    if array.shape[axis] + chunks - 1 >= 2 ** 63:
        raise noted(
            RuntimeError("split expects split_size be non-negative, but got split_size=-1"), given=f"{chunks} chunks")
    size = -(-array.shape[axis] // chunks)
    if not size:
        _refuse_endless(chunks)
        return _of_sizes(input, (0,) * chunks, axis, 0)
    return split(input, size, axis)


@public(
    "tensor_split(Tensor input, ints indices, int dim=0)",
    "tensor_split(Tensor input, Tensor tensor_indices_or_sections, int dim=0)",
    "tensor_split(Tensor input, int sections, int dim=0)",
    event="aten::tensor_split", method=True)
def tensor_split(input: TensorBase, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None,
                 sections: Any = None, tensor_indices_or_sections: Any = None) -> tuple[Any, ...]:
    """Views along `dim`: a number of parts of nearly equal size, or the parts between the given indices.

    >>> import retrograd as torch
    >>> torch.arange(5).tensor_split([1, 3])
    (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    array = input._array
    if not array.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis = axis_of("tensor_split", dim, array.ndim)
    n = array.shape[axis]
    given = _given(indices_or_sections, indices, sections)
    if isinstance(given, TensorBase):
        given = _as_ints(given)
    if isinstance(given, (tuple, list)):
        cuts = [as_int("tensor_split", i, "indices") for i in given]
    else:
        count = as_int("tensor_split", given, "sections")
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        _refuse_endless(count)
        cuts = [i * (n // count) + min(i, n % count) for i in range(1, count)]
    parts = []
    for start, stop in zip((0, *cuts), (*cuts, n)):
        begin, end, _ = bounds(slice(start, stop), n)
        parts.append(_slice(input, axis, begin, max(begin, end), 1))
    return tuple(parts)


def _as_ints(given: Any) -> Any:
    """The indices or the number of sections, given as a tensor, in Python's ints."""
    array = given._array
    if array.dtype != np.int64:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                           f"{torch_dtype.of[array.dtype].legacy}")
    if array.ndim > 1:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                           f"one-dimensional tensor, but got a tensor with {array.ndim} dims")
    return numbers_in(given)


def _given(*alternatives: Any) -> Any:
    """The value of an argument that has several names."""
    return next((v for v in alternatives if v is not None), None)


def _split_along(name: str, dim: int, least: int, about: str) -> Callable[..., Any]:
    """hsplit, vsplit or dsplit: `tensor_split` along one dimension, with parts of equal size for a number of parts."""

    @public(f"{name}(Tensor input, int sections) -> Tensors", f"{name}(Tensor input, ints indices) -> Tensors",
            event=f"aten::{name}", method=True, name=name, doc=f"`tensor_split` along {about}.")
    def function(input: TensorBase, indices_or_sections: Any = None, *, indices: Any = None,
                 sections: Any = None) -> Any:
        shape, given = input._array.shape, _given(indices_or_sections, indices, sections)
        if len(shape) < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                               f"{len(shape)} dimensions!")
        axis = min(dim, len(shape) - 1)
        if isinstance(given, int) and given > 0 and shape[axis] % given:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension "
                               f"{shape[axis]} is not divisible by the split_size {given}!")
        return tensor_split(input, given, axis)

    return function


hsplit = _split_along("hsplit", 1, 1, "the second dimension; of a vector, along its only dimension")
vsplit = _split_along("vsplit", 0, 2, "the first dimension. The tensor needs at least two dimensions")
dsplit = _split_along("dsplit", 2, 3, "the third dimension. The tensor needs at least three dimensions")


# Stacks along the first, second or third dimension

def _one_dim(x: TensorBase) -> Any:
    return x if array_of("atleast_1d", x).ndim else reshape(x, (1,))


def _two_dims(x: TensorBase) -> Any:
    ndim = array_of("atleast_2d", x).ndim
    return x if ndim >= 2 else unsqueeze(x, 0) if ndim else reshape(x, (1, 1))


def _three_dims(x: TensorBase) -> Any:
    ndim = array_of("atleast_3d", x).ndim
    if ndim == 1:
        return unsqueeze(unsqueeze(x, 0), -1)
    return x if ndim >= 3 else unsqueeze(x, -1) if ndim else reshape(x, (1, 1, 1))


def _at_least(name: str, least: Callable[[Any], Any], about: str) -> Callable[..., Any]:
    """The function atleast_1d, atleast_2d or atleast_3d, of one tensor or of several."""

    ways = f"{name}(Tensor input)", f"{name}(Tensors tensors)"

    @public(name=name, doc=f"Each tensor with at least {about}.")
    def function(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 else tensors
        refused = None if isinstance(given, TensorBase) else refusal(ways, (given,), {})
        if refused is not None:
            raise refused
        return tuple([least(x) for x in given]) if isinstance(given, (tuple, list)) else least(given)

    return function


atleast_1d = _at_least("atleast_1d", _one_dim, "one dimension")
atleast_2d = _at_least("atleast_2d", _two_dims, "two dimensions. New dimensions are in front")
atleast_3d = _at_least("atleast_3d", _three_dims,
                       "three dimensions. A matrix (n, m) becomes (n, m, 1), a vector (1, n, 1)")


def _column(x: TensorBase) -> Any:
    return x if array_of("column_stack", x).ndim > 1 else view(x, (x._array.size, 1))


def _stack_along(name: str, dim: int, least: Callable[[Any], Any], about: str) -> Callable[..., Any]:
    """hstack, vstack, dstack or column_stack: `cat` along one dimension, of tensors to which `least` adds dimensions.

    Vectors that stay vectors are joined along their only dimension.
    """

    @public(f"{name}(Tensors tensors, out)", event=f"aten::{name}", name=name, doc=f"The tensors, joined {about}.",
            out=rule(uncastable=UNJOINABLE, error=TypeError, overlap=APART, blame="cat"))
    def function(tensors: Sequence[Any]) -> Any:
        parts = [least(x) for x in _sequence(name, tensors)]
        return cat(parts, min(dim, parts[0]._array.ndim - 1))

    return function


hstack = _stack_along("hstack", 1, _one_dim, "side by side: along the second dimension; vectors along their only one")
vstack = _stack_along("vstack", 0, _two_dims, "one below the other: along the first dimension. Vectors count as rows")
dstack = _stack_along("dstack", 2, _three_dims, "one behind the other: along the third dimension. See `atleast_3d`")
column_stack = _stack_along("column_stack", 1, _column, "side by side: along the second dimension. Vectors count as "
                                                        "columns")
row_stack = renamed(vstack, "row_stack")


# NumPy's functions on tensors

def _np_concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis is None:
        return cat([flatten(x) for x in arrays])
    return cat(arrays, axis)


def _np_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    n = array_of("split", ary).shape[axis]
    if not isinstance(indices_or_sections, (tuple, list, np.ndarray)) and n % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return [*tensor_split(ary, indices_or_sections, axis)]


NUMPY: dict[Any, Callable[..., Any]] = {
    np.concatenate: _np_concatenate,
    np.stack: lambda arrays, axis=0: stack(arrays, axis),
    np.split: _np_split,
    np.array_split: lambda ary, indices_or_sections, axis=0: [*tensor_split(ary, indices_or_sections, axis)],
    np.hstack: hstack,
    np.vstack: vstack,
    np.dstack: dstack,
    np.column_stack: column_stack,
    np.atleast_1d: atleast_1d,
    np.atleast_2d: atleast_2d,
    np.unstack: lambda x, axis=0: unbind(x, axis),
}
