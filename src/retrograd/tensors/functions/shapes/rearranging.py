"""Diagonals, triangles, windows, repeated, flipped and rolled tensors, as functions and methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, unimplemented
from ....foundations.errors import kind_of, noted, warn
from ....kernels.meta import MetaArray, without_memory
from ....ops import joining, shape as ops, view_copies
from ...arguments.dims import array_of, arrays_of, as_int, axes_of, axis_of
from ...arguments.options import contiguous_format
from ...arguments.size import Size
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, FREE, UNDERIVED, Rule, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import TensorBase, plain
from ..indexing.gathering import index_select
from .shape import broadcast_tensors, clone, expand, flatten, sizes_of, unsqueeze, view

_diagonal, _unfold, _repeat, _flip = (recorded(op) for op in (ops.diagonal, ops.unfold, joining.repeat, joining.flip))


# Diagonals and triangles

def plane(name: str, dim1: int, dim2: int, ndim: int) -> tuple[int, int]:
    """The two axes of a plane. Raises RuntimeError if they are the same."""
    first, second = axis_of(name, dim1, ndim), axis_of(name, dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@public("diagonal(Tensor input, int offset=0, int dim1=0, int dim2=1)", method=True)
def diagonal(input: TensorBase, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A view of the diagonals over two dimensions. The diagonal is the last dimension of the view.

    >>> import retrograd as torch
    >>> torch.tensor([[1, 2], [3, 4]]).diagonal()
    tensor([1, 4])
    """
    axes = plane("diagonal", dim1, dim2, array_of("diagonal", input).ndim)
    return _diagonal(input, as_int("diagonal", offset, "offset"), *axes)


def _asked_of_diag(input: TensorBase, diagonal: int = 0) -> Rule:
    """The out= rule of `diag`. It depends on whether `diag` makes a matrix or takes a diagonal."""
    if input._array.ndim == 1:
        return rule(uncastable="diag: result type {result} can't be cast to the desired out= type {out}", exact=EXACT,
                    overlap=FREE, gradient=UNDERIVED, blame="diag_embed")
    return rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED, blame="diagonal_copy")


@public("diag(Tensor input, int diagonal=0, out)", out=_asked_of_diag, method=True)
def diag(input: TensorBase, diagonal: int = 0) -> Any:
    """Of a vector, a matrix with the vector on its diagonal; of a matrix, a copy of its diagonal."""
    ndim = input._array.ndim
    if ndim == 1:
        return ops.diag_embed(input, diagonal, 0, 1)
    if ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return view_copies.diagonal_copy(input, diagonal, 0, 1)


