"""Two operators as one quick call: a view of the last of three tensors, and an operator on the three.

No tensor is made between the two, but both leave the same nodes as two calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.dtypes import RARE
from ...foundations.modes import local
from ...graph.node import plan_of
from ...ops.framework import Op
from ...tensors.state.base import TensorBase
from ..state.base import edge_of, plain, with_edge
from .nodes import class_of, made_node, taking


def after_view(op: Op, view: Op, *options: Any) -> Callable[[Any, Any, Any], Any]:
    """The call `op(x, y, view(z), *options)` on tensors.

    `op` has one output in the layout 'kept', saves only arrays, options and strides, and needs no promotion.
    """
    kernel, shown = op.kernel, view.kernel
    (view_type, view_plan), (op_type, op_plan) = [(class_of(o), plan_of(o)) for o in (view, op)]
    take = {(a, b, c): taking(op, (a, b, c)) for a in (False, True) for b in (False, True) for c in (False, True)}

    def call(x: TensorBase, y: TensorBase, z: TensorBase) -> Any:
        thread = local.thread
        a, b = x._array, y._array
        if thread.transform is not None or (RARE and a.dtype in RARE):
            c = view.run(z._array)
            out = op.run(a, b, c, *options)
        else:
            c = shown(z._array)
            out = thread.run(kernel, a, b, c, *options)
        result = plain(out)
        if not thread.grad:
            return result
        by_x = x._edge if x._grad_meta is None else edge_of(x)
        by_y = y._edge if y._grad_meta is None else edge_of(y)
        by_z = z._edge if z._grad_meta is None else edge_of(z)
        if by_z is not None:
            by_z = made_node(view_type, view_plan, (by_z,), c.shape, c.dtype, None)
        elif by_x is None and by_y is None:
            return result
        saved = take[by_x is not None, by_y is not None, by_z is not None](
            (None, a, b, c, *options, out, b.strides, c.strides))
        result._edge = node = made_node(op_type, op_plan, (by_x, by_y, by_z), out.shape, out.dtype, saved)
        if thread.watchers:
            between = with_edge(c, by_z)
            if by_z is not None:
                thread.tell(by_z, (between,), (z,))
            thread.tell(node, (result,), (x, y, between))
        return result

    return call
