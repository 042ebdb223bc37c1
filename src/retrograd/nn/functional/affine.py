"""Affine maps."""

from __future__ import annotations

import math
from typing import Any

from ...foundations.errors import noted
from ...kernels.layout import in_rows
from ...kernels.shape import common_shape
from ...ops import shape as shape_ops
from ...ops.linalg import matrix as matrix_ops
from ...tensors.arguments.options import check_tensors
from ...tensors.functions.linalg import accumulating, matrix
from ...tensors.functions.linalg.products import bilinear
from ...tensors.recording.calls import recorded
from ...tensors.recording.joined import after_view
from ...tensors.recording.out_rules import EXACT, FREE, rule
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["bilinear", "linear"]

_t, _view, _mm = recorded(shape_ops.t), recorded(shape_ops.view), recorded(matrix_ops.mm)
# addmm(bias, input, t(weight)), the way of most layers.
_layer = after_view(matrix_ops.addmm, shape_ops.t, 1, 1)


@public(
    "linear(Tensor input, Tensor weight, Tensor bias=None, out)",
    out=rule(exact=EXACT, overlap=FREE),
    event="aten::linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias, of input (…, in), weight (out, in) and bias (out): (…, out).

    All tensors have the same dtype.

    >>> import retrograd as torch
    >>> torch.nn.functional.linear(torch.tensor([[1., 2.]]), torch.tensor([[1., 1.]]), torch.tensor([10.]))
    tensor([[13.]])

    Raises RuntimeError if the sizes or the dtypes do not fit.
    """
    try:
        x, w, b = input._array, weight._array, None if bias is None else bias._array
    except AttributeError:
        check_tensors("linear", input=input, weight=weight, bias=bias)
        raise
    if x.ndim and w.ndim == 2 and x.shape[-1] == w.shape[1] and x.dtype is w.dtype:
        if bias is None:
            if x.ndim == 2 and x.dtype.kind != "b":
                return _mm(input, _t(weight))
        elif b is not None and b.dtype is x.dtype and b.shape == w.shape[:1] and x.dtype.kind not in "cb":
            if x.ndim == 2:
                return _layer(bias, input, weight)
            if in_rows(x):
                rows = _view(input, (math.prod(x.shape[:-1]), x.shape[-1]))
                return _view(_layer(bias, rows, weight), (*x.shape[:-1], w.shape[0]))
    try:
        return _unusual(input, weight, bias)
    except RuntimeError as error:
        noted(error, **_about_input(input, weight))
        raise


def _about_input(input: Tensor, weight: Tensor) -> dict[str, str]:
    """The facts about an input whose last size or whose dtype is not that of the weight; none if both are."""
    shape, width = input.shape, weight.shape[-1] if weight.ndim == 2 else None
    if width is None or not shape or (shape[-1] == width and input.dtype is weight.dtype):
        return {}
    if shape[-1] == width:
        whole = weight.is_complex() or not input.is_complex()
        return {"instead": f"input.to({weight.dtype})" if whole else f"model.to({input.dtype}), for a complex weight"}
    flat = len(shape) > 2 and math.prod(shape[1:]) == width
    return {"given": f"an input of shape {[*shape]}, whose last size must be {width}",
            "instead": f"input.flatten(1): a row of {width} numbers for each sample" if flat else ""}


def _unusual(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """Inputs of other ranks, composed as PyTorch composes them. Raises RuntimeError for sizes that do not fit."""
    x, w = input._array, weight._array
    if x.ndim == 0 or w.ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {w.ndim}D")
    if bias is None or w.ndim != 2:
        if x.ndim > 1 and w.ndim == 2 and x.shape[-1] != w.shape[1]:
            return matrix.mm(input.reshape(-1, x.shape[-1]), _t(weight))          # its error names the sizes
        product = matrix.matmul(input, _t(weight))
        return product if bias is None else _plus(product, bias)
    if x.ndim == 2:
        return accumulating.addmm(bias, input, _t(weight))
    if in_rows(x) and (bias.ndim == 1 or (x.ndim == 1 and bias.numel() != 1)):
        flat = input.view(math.prod(x.shape[:-1]), x.shape[-1])
        return accumulating.addmm(bias, flat, _t(weight)).view(*x.shape[:-1], w.shape[0])
    return _plus(matrix.matmul(input, _t(weight)), bias)


def _plus(product: Tensor, bias: Tensor) -> Any:
    """The sum, in the shape of the product. PyTorch writes the sum over the product, which refuses a larger bias."""
    fits = common_shape(tuple(product.shape), tuple(bias.shape)) == tuple(product.shape)
    return product + bias if fits else product.add_(bias)
