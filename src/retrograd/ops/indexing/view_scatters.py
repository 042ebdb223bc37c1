"""A copy in which the elements of one view are replaced. Their gradient goes to the source, all other to the input."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.indexing import view_scatters as kernels
from ..framework import Op, linear
from ..shape import as_strided, diagonal
from .indexing import select, slice_


def _without_slice_of(g: Any, dim: Any, index: Any) -> Any:
    return select_scatter(g, np.zeros_like(select(g, dim, index)), dim, index)


def _without_range(g: Any, dim: Any, start: Any, stop: Any, step: Any) -> Any:
    return slice_scatter(g, np.zeros_like(slice_(g, dim, start, stop, step)), dim, start, stop, step)


def _without_diagonal(g: Any, offset: Any, dim0: Any, dim1: Any) -> Any:
    return diagonal_scatter(g, np.zeros_like(diagonal(g, offset, dim0, dim1)), offset, dim0, dim1)


def _without_strided(g: Any, src_shape: Any, size: Any, stride: Any, start: Any, layout: Any) -> Any:
    return as_strided_scatter(g, np.zeros_like(g, shape=src_shape), size, stride, start, layout)


select_scatter: Op = linear("select_scatter", kernels.select_scatter, layout="kept", tensors=2, x=_without_slice_of,
                            src=lambda g, dim, index: select(g, dim, index))
slice_scatter: Op = linear("slice_scatter", kernels.slice_scatter, layout="kept", tensors=2, x=_without_range,
                           src=lambda g, dim, start, stop, step: slice_(g, dim, start, stop, step))
diagonal_scatter: Op = linear("diagonal_scatter", kernels.diagonal_scatter, layout="kept", tensors=2,
                              x=_without_diagonal, src=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))
as_strided_scatter: Op = linear(
    "as_strided_scatter", kernels.as_strided_scatter, tensors=2, x=_without_strided,
    src=lambda g, size, stride, start, layout: as_strided(g, size, stride, start, layout))
