"""Views of one tensor: the recorded call of an operator such as `select` or `slice`, and the parts of `unbind`.

Both repeat `make_view` for usual tensors, since a Python call would cost more than the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import DIFFERENTIABLE, F32, F64
from ...foundations.modes import local
from ...graph.packed import look_after_indices
from ...graph.versions import next_number
from ...ops.framework import Op
from ..state.base import MULTI_OUTPUT, ORDINARY, AutogradMeta, edge_of, make_view
from ..state.dispatch import DISPATCH
from .nodes import making
from .operands import explained, operand

new = object.__new__


def _is_usual(meta: AutogradMeta) -> bool:
    """Whether a tensor with an AutogradMeta owns its memory, so that a view of it is a usual one."""
    return meta.base is None and not meta.inference and meta.creation == ORDINARY


def viewing(op: Op, otherwise: Any, chosen: Any) -> Callable[..., Any]:
    """The call of a view. `chosen` takes the values to save, as in `calls`; None if the node saves nothing."""
    kernel, node_of, differentiable, indexed = op.kernel, making(op), bool(op.steps), op.indices_at is not None

    def call(x: Any, *options: Any) -> Any:
        if type(x) is not DISPATCH.plain:
            x = operand(op, 0, x, None, otherwise)
        array, origin, thread = x._array, x._grad_meta, local.thread
        edge = None
        if differentiable and thread.grad:
            edge = x._edge if origin is None else ((hold := origin.accumulator) and hold()) or edge_of(x)
        try:
            out = kernel(array, *options) if thread.transform is None else op.run(array, *options)
        except (TypeError, ValueError) as error:
            raise explained(op, (x,), error) from None
        if type(out) is not np.ndarray and thread.transform is None:
            out = np.asarray(out)
        result = new(DISPATCH.tensor)
        result._array, result._edge = out, None
        if thread.grad and (origin is None or _is_usual(origin)):
            result._grad_meta = meta = new(AutogradMeta)
            meta.accumulator = None
            meta.seen, meta.base, meta.replay = next_number(), x, partial(taken_again, op, options, None)
        else:
            make_view(result, x, partial(taken_again, op, options, None), ORDINARY)
            if result._grad_meta.inference:                       # like PyTorch, which does not record such views
                edge = None
        made = out.dtype
        if edge is not None and (made is F32 or made is F64 or made in DIFFERENTIABLE):
            saved = None if chosen is None else chosen((None, array, array.shape, array.dtype, out, *options))
            result._edge = node = node_of((edge,), out.shape, made, saved)
            if indexed:
                look_after_indices(node)
            if thread.watchers:
                thread.tell(node, (result,), (x,))
        return result

    return call


def parts_of(op: Op, outs: Sequence[Any], x: Any, options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors over the views of `x` that an op returned. Their edges are still to be set."""
    origin, ordinary, seen = x._grad_meta, local.thread.grad, next_number()
    ordinary = ordinary and (origin is None or _is_usual(origin))
    results = []
    for i, out in enumerate(outs):
        result = new(DISPATCH.tensor)
        result._array, result._edge = out, None
        replay = partial(taken_again, op, options, i)
        if ordinary:
            result._grad_meta = meta = new(AutogradMeta)
            meta.accumulator = None
            meta.seen, meta.base, meta.replay, meta.creation = seen, x, replay, MULTI_OUTPUT
        else:
            make_view(result, x, replay, MULTI_OUTPUT)
        results.append(result)
    return tuple(results)


def taken_again(op: Op, options: tuple[Any, ...], part: int | None, base: Any) -> Any:
    """Take a view again, of an array, or of a tensor, which records it."""
    view = op(base, *options)
    return view if part is None else view[part]
