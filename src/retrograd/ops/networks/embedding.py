"""Rows of a table by index, singly and in bags. The gradient of a row is the sum over the places that took the row.

By convention the padding row has no gradient, and a gradient may be divided by how often its row was taken. So
`embedding_backward` is the adjoint of `embedding_rows`, and not quite of `embedding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...foundations.errors import noted
from ...kernels.networks import embedding as kernels
from ...kernels.networks.embedding import MAX, MEAN
from ..framework import Op, linear, operator
from ..indexing.indexing import gather_backward, index_select, index_select_backward

if TYPE_CHECKING:
    from ..values import Value

embedding: Op = operator("embedding", kernels.embedding, tensors=2, weight=lambda g, index, weight_shape, padding,
                         by_count: embedding_backward(g, index, weight_shape, padding, by_count))
embedding_backward: Op = linear("embedding_dense_backward", kernels.embedding_backward, tensors=2,
                                g=lambda g, index, padding, by_count: embedding_rows(g, index, padding, by_count))
embedding_rows: Op = linear("embedding_rows", kernels.embedding_rows, tensors=2, g=lambda g, index, g_shape, padding,
                            by_count: embedding_backward(g, index, g_shape, padding, by_count))


def _renorm(x: Array, index: Array, largest: float, p: float) -> Any:
    """`x`, with the rows that `index` names scaled down to the norm `largest`."""
    return kernels.renorm_rows(np.array(x, order="C"), index, largest, p)


def _underived(g: Value) -> Any:
    raise noted(NotImplementedError("the derivative for 'embedding_renorm' is not implemented."),
                instead="renormalize under torch.no_grad(), before you take the rows")


embedding_renorm: Op = operator("embedding_renorm", _renorm, tensors=2, x=_underived)

# Bags


def _to_table(g: Value, weight_shape: Shape, scales: Value | None, index: Value, bags: Any, sizes: Any, chosen: Any,
              mode: int, padding: int, by_count: bool) -> Any:
    if mode == MAX:
        full = np.reshape(sizes > 0, (-1, 1))
        return gather_backward(np.where(full, g, 0.0), chosen, weight_shape, 0)
    if scales is None:
        return bags_backward(_of_rows(g, sizes, mode), index, bags, weight_shape, padding, by_count)
    return embedding_backward(rows_of_bags(g, scales, bags, sizes, mode), index, weight_shape, padding, by_count)


def _of_rows(g: Value, sizes: Any, mode: int) -> Any:
    """The gradient that comes to each row of a bag."""
    return g / np.reshape(np.maximum(sizes, np.ones_like(sizes)), (-1, 1)) if mode == MEAN else g


def rows_of_bags(g: Value, scales: Value | None, bags: Any, sizes: Any, mode: int) -> Any:
    """The gradient of each row that was taken into a sum or a mean."""
    rows = index_select(_of_rows(g, sizes, mode), bags, 0)
    return rows if scales is None else rows * np.reshape(scales, (-1, 1))


bags_backward: Op = linear(
    "embedding_bag_dense_backward", kernels.bags_backward, tensors=3,
    g=lambda g, index, bags, g_shape, padding, by_count: index_select_backward(
        embedding_rows(g, index, padding, by_count), bags, g_shape, 0))
embedding_bag: Op = operator(
    "embedding_bag", kernels.embedding_bag, outputs="out bags sizes chosen", differentiable="out", tensors=4,
    weight=_to_table, scales=lambda g, weight, index, bags, padding: np.sum(
        index_select(g, bags, 0) * embedding_rows(weight, index, padding, False), axis=1))
