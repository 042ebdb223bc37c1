"""Tensors with their dimensions in another order, as functions and methods. The results are views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.errors import noted, warn_once
from ....ops import shape as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, axis_of
from ...recording.calls import recorded
from ...recording.public import methods, public, public_property, renamed
from ...transforms.batched import is_batch
from .shape import sizes_of

_permute, _transpose, _t = recorded(ops.permute), recorded(ops.transpose), recorded(ops.t)
_alias = recorded(ops.alias)


@public(method=True)
def transpose(input: TensorBase, dim0: int, dim1: int) -> Any:
    """A view with two dimensions swapped."""
    array = array_of("transpose", input)
    first, second = axis_of("transpose", dim0, array.ndim), axis_of("transpose", dim1, array.ndim)
    return input if not array.ndim and is_batch(array) else _transpose(input, first, second)


swapdims = transpose


@public("swapaxes(Tensor input, int axis0, int axis1)", method=True)
def swapaxes(input: TensorBase, axis0: int, axis1: int) -> Any:
    """A view with two dimensions swapped."""
    return transpose(input, axis0, axis1)


@public("permute(Tensor input, ints dims)", method=True)
def permute(input: TensorBase, *order: Any, dims: Any = None) -> Any:
    """A view with the dimensions in the given order."""
    order = sizes_of("permute", order or (dims,), "dims")
    ndim = array_of("permute", input).ndim
    if len(order) != ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length "
                           f"of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to "
                           f"len(dims) = {len(order)}")
    axes = tuple([axis_of("permute", d, ndim) for d in order])
    if len({*axes}) < len(axes):
        raise noted(RuntimeError("permute(): duplicate dims are not allowed."), given=f"{[*order]}")
    return _permute(input, axes)


@public("movedim(Tensor input, int source, int destination)", "movedim(Tensor input, ints source, ints destination)",
        method=True)
def movedim(input: TensorBase, source: Any, destination: Any) -> Any:
    """A view with the dimensions `source` at the places `destination`. The other dimensions keep their order."""
    ndim = array_of("movedim", input).ndim
    source, destination = ([*d] if isinstance(d, (tuple, list)) else [d] for d in (source, destination))
    if len(source) != len(destination):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({source} dims) should contain "
                           f"the same number of dims as destination ({destination} dims)")
    sources, targets = ([axis_of("movedim", d, ndim) for d in dims] for dims in (source, destination))
    for name, dims, axes in ("source", source, sources), ("destination", destination, targets):
        if len({*axes}) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if not ndim:
        return _alias(input)
    order = [d for d in range(ndim) if d not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return _permute(input, tuple(order))


moveaxis = renamed(movedim, "moveaxis")


@public("t(Tensor input)", method=True)
def t(input: TensorBase) -> Any:
    """The transposed matrix; a vector or number as it is. Raises RuntimeError for more than two dimensions."""
    ndim = array_of("t", input).ndim
    if ndim > 2:
        raise noted(
            RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D"),
            because="mT transposes the last two")
    return _t(input)


def reversed_axes(input: TensorBase) -> Any:
    """A view with the dimensions in reverse order."""
    return _permute(input, tuple(range(input._array.ndim))[::-1])


_OTHER_DIMENSIONS = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
    "error in a future release. Consider `x.mT` to transpose batches of matrices or "
    "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.")


def turned(input: TensorBase) -> Any:
    """`reversed_axes`, as the attribute T, which is meant for matrices."""
    ndim = input._array.ndim
    if ndim != 2:
        warn_once(_OTHER_DIMENSIONS if ndim else f"Tensor.T {_OF_A_NUMBER}")
    return reversed_axes(input)


_OF_A_NUMBER = "is deprecated on 0-D tensors. This function is the identity in these cases."
_CONJUGATE_OF_A_NUMBER = "is deprecated on 0-D tensors. Consider using x.conj()."


def matrices_turned(input: TensorBase) -> Any:
    """`matrices_transposed`, as the attribute mT."""
    if not input._array.ndim:
        warn_once(f"Tensor.mT {_OF_A_NUMBER}")
    return matrices_transposed(input)


def matrices_transposed(input: TensorBase) -> Any:
    """A view with the last two dimensions swapped."""
    ndim = array_of("mT", input).ndim
    if ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _transpose(input, ndim - 2, ndim - 1) if ndim else input


@public(method=True)
def adjoint(input: TensorBase) -> Any:
    """The last two dimensions swapped, and the elements conjugated if they are complex."""
    ndim = array_of("adjoint", input).ndim
    if ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not ndim:
        warn_once(f"adjoint() {_CONJUGATE_OF_A_NUMBER}")
    return _adjoint(input)


def _adjoint(input: TensorBase) -> Any:
    transposed = matrices_transposed(input)
    return np.conjugate(transposed) if transposed._array.dtype.kind == "c" else transposed


def matrices_adjoint(input: TensorBase) -> Any:
    """`adjoint`, as the attribute mH."""
    if input._array.ndim == 1:
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not input._array.ndim:
        warn_once(f"Tensor.mH {_CONJUGATE_OF_A_NUMBER}")
        return _adjoint(input)
    return adjoint(input)


def matrix_adjoint(input: TensorBase) -> Any:
    """The transposed matrix, with its elements conjugated if they are complex."""
    ndim = input._array.ndim
    if ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else ""))
    if not ndim:
        warn_once(f"Tensor.H {_CONJUGATE_OF_A_NUMBER}")
        return _adjoint(input)
    return adjoint(input)


def _np_transpose(a: TensorBase, axes: tuple[int, ...] | None = None) -> Any:
    return reversed_axes(a) if axes is None else permute(a, axes)


NUMPY: dict[Any, Callable[..., Any]] = {
    np.swapaxes: transpose,
    np.transpose: _np_transpose,
    np.matrix_transpose: matrices_transposed,
    np.moveaxis: movedim,
}


methods(
    swapdims=swapdims, moveaxis=moveaxis, T=public_property(turned), mT=public_property(matrices_turned),
    H=public_property(matrix_adjoint), mH=public_property(matrices_adjoint))
