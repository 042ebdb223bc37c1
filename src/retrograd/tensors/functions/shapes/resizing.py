"""Giving a tensor another shape in place, as functions and methods."""

from __future__ import annotations

from typing import Any

from ....errors import user_site
from ....graph.versions import written
from ...arguments.options import check_tensor, contiguous_format, shape_of
from ...recording.public import public
from ...recording.resizing import reshape_memory
from ...state.base import TensorBase, requires
from ...state.writable import refuse_inference


@public()
def resize_(self: TensorBase, *sizes: Any, size: Any = None, memory_format: Any = contiguous_format) -> TensorBase:
    """Let the tensor be of another shape, row by row over its memory, with more memory where that is too small.

    Elements that are new hold whatever the memory held. Raises RuntimeError where the tensor requires grad, and where
    memory that others share (views, arrays, graphs) would have to grow.

    >>> import retrograd as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = shape_of("resize_", sizes, size)
    if memory_format is not contiguous_format:
        name = repr(memory_format).removeprefix("torch.").removesuffix("_format")
        raise RuntimeError(f"Unsupported memory format{name.capitalize()}")
    _resize(self, shape)
    return self


@public()
def resize_as_(self: TensorBase, the_template: TensorBase, *, memory_format: Any = contiguous_format) -> TensorBase:
    """`resize_` to the shape of another tensor."""
    check_tensor("resize_as_", the_template, "the_template", 1)
    _resize(self, the_template._array.shape)
    return self


def _resize(tensor: Any, shape: tuple[int, ...]) -> None:
    if requires(tensor):
        raise RuntimeError("cannot resize variables that require grad. Resize a detach() of it, or a clone.")
    if tensor._meta is not None:
        refuse_inference(tensor._meta)
    if shape != tensor._array.shape:
        reshape_memory(tensor, shape)
        written(tensor._array, user_site(2))


class ResizingMethods:
    """Other shapes in place, as methods."""

    __slots__ = ()

    resize_, resize_as_ = resize_, resize_as_
