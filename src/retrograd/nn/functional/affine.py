"""Affine maps, as functions."""

from __future__ import annotations

import math
from typing import Any

from ...graph.node import plan_of
from ...graph.versions import next_number
from ...modes import local
from ...ops import shape as shape_ops
from ...ops.linalg import matrix as matrix_ops
from ...tensors.arguments.options import check_tensors
from ...tensors.functions.linalg import accumulating, matrix
from ...tensors.functions.linalg.bilinear import bilinear
from ...tensors.recording.calls import class_of, recorded
from ...tensors.recording.out import into
from ...tensors.state.base import edge_of, plain, with_edge
from ...tensors.tensor import Tensor

__all__ = ["bilinear", "linear"]

_t, _mm = recorded(shape_ops.t), recorded(matrix_ops.mm)
_TNode, _AddmmNode = class_of(shape_ops.t), class_of(matrix_ops.addmm)
_t_plan, _addmm_plan = plan_of(shape_ops.t), plan_of(matrix_ops.addmm)
_affine = matrix_ops.addmm.kernel
_saved_names = [matrix_ops.addmm.arguments[place] for _, place in matrix_ops.addmm.saves]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, of input (…, in), weight (out, in) and bias (out): (…, out).

    >>> import retrograd as torch
    >>> torch.nn.functional.linear(torch.tensor([[1., 2.]]), torch.tensor([[1., 1.]]), torch.tensor([10.]))
    tensor([[13.]])

    Raises RuntimeError where the sizes or the dtypes do not fit.
    """
    if out is not None:
        return into(out, linear, input, weight, bias)
    try:
        x, w, b = input._array, weight._array, None if bias is None else bias._array
    except AttributeError:
        check_tensors("linear", input=input, weight=weight, bias=bias)
        raise
    if x.ndim == 2 and w.ndim == 2 and x.shape[1] == w.shape[1] and x.dtype is w.dtype:
        if bias is None and x.dtype.kind != "b":
            return _mm(input, _t(weight))
        if b is not None and b.dtype is x.dtype and b.shape == w.shape[:1]:
            if local.thread.observer is not None or x.dtype.kind in "cb":
                return accumulating.addmm(bias, input, _t(weight))
            return _layer(input, weight, bias)
    return _unusual(input, weight, bias)


def _layer(input: Any, weight: Any, bias: Any) -> Any:
    """addmm(bias, input, t(weight)) with the two nodes that these leave, made at once: the way of most layers."""
    x, transposed = input._array, weight._array.T
    thread = local.thread
    out = thread.run(_affine, bias._array, x, transposed, 1, 1)
    result = plain(out)
    if not thread.grad:
        return result
    bias_edge, input_edge, weight_edge = edge_of(bias), edge_of(input), edge_of(weight)
    if weight_edge is not None:
        t_node = _TNode()
        t_node.number, t_node.edges, t_node.hooks, t_node.plan = next_number(), (weight_edge,), None, _t_plan
        t_node.shape, t_node.dtype, t_node.saved = transposed.shape, transposed.dtype, None
        weight_edge = t_node
    elif bias_edge is None and input_edge is None:
        return result
    result._edge = node = _AddmmNode()
    node.number, node.edges, node.hooks = next_number(), (bias_edge, input_edge, weight_edge), None
    node.plan, node.shape, node.dtype = _addmm_plan, out.shape, out.dtype
    values = {"mat1": None if weight_edge is None else x, "mat2": None if input_edge is None else transposed,
              "beta": 1, "alpha": 1}
    node.saved = tuple([values[name] for name in _saved_names])
    if thread.watchers:
        between = with_edge(transposed, weight_edge)
        if weight_edge is not None:
            thread.tell(weight_edge, (between,), (weight,))
        thread.tell(node, (result,), (bias, input, between))
    return result


def _unusual(input: Any, weight: Any, bias: Any) -> Any:
    """Inputs of other ranks, composed as PyTorch composes them, and what does not fit."""
    x, w = input._array, weight._array
    if x.ndim == 0 or w.ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {w.ndim}D")
    if bias is None or w.ndim != 2:
        if x.ndim > 1 and w.ndim == 2 and x.shape[-1] != w.shape[1]:
            return matrix.mm(input.reshape(-1, x.shape[-1]), _t(weight))          # which says what does not fit
        product = matrix.matmul(input, _t(weight))
        return product if bias is None else product + bias
    if x.ndim == 2:
        return accumulating.addmm(bias, input, _t(weight))
    if x.ndim == 1 or (x.ndim > 2 and bias.ndim == 1 and x.flags.c_contiguous):
        flat = input.view(math.prod(x.shape[:-1]), x.shape[-1])
        return accumulating.addmm(bias, flat, _t(weight)).view(*x.shape[:-1], w.shape[0])
    return matrix.matmul(input, _t(weight)) + bias
