"""Copies of views, in memory of their own: an operator for each view, with the view's rules and a node named after it.

The derivative of a copy of a view is the derivative of the view, so this module states no rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from ..kernels import shape as kernels
from . import joining, shape
from .elementwise import elementary
from .framework import Op, linear, not_differentiable
from .indexing import indexing
from .tables import Table, table


def _copy_of(view: Op) -> Op:
    """The operator that copies what `view` shows. Unlike `view`, it takes an array of any strides."""
    take = np.reshape if view is shape.view else view.kernel

    def kernel(x: Array, *options: Any) -> Any:
        shown = take(x, *options)
        return [part.copy() for part in shown] if view.outputs == ("*",) else shown.copy()

    return Op(view.name, kernel, " ".join(view.arguments), view.rules, kind="linear", node=f"{view.node_name}_copy",
              outputs=" ".join(view.outputs), complex=view.complex)


COPIES: Table[Op, Op] = table("A copy of what it shows has the node {}", {view: _copy_of(view) for view in (
    shape.alias, shape.as_strided, shape.diagonal, shape.expand, shape.permute, shape.squeeze, shape.squeeze_dim,
    shape.squeeze_dims, shape.t, shape.transpose, shape.unfold, shape.unsqueeze, shape.view, indexing.select,
    indexing.slice_, joining.split, joining.split_with_sizes, joining.unbind, elementary.view_as_complex,
    elementary.view_as_real)})
diagonal_copy = COPIES[shape.diagonal]
detach_copy: Op = linear("detach_copy", kernels.detach_copy, node="NotImplemented", x=not_differentiable("detach_copy"))
narrow_copy: Op = linear("narrow_copy", kernels.narrow_copy, x=lambda g, x_shape, dim, start, length:
                         indexing.slice_backward(g, x_shape, dim, start, start + length, 1))

# Parts that do not count as views, so that programs may write to them. Their shared memory is not tracked.

unsafe_split, unsafe_split_with_sizes = [
    linear(name, kernels.split, layout="kept", outputs="*", any_type=True, x=lambda g, dim: joining.cat(g, dim))
    for name in ("unsafe_split", "unsafe_split_with_sizes")]
