"""Giving a tensor another shape in place, on the memory that it has, or on more where nobody else looks at it.

Must not know operators.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import user_site
from ...graph.ownership import held_alone
from ...graph.versions import inherit, written
from ...kernels.layout import owner_of, strided
from ..arguments.options import (
    channels_last,
    channels_last_3d,
    check_tensor,
    contiguous_format,
    lies_in,
    order_of_shape,
    preserve_format,
    shape_of,
)
from ..state.base import TensorBase, note_layout, requires
from ..state.writable import refuse_inference


def reshape_memory(tensor: Any, shape: tuple[int, ...]) -> None:
    """Let the tensor be row-major of this shape, from where it starts in its memory. What was there stays.

    Raises RuntimeError where the memory is too small and others hold it too: NumPy's arrays cannot grow.
    """
    array = tensor._array
    owner = owner_of(array)
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0] if array.size else 0
    block = owner if owner.flags.c_contiguous else owner.T
    if start + math.prod(shape) * array.itemsize <= owner.nbytes and block.flags.c_contiguous and start >= 0:
        tensor._array = np.ndarray(shape, array.dtype, block, start)
        return
    tensor._array = None
    del owner, block
    grown = _grown(array, shape) if array.size == 0 or held_alone(array) else None
    if grown is None:
        tensor._array = array
        raise RuntimeError("Trying to resize storage that is not resizable. Others hold this memory too (a view, a "
                           "NumPy array, a graph), and a NumPy array cannot grow: resize a clone() instead.")
    tensor._array = grown


def _grown(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """New memory with what the array holds at its front."""
    fresh = np.empty(shape, array.dtype)
    fresh.reshape(-1)[:array.size] = array.reshape(-1)
    inherit(fresh, array)
    return fresh


def resize_(self: TensorBase, *sizes: Any, size: Any = None, memory_format: Any = None) -> TensorBase:
    """Give the tensor another shape, row by row over its memory, with more memory if that is too small.

    With `memory_format` the elements lie in that order instead, also where the shape stays as it is.
    New elements hold whatever the memory held. Raises RuntimeError if the tensor requires grad, and if
    memory that others share (views, arrays, graphs) would have to grow.

    >>> import retrograd as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = shape_of("resize_", sizes, size)
    if memory_format is preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    _resize("resize_", self, shape, memory_format)
    return self


def resize_as_(self: TensorBase, the_template: TensorBase, *, memory_format: Any = None) -> TensorBase:
    """`resize_` to the shape of another tensor; `preserve_format` takes over its memory format, too."""
    check_tensor("resize_as_", the_template, "the_template", 1)
    like = the_template._array
    if memory_format is preserve_format:
        memory_format = contiguous_format
        if not like.flags.c_contiguous:
            memory_format = next((last for last in (channels_last, channels_last_3d) if lies_in(last, like)),
                                 contiguous_format)
    _resize("resize_as_", self, like.shape, memory_format)
    return self


def _resize(name: str, tensor: Any, shape: tuple[int, ...], memory_format: Any) -> None:
    """Resize to a shape, in the order of a memory format; None is row by row, and leaves an equal shape as it is."""
    if requires(tensor):
        raise RuntimeError("cannot resize variables that require grad. Resize a detach() of it, or a clone.")
    if tensor._meta is not None:
        refuse_inference(tensor._meta)
    order: Any = "C" if memory_format is None else order_of_shape(name, memory_format, shape)
    other = shape != tensor._array.shape
    if other or memory_format is not None:
        reshape_memory(tensor, shape)
        if order != "C" and tensor._array.size:
            tensor._array = strided(tensor._array, shape, order)
            note_layout(tensor)
    if other:
        written(tensor._array, user_site(2))


class ResizingMethods:
    """Other shapes in place, as methods."""

    __slots__ = ()

    resize_, resize_as_ = resize_, resize_as_
