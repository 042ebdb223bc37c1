"""Tensors in other shapes, as functions and methods: views of the same memory wherever that is possible."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from ..kernels.shape import StrideError
from ..ops import shape as ops
from ..ops.basic import clone as _clone_op
from .dims import array_of, as_int, axis_of
from .recording import recorded

_view, _unsafe_view, _expand, _alias = (recorded(op) for op in (ops.view, ops.unsafe_view, ops.expand, ops.alias))
_permute, _transpose, _t = recorded(ops.permute), recorded(ops.transpose), recorded(ops.t)
_squeeze, _squeeze_dim, _squeeze_dims = recorded(ops.squeeze), recorded(ops.squeeze_dim), recorded(ops.squeeze_dims)
_unsqueeze, _diagonal, _diagonal_copy = recorded(ops.unsqueeze), recorded(ops.diagonal), recorded(ops.diagonal_copy)
_diag_embed, _unfold, _clone = recorded(ops.diag_embed), recorded(ops.unfold), recorded(_clone_op)


def sizes_of(name: str, sizes: Any, argument: str = "size") -> tuple[int, ...]:
    """Sizes given as `2, 3` or as one sequence, as a tuple of ints. Raises TypeError."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = sizes[0]
    for n in sizes:
        if type(n) is not int:
            return tuple([as_int(name, n, argument) for n in sizes])
    return tuple(sizes)


# The same elements in another shape

def view(input: Any, *size: Any, dtype: Any = None) -> Any:
    """The same memory in another shape, of which one size may be -1; or, given a dtype, read as that.

    Raises RuntimeError where the number of elements differs or the strides need a copy; `reshape` makes one then.
    """
    return _view(input, sizes_of("view", size))


def view_as(input: Any, other: Any) -> Any:
    """The same memory in the shape of `other`."""
    return _view(input, array_of("view_as", other, "other", 2).shape)


def reshape(input: Any, *shape: Any, **keyword: Any) -> Any:
    """The same elements in another shape, of which one size may be -1: a view where the strides allow it, else a copy.

    >>> import retrograd as torch
    >>> torch.tensor([[1, 2], [3, 4]]).reshape(-1)
    tensor([1, 2, 3, 4])
    """
    sizes = sizes_of("reshape", shape or (keyword.pop("shape"),))
    try:
        return _view(input, sizes)
    except StrideError:
        return _unsafe_view(_clone(input, "C"), sizes)


def reshape_as(input: Any, other: Any) -> Any:
    """The same elements in the shape of `other`."""
    return reshape(input, array_of("reshape_as", other, "other", 2).shape)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dimensions from `start_dim` to `end_dim` as one. Where that is one already, the tensor itself."""
    shape = array_of("flatten", input).shape
    first, last = axis_of("flatten", start_dim, len(shape)), axis_of("flatten", end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, (1,))
    if first == last:
        return input
    return reshape(input, (*shape[:first], int(np.prod(shape[first:last + 1], dtype=int)), *shape[last + 1:]))


# The axes in another order

def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """A view with two dimensions swapped."""
    ndim = array_of("transpose", input).ndim
    return _transpose(input, axis_of("transpose", dim0, ndim), axis_of("transpose", dim1, ndim))


swapaxes = swapdims = transpose


def permute(input: Any, *dims: Any, **keyword: Any) -> Any:
    """A view with the dimensions in the order given."""
    order = sizes_of("permute", dims or (keyword.pop("dims"),), "dims")
    ndim = array_of("permute", input).ndim
    if len(order) != ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length "
                           f"of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to "
                           f"len(dims) = {len(order)}")
    axes = tuple([axis_of("permute", d, ndim) for d in order])
    if len({*axes}) < len(axes):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permute(input, axes)


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """A view with some dimensions moved to other places; the rest keep their order."""
    ndim = array_of("movedim", input).ndim
    one = not isinstance(source, (tuple, list))
    sources = [axis_of("movedim", d, ndim) for d in ((source,) if one else source)]
    targets = [axis_of("movedim", d, ndim) for d in ((destination,) if one else destination)]
    if not ndim:
        return _alias(input)
    order = [d for d in range(ndim) if d not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return _permute(input, tuple(order))


moveaxis = movedim


def t(input: Any) -> Any:
    """A matrix transposed; a tensor of fewer dimensions as it is. Raises RuntimeError for more than two."""
    if array_of("t", input).ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _t(input)


# Axes of size 1

def squeeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """A view without the dimensions of size 1, or without those of them that `dim` names."""
    if axis is not None:
        dim = axis
    if dim is None:
        return _squeeze(input)
    ndim = array_of("squeeze", input).ndim
    if isinstance(dim, (tuple, list)):
        return _squeeze_dims(input, tuple([axis_of("squeeze", d, ndim) for d in dim]))
    return _squeeze_dim(input, axis_of("squeeze", dim, ndim))


def unsqueeze(input: Any, dim: int) -> Any:
    """A view with a dimension of size 1 at `dim`."""
    return _unsqueeze(input, axis_of("unsqueeze", dim, array_of("unsqueeze", input).ndim + 1))


# Repeated without copies

def expand(input: Any, *size: Any, implicit: bool = False) -> Any:
    """A view repeated along new leading dimensions and those of size 1. A size of -1 leaves a dimension as it is.

    Raises RuntimeError where a size that is not 1 would change.
    """
    sizes = sizes_of("expand", size)
    shape = array_of("expand", input).shape
    if sizes == shape:
        return _expand(input, shape)
    lead = len(sizes) - len(shape)
    if lead < 0:
        raise RuntimeError(
            f"expand(torch.{input.type() if False else 'FloatTensor'}{{{list(shape)}}}, size={list(sizes)}): the number "
            f"of sizes provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})")
    return _expand(input, sizes)


def broadcast_to(input: Any, size: Any) -> Any:
    """A view of the shape `size`, as broadcasting makes it."""
    return expand(input, size)


# NumPy's functions on tensors

def _np_transpose(a: Any, axes: Any = None) -> Any:
    return permute(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


def _np_expand_dims(a: Any, axis: Any) -> Any:
    if not isinstance(axis, (tuple, list)):
        return unsqueeze(a, axis)
    ndim = a.ndim + len(axis)
    for d in sorted(axis_of("expand_dims", d, ndim) for d in axis):
        a = unsqueeze(a, d)
    return a


NUMPY: dict[Any, Callable[..., Any]] = {
    np.reshape: lambda a, shape: reshape(a, (shape,) if isinstance(shape, int) else shape),
    np.broadcast_to: lambda array, shape: expand(array, (shape,) if isinstance(shape, int) else shape),
    np.swapaxes: transpose,
    np.transpose: _np_transpose,
    np.moveaxis: movedim,
    np.expand_dims: _np_expand_dims,
    np.squeeze: lambda a, axis=None: squeeze(a, axis),
}


class ShapeMethods:
    """Shapes, as methods."""

    __slots__ = ()

    view, view_as = view, view_as
    reshape, reshape_as, flatten = reshape, reshape_as, flatten
    transpose, swapaxes, swapdims = transpose, swapaxes, swapdims
    permute, movedim, moveaxis, t = permute, movedim, moveaxis, t
    squeeze, unsqueeze = squeeze, unsqueeze
    expand, broadcast_to = expand, broadcast_to
