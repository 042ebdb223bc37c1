"""Reading and writing by index. The derivative of a read adds into zeros, and the derivative of that is the read.

A single index array is an operand without a derivative. `indices`, a tuple of several, is a static option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.indexing import gathering, indexing as kernels, scattering, selecting, view_scatters
from ..choosing import choose
from ..framework import Op, linear, operator
from ..shape import diagonal, transfer

if TYPE_CHECKING:
    from ..values import Value

# One element or a range of a dimension

select: Op = linear("select", kernels.select, view=True,
                    x=lambda g, x_shape, dim, index: select_backward(g, x_shape, dim, index))
select_backward: Op = linear("select_backward", kernels.select_backward, g=lambda g, dim, index: select(g, dim, index))
slice_: Op = linear("slice", kernels.slice_, view=True,
                    x=lambda g, x_shape, dim, start, stop, step: slice_backward(g, x_shape, dim, start, stop, step))
slice_backward: Op = linear("slice_backward", kernels.slice_backward,
                            g=lambda g, dim, start, stop, step: slice_(g, dim, start, stop, step))



def cropped(x: Value, shape: Shape) -> Any:
    """The part of this shape at the start of `x`."""
    for dim, size in enumerate(shape):
        if x.shape[dim] != size:
            x = slice_(x, dim, 0, size, 1)
    return x


def grown(x: Value, shape: Shape) -> Any:
    """Zeros of this shape, with `x` at the start: the adjoint of `cropped`."""
    for dim, size in enumerate(shape):
        if x.shape[dim] != size:
            x = slice_backward(x, (*x.shape[:dim], size, *x.shape[dim + 1:]), dim, 0, x.shape[dim], 1)
    return x


# By index arrays, as in x[…]

index: Op = linear("index", selecting.index, layout="kept",
                   x=lambda g, x_shape, indices: index_backward(g, x_shape, indices))
index_backward: Op = linear("index_backward", kernels.index_backward, g=lambda g, indices: index(g, indices))
without: Op = linear("without", kernels.without, g=lambda g, indices: without(g, indices))


index_put: Op = linear("index_put", kernels.index_put, layout="kept",
                       x=lambda g, indices, accumulate: g if accumulate else without(g, indices),
                       values=lambda g, indices: index(g, indices))

# Along one dimension

index_select: Op = linear("index_select", kernels.index_select, tensors=2,
                          x=lambda g, index, x_shape, dim: index_select_backward(g, index, x_shape, dim))
index_select_backward: Op = linear("index_select_backward", scattering.index_select_backward, tensors=2,
                                   g=lambda g, index, dim: index_select(g, index, dim))


def _to_added(g: Value, source_shape: Shape, index: Value, dim: int, alpha: complex) -> Any:
    taken = np.reshape(index_select(g, index, dim), source_shape)
    return taken if alpha == 1 else taken * (complex(np.conj(alpha)) if type(alpha) is complex else alpha)


def _cleared(g: Value, index: Value, dim: int) -> Any:
    return index_fill(g, index, dim, 0)


index_add: Op = linear("index_add", scattering.index_add, tensors=3, x=lambda g: g, source=_to_added)
index_copy: Op = linear("index_copy", kernels.index_copy, tensors=3, x=_cleared,
                        source=lambda g, source_shape, index, dim: _to_added(g, source_shape, index, dim, 1))
only: Op = linear("only", kernels.only, tensors=2, g=lambda g, index, dim: only(g, index, dim))
index_fill: Op = operator("index_fill", kernels.index_fill, layout="kept", tensors=2, x=_cleared)
index_fill_tensor: Op = linear("index_fill", kernels.index_fill_tensor, layout="kept", node=1, tensors=3, x=_cleared,
                               value=lambda g, index, dim: np.sum(only(g, index, dim)))

# One index for each element, along one dimension

gather: Op = linear("gather", gathering.gather, tensors=2,
                    x=lambda g, index, x_shape, dim: gather_backward(g, index, x_shape, dim))
gather_backward: Op = linear("gather_backward", gathering.gather_backward, tensors=2,
                             g=lambda g, index, dim: gather(g, index, dim))


def _to_src(g: Value, index: Value, src_shape: Shape, dim: int) -> Any:
    """The gradient for the source. It is 0 for the part of a larger source that was not read."""
    return grown(gather(g, index, dim), src_shape)


def _kept(g: Value, index: Value, dim: int) -> Any:
    return scatter_value(g, index, dim, 0)


scatter: Op = linear("scatter", gathering.scatter, tensors=3, x=_kept, src=_to_src)
scatter_value: Op = operator("scatter", gathering.scatter_value, node=1, tensors=2, x=_kept)
scatter_add: Op = linear("scatter_add", gathering.scatter_add, tensors=3, x=lambda g: g, src=_to_src)
take: Op = linear("take", gathering.take, tensors=2, x=lambda g, index, x_shape: take_backward(g, index, x_shape))
take_backward: Op = linear("take_backward", gathering.take_backward, tensors=2, g=lambda g, index: take(g, index))

# By a mask


def _unmasked(g: Value, mask: Value) -> Any:
    return choose(mask, 0.0, g)


masked_fill: Op = operator("masked_fill", gathering.masked_fill, tensors=2, x=_unmasked)
masked_fill_tensor: Op = linear("masked_fill", gathering.masked_fill_tensor, node=1, tensors=3, x=_unmasked,
                                value=lambda g, mask: np.sum(choose(mask, g, 0.0)))
masked_select: Op = linear("masked_select", gathering.masked_select, tensors=2, x=lambda g, mask, x_shape: (
    masked_place(g, mask, np.broadcast_shapes(x_shape, mask.shape))))
masked_place: Op = linear("masked_place", gathering.masked_place, tensors=2, g=lambda g, mask: masked_select(g, mask))
masked_scatter: Op = linear("masked_scatter", gathering.masked_scatter, tensors=3, x=_unmasked,
                            source=lambda g, mask, source_shape: masked_first(g, mask, source_shape))
masked_first: Op = linear("masked_scatter_backward", gathering.masked_first, tensors=2,
                          g=lambda g, mask, g_shape: masked_scatter(np.zeros_like(g, shape=g_shape), g, mask))

# By position in row-major order


def _to_put_over(g: Value, source_shape: Shape, index: Value, accumulate: bool) -> Any:
    return g if accumulate else put(g, np.zeros_like(g, shape=source_shape), index, False)


put: Op = linear("put", gathering.put, tensors=3, layout="kept", x=_to_put_over,
                 source=lambda g, index, source_shape: np.reshape(take(g, index), source_shape))

# A copy in which the elements of one view are replaced. Their gradient goes to the source, all other to the input.

select_scatter: Op = linear(
    "select_scatter", view_scatters.select_scatter, layout="kept", tensors=2,
    x=lambda g, dim, index: select_scatter(g, np.zeros_like(select(g, dim, index)), dim, index),
    src=lambda g, dim, index: select(g, dim, index))
slice_scatter: Op = linear(
    "slice_scatter", view_scatters.slice_scatter, layout="kept", tensors=2,
    x=lambda g, dim, start, stop, step: slice_scatter(
        g, np.zeros_like(slice_(g, dim, start, stop, step)), dim, start, stop, step),
    src=lambda g, dim, start, stop, step: slice_(g, dim, start, stop, step))
diagonal_scatter: Op = linear(
    "diagonal_scatter", view_scatters.diagonal_scatter, layout="kept", tensors=2,
    x=lambda g, offset, dim0, dim1: diagonal_scatter(
        g, np.zeros_like(diagonal(g, offset, dim0, dim1)), offset, dim0, dim1),
    src=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))
as_strided_scatter: Op = linear(
    "as_strided_scatter", view_scatters.as_strided_scatter, layout="kept", tensors=2,
    x=lambda g, src_shape, size, stride, start, layout: as_strided_scatter(
        g, np.zeros_like(g, shape=src_shape), size, stride, start, layout),
    src=lambda g, x_shape, size, stride, start, layout: transfer(
        g, (x_shape, layout, 0), (size, stride, start), ((0,), (1,), 0)))
