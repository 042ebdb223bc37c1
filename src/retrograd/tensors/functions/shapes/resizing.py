"""Changes of a tensor's shape in place, as functions and methods."""

from __future__ import annotations

from typing import Any

from ....errors import user_site
from ....graph.versions import written
from ....kernels.layout import in_rows, strided
from ...arguments import options
from ...recording.public import public
from ...recording.resizing import reshape_memory
from ...state.base import TensorBase, note_layout, requires
from ...state.writable import refuse_inference


@public(method=True)
def resize_(self: TensorBase, *sizes: Any, size: Any = None, memory_format: Any = None) -> TensorBase:
    """Give the tensor another shape, row by row over its memory. If the memory is too small, it grows.

    With `memory_format` the elements lie in this order instead, even if the shape does not change. New elements are
    whatever the memory held. Raises RuntimeError if the tensor requires grad, and if memory that views, arrays or
    graphs share would have to grow.

    >>> import retrograd as torch
    >>> torch.arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = options.shape_of("resize_", sizes, size)
    if memory_format is options.preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    _resize("resize_", self, shape, memory_format)
    return self


@public(method=True)
def resize_as_(self: TensorBase, the_template: TensorBase, *, memory_format: Any = None) -> TensorBase:
    """`resize_` to the shape of another tensor. `preserve_format` also takes its memory format."""
    options.check_tensor("resize_as_", the_template, "the_template", 1)
    like = the_template._array
    if memory_format is options.preserve_format:
        memory_format = options.contiguous_format
        if not in_rows(like):
            formats = (options.channels_last, options.channels_last_3d)
            memory_format = next((last for last in formats if options.lies_in(last, like)), memory_format)
    _resize("resize_as_", self, like.shape, memory_format)
    return self


def _resize(name: str, tensor: Any, shape: tuple[int, ...], memory_format: Any) -> None:
    """Resize to a shape, in the order of a memory format. None is row by row, and keeps an equal shape as it is."""
    if requires(tensor):
        raise RuntimeError("cannot resize variables that require grad. Resize x.detach() or a clone instead.")
    if tensor._meta is not None:
        refuse_inference(tensor._meta)
    order: Any = "C" if memory_format is None else options.order_of_shape(name, memory_format, shape)
    other = shape != tensor._array.shape
    if other or memory_format is not None:
        reshape_memory(tensor, shape)
        if order != "C" and tensor._array.size:
            tensor._array = strided(tensor._array, shape, order)
            note_layout(tensor)
    if other:
        written(tensor._array, user_site(2))
