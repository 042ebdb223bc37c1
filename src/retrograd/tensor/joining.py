"""Joining, splitting, repeating and rearranging tensors, as functions and methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops import joining as ops
from .dims import array_of, as_int, axes_of, axis_of
from .recording import recorded
from .shape import flatten, sizes_of, unsqueeze

_cat, _stack = recorded(ops.cat), recorded(ops.stack)
_unbind, _split, _split_with_sizes = recorded(ops.unbind), recorded(ops.split), recorded(ops.split_with_sizes)
_repeat, _flip, _roll, _rot90 = recorded(ops.repeat), recorded(ops.flip), recorded(ops.roll), recorded(ops.rot90)
_tril, _triu = recorded(ops.tril), recorded(ops.triu)


def _sequence(name: str, tensors: Any) -> Any:
    """The tensors to join, as a tuple or list. Raises TypeError or RuntimeError where it is none."""
    if type(tensors) is not tuple and type(tensors) is not list:
        if isinstance(tensors, (tuple, list)):
            return tuple(tensors)
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    return tensors


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: Any = None) -> Any:
    """Tensors one after another along `dim`, in their common dtype.

    All other sizes must be equal; a tensor of shape [0] is passed over. Raises RuntimeError where sizes differ.

    >>> import retrograd as torch
    >>> torch.cat([torch.tensor([1., 2.]), torch.tensor([3.])])
    tensor([1., 2., 3.])
    """
    tensors = _sequence("cat", tensors)
    if not tensors:
        raise RuntimeError("torch.cat(): expected a non-empty list of Tensors")
    if axis is not None:
        dim = axis
    arrays = [array_of("cat", x, "tensors") for x in tensors]
    ndim = next((a.ndim for a in arrays if a.shape != (0,)), 1)
    if not ndim or not all([a.ndim for a in arrays]):
        at = next(i for i, a in enumerate(arrays) if not a.ndim)
        raise RuntimeError(f"zero-dimensional tensor (at position {at}) cannot be concatenated")
    return _cat(tensors, axis_of("cat", dim, ndim))


concat = concatenate = cat


def stack(tensors: Sequence[Any], dim: int = 0, *, axis: Any = None) -> Any:
    """Tensors of one shape along a new dimension `dim`, in their common dtype.

    Raises RuntimeError where shapes differ.
    """
    tensors = _sequence("stack", tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    ndim = array_of("stack", tensors[0], "tensors").ndim + 1
    return _stack(tensors, axis_of("stack", dim if axis is None else axis, ndim))


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices along `dim`, each a view without that dimension."""
    array = array_of("unbind", input)
    if not array.ndim:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    parts: tuple[Any, ...] = _unbind(input, axis_of("unbind", dim, array.ndim))
    return parts


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0, *, split_size: Any = None) -> tuple[Any, ...]:
    """Consecutive views along `dim`: of one size (the last may be smaller), or of the sizes in a list.

    Raises RuntimeError where the sizes do not add up to the tensor's.
    """
    array = array_of("split", tensor)
    if not array.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of("split", dim, array.ndim)
    n = array.shape[axis]
    if isinstance(split_size_or_sections, (tuple, list)):
        return _of_sizes(tensor, sizes_of("split_with_sizes", split_size_or_sections), axis, n)
    size = as_int("split", split_size_or_sections, "split_size_or_sections")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if not size and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    count = -(-n // size) if n else 1
    parts: tuple[Any, ...] = _split(tensor, (size,) * (count - 1) + (n - size * (count - 1),), axis)
    return parts


def _of_sizes(tensor: Any, sizes: tuple[int, ...], axis: int, n: int) -> tuple[Any, ...]:
    if any([size < 0 for size in sizes]) or sum(sizes) != n:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                           f"dimension {axis}), but got split_sizes={[*sizes]}")
    parts: tuple[Any, ...] = _split_with_sizes(tensor, sizes, axis)
    return parts


# NumPy's functions on tensors

def _np_concatenate(arrays: Any, axis: Any = 0) -> Any:
    if axis is None:
        return cat([flatten(x) for x in arrays])
    return cat(arrays, axis)


def _np_flip(m: Any, axis: Any = None) -> Any:
    return _flip(m, axes_of("flip", axis, array_of("flip", m).ndim))


NUMPY: dict[Any, Callable[..., Any]] = {
    np.concatenate: _np_concatenate,
    np.stack: lambda arrays, axis=0: stack(arrays, axis),
    np.flip: _np_flip,
}


class JoiningMethods:
    """Joining and splitting, as methods."""

    __slots__ = ()

    unbind = unbind
    split = split