@public("diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1)", method=True)
def diag_embed(input: TensorBase, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices in two new dimensions, with the last dimension of `input` on a diagonal: (*, n) gives (*, n, n)."""
    axes = plane("diag_embed", dim1, dim2, array_of("diag_embed", input).ndim + 1)
    return ops.diag_embed(input, offset if axes[0] < axes[1] else -offset, *sorted(axes))


def _check_matrix(name: str, input: TensorBase) -> None:
    if input._array.ndim < 2:
        raise noted(
            RuntimeError(f"{name}: input tensor must have at least 2 dimensions"),
            given=f"the input has {input._array.ndim}")


_OUT_OF_TRIANGLE = rule(exact=EXACT, overlap=FREE, repeated=True)


@twins("tril(Tensor input, int diagonal=0, out)", out=_OUT_OF_TRIANGLE, strict=True, method=True)
def tril(call: Call, input: TensorBase, diagonal: int = 0) -> Any:
    """A copy with zeros above the diagonal number `diagonal` of the last two dimensions."""
    _check_matrix("tril", input)
    return call(joining.tril, input, diagonal)


@twins("triu(Tensor input, int diagonal=0, out)", out=_OUT_OF_TRIANGLE, strict=True, method=True)
def triu(call: Call, input: TensorBase, diagonal: int = 0) -> Any:
    """A copy with zeros below the diagonal number `diagonal` of the last two dimensions."""
    _check_matrix("triu", input)
    return call(joining.triu, input, diagonal)


@public("unfold(Tensor input, int dimension, int size, int step)", method=True, bound=True)
def unfold(input: TensorBase, dimension: int, size: int, step: int) -> Any:
    """A view of all windows of `size` elements along a dimension, `step` elements apart.

    The elements of a window are the new last dimension. Raises RuntimeError if `size` is larger than the dimension.

    >>> import retrograd as torch
    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    shape = array_of("unfold", input).shape
    axis = axis_of("unfold", dimension, len(shape))
    n = shape[axis] if shape else 1
    size, step = as_int("unfold", size, "size", 2), as_int("unfold", step, "step", 3)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > n:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {n} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return _unfold(input, axis, size, step)


# Repeated

@public("repeat(Tensor input, ints repeats)", method=True, bound=True)
def repeat(input: TensorBase, *counts: Any, repeats: Any = None) -> Any:
    """A new tensor that repeats `input` as often as `repeats` says for each dimension.

    If there are more counts than dimensions, the result has new leading dimensions.
    """
    counts = sizes_of("repeat", counts or (repeats,), "repeats")
    shape = array_of("repeat", input).shape
    if len(counts) < len(shape):
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    wanted = [n * m for n, m in zip(counts, (*(1,) * (len(counts) - len(shape)), *shape))]
    if min(wanted, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(wanted)}: {wanted}")
    return _repeat(input, counts)


@public("tile(Tensor input, ints dims)", method=True)
def tile(input: TensorBase, *repeats: Any, dims: Any = None) -> Any:
    """Like `repeat`. If there are fewer counts than dimensions, they are for the last dimensions."""
    counts = sizes_of("tile", repeats or (dims,), "dims")
    return repeat(input, (*(1,) * (array_of("tile", input).ndim - len(counts)), *counts))


@public(
    "repeat_interleave(Tensor input, Tensor repeats, int dim=None, *, int output_size=None)",
    "repeat_interleave(Tensor repeats, *, int output_size=None)",
    "repeat_interleave(Tensor input, int repeats, int dim=None, *, int output_size=None)", method=True)
def repeat_interleave(input: TensorBase, repeats: Any = None, dim: int | None = None, *,
                      output_size: int | None = None) -> Any:
    """Each slice along `dim` several times; without `dim`, each element. `repeats` is a number, or a tensor of counts.

    With only a tensor of counts, the result is the index of each count, repeated as often as the count says.

    >>> import retrograd as torch
    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if repeats is None:
        return plain(_places(input._array, output_size, input._array.dtype))
    if dim is None:
        input, dim = flatten(input), 0
    array = input._array
    axis = axis_of("repeat_interleave", dim, array.ndim)
    if isinstance(repeats, TensorBase):
        if repeats._array.ndim > 1:
            raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
        if not array.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        if repeats._array.size == 1:
            repeats = expand(flatten(repeats), array.shape[axis])
        elif repeats._array.size != array.shape[axis]:
            raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                               f"{repeats._array.size} and input.size({axis}) = {array.shape[axis]}")
        return index_select(input, axis, plain(_places(repeats._array, output_size, I64)))
    count = as_int("repeat_interleave", repeats, "repeats")
    if count < 0:
        raise noted(RuntimeError("Repeats must be non-negative"), because=f"but got {count}")
    shape = array.shape
    if shape and output_size not in (None, count * shape[axis]):
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {count * shape[axis]} but got "
                           f"{output_size}")
    wide = expand(unsqueeze(input, axis + 1), (*shape[:axis + 1], count, *shape[axis + 1:]))
    return flatten(clone(wide, memory_format=contiguous_format), axis, axis + 1)


def _places(counts: Any, output_size: int | None, dtype: np.dtype[Any]) -> Any:
    """The index of each count, as often as the count says. Raises RuntimeError if these are not `output_size`.

    Counts without memory make `output_size` indices without memory.
    """
    if isinstance(counts, MetaArray):
        if output_size is None:
            raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
        return without_memory((output_size,), dtype)
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if counts.dtype.kind != "i" or counts.itemsize < 4:
        raise unimplemented("repeat_interleave_cpu", counts.dtype, "convert with .long()")
    if output_size not in (None, counts.sum()):
        raise noted(
            RuntimeError("allocated size does not match required size"),
            because=f"output_size is {output_size}, and the counts add up to {counts.sum()}")
    if counts.size and counts.min() < 0:
        raise noted(RuntimeError("repeats can not be negative"), given=f"the smallest is {counts.min()}")
    return np.repeat(np.arange(counts.size, dtype=dtype), counts)


# Flipped, rolled and rotated

@public("flip(Tensor input, ints dims)", method=True)
def flip(input: TensorBase, *order: Any, dims: Any = None) -> Any:
    """A copy with the elements along some dimensions in reverse order."""
    if not order and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    named = sizes_of("flip", order or (dims,), "dims")
    return _flip(input, axes_of("flip", named, array_of("flip", input).ndim) if named else ())


@public("fliplr(Tensor input)", method=True)
def fliplr(input: TensorBase) -> Any:
    """A copy with the elements along the second dimension in reverse order."""
    if input._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _flip(input, (1,))


@public("flipud(Tensor input)", method=True)
def flipud(input: TensorBase) -> Any:
    """A copy with the elements along the first dimension in reverse order."""
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return _flip(input, (0,))


@public("roll(Tensor input, ints[1] shifts, ints[1] dims=[])", strict=True, method=True)
def roll(input: TensorBase, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Any:
    """A copy with the elements shifted along some dimensions. Elements that leave at one end enter at the other.

    Without `dims` the tensor is rolled as if it were flat.

    >>> import retrograd as torch
    >>> torch.tensor([1, 2, 3]).roll(1)
    tensor([3, 1, 2])
    """
    moves = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    named = () if dims is None else tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if not moves:
        raise RuntimeError("`shifts` required")
    if len(named) != len(moves) and (named or len(moves) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(named)}")
    array = array_of("roll", input)
    if named and not array.ndim:
        raise IndexError(f"Dimension specified as {named[0]} but tensor has no dimensions")
    if not array.size:
        return joining.roll(input, moves[:1], ())
    return joining.roll(input, moves, tuple([axis_of("roll", d, array.ndim) for d in named]))


@public("rot90(Tensor input, int k=1, ints dims=[0, 1])", strict=True, method=True)
def rot90(input: TensorBase, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """A copy rotated by k right angles, from the first of two dimensions towards the second."""
    ndim = array_of("rot90", input).ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    axes = tuple([axis_of("rot90", d, ndim) for d in dims])
    if axes[0] == axes[1]:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return joining.rot90(input, k, axes)


# Several tensors in one shape

@public()
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError if there is no such shape."""
    common = [1] * max([len(s) if isinstance(s, (tuple, list)) else 1 for s in shapes], default=0)
    for i, shape in enumerate(shapes):
        sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
        for back in range(1, len(sizes) + 1):
            n = sizes[-back]
            if common[-back] == 1:
                common[-back] = n
            elif n not in (1, common[-back]):
                raise RuntimeError(f"Attempting to broadcast a dimension of length {n} at -{back}! Mismatching "
                                   f"argument at index {i} had {sizes}; but expected shape should be broadcastable to "
                                   f"{common}")
    return Size(common)


@public()
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Any, ...]:
    """Grids of coordinates: view i has the elements of tensor i along dimension i. With "xy" the first two dimensions
    are swapped."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if indexing is None:
        warn("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
             UserWarning)
    elif not isinstance(indexing, str):
        raise TypeError(f"meshgrid(): argument 'indexing' must be str, not {kind_of(indexing)}")
    elif indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x, array in zip(given, arrays_of(given)):
        if array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x!r}")
    if len({x._array.dtype for x in given}) > 1:
        raise noted(
            RuntimeError("meshgrid expects all tensors to have the same dtype"), instead="convert them with .to(...)")
    swap = indexing == "xy" and len(given) > 1
    order = [given[1], given[0], *given[2:]] if swap else [*given]
    shape = tuple([x._array.size for x in order])
    grids = [expand(view(x, (*(1,) * i, -1, *(1,) * (len(order) - 1 - i))), shape) for i, x in enumerate(order)]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


NUMPY: dict[Any, Callable[..., Any]] = {
    np.diagonal: lambda a, offset=0, axis1=0, axis2=1: diagonal(a, offset, axis1, axis2),
    np.diag: lambda v, k=0: diag(v, k),
    np.tril: lambda m, k=0: tril(m, k),
    np.triu: lambda m, k=0: triu(m, k),
    np.tile: lambda A, reps: tile(A, reps),
    np.flip: lambda m, axis=None: _flip(m, axes_of("flip", axis, m.ndim)),
    np.fliplr: fliplr,
    np.flipud: flipud,
    np.roll: lambda a, shift, axis=None: roll(a, shift, axis),
    np.rot90: lambda m, k=1, axes=(0, 1): rot90(m, k, axes),
    np.repeat: lambda a, repeats, axis=None: repeat_interleave(a, repeats, axis),
    np.meshgrid: lambda *xi, indexing="xy": meshgrid(*xi, indexing=indexing),
    np.broadcast_arrays: lambda *args: broadcast_tensors(*args),
}
