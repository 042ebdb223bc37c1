"""The recorded call of an operator on a sequence of tensors, such as `cat` and `stack`.

Usual sequences hold plain tensors of one floating dtype. Any other sequence takes the general call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64
from ...foundations.modes import local
from ...ops.framework import Op
from ..state.base import edge_of, mark_inference, note_layout
from ..state.dispatch import DISPATCH
from .nodes import making
from .operands import again


def joins(op: Op) -> bool:
    """Whether an op makes one tensor of a sequence of tensors in their common dtype, and its node saves no arrays."""
    return op.variadic and op.outputs == ("out",) and op.domain == "promote" and {
        save.kind for save in op.saves} <= {"static", "shape"}


def joining(op: Op, general: Callable[..., Any]) -> Callable[..., Any]:
    """The call of an op that `joins`."""
    kernel, node_of, saves, row_major = op.kernel, making(op), op.saves, op.layout == "rows"

    def call(operands: Sequence[Any], *options: Any) -> Any:
        thread = local.thread
        if {*map(type, operands)} != {DISPATCH.plain} or thread.transform is not None:
            return general(operands, *options)
        arrays = [x._array for x in operands]
        dtype = arrays[0].dtype
        if (dtype is not F32 and dtype is not F64) or [a.dtype for a in arrays].count(dtype) != len(arrays):
            return general(operands, *options)
        edges: tuple[Any, ...] = ()
        if thread.grad:
            edges = tuple([x._edge if x._grad_meta is None else edge_of(x) for x in operands])
        try:
            out = thread.run(kernel, arrays, *options)
        except (TypeError, ValueError, RuntimeError) as error:
            return again(call, (operands, *options), op, operands, error)
        result = object.__new__(DISPATCH.tensor)
        result._array = out
        result._edge = result._grad_meta = None
        if not out.flags.c_contiguous:
            if row_major:
                result._array = out = np.asarray(out, order="C")
            note_layout(result)
        if any(edges):
            saved = tuple([options[place - 1] if kind == "static" else [a.shape for a in arrays]
                           for kind, place in saves])
            result._edge = node = node_of(edges, out.shape, dtype, saved)
            if thread.watchers:
                thread.tell(node, (result,), operands)
        elif thread.inference:
            mark_inference(result)
        return result

    return call
