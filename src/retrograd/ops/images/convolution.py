"""Convolutions over any number of spatial dimensions. Their adjoints are convolutions too, to any order.

The gradient by the input of a convolution is the transposed convolution, and the reverse. The gradient by the weight is
an operator of its own, which is linear in the input and in the cotangent. Its gradients are convolutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.images import convolution as kernels
from ..basic import clone
from ..framework import Op, composed, linear, operator
from ..indexing.indexing import cropped
from ..reductions import sum_dim

if TYPE_CHECKING:
    from ..values import Value


# A part of an array without the gaps between its elements.
dense = composed("dense", kernels.dense, lambda x: clone(x, "K"), tensors=1)


def _by_input(g: Value, weight: Value, x_shape: Shape, stride: Shape, padding: Shape, dilation: Shape, transposed: bool,
              groups: int) -> Any:
    if transposed:
        back = convolution(g, weight, None, stride, padding, dilation, False, (0,) * len(stride), groups)
        # Output padding may make room for positions that x does not have.
        return back if back.shape == x_shape else dense(cropped(back, x_shape))
    smallest = [(n - 1) * s - 2 * p + d * (k - 1) + 1
                for n, k, s, p, d in zip(g.shape[2:], weight.shape[2:], stride, padding, dilation)]
    rest = tuple([n - m for n, m in zip(x_shape[2:], smallest)])
    return convolution(g, weight, None, stride, padding, dilation, True, rest, groups)


def _by_weight(g: Value, x: Value, weight_shape: Shape, stride: Shape, padding: Shape, dilation: Shape,
               transposed: bool, groups: int) -> Any:
    seen, given = (g, x) if transposed else (x, g)
    return convolution_weight(seen, given, weight_shape, stride, padding, dilation, groups)


def _by_bias(g: Value) -> Any:
    # The sum over space comes first, since its elements are neighbors in memory. A single sum takes three times as
    # long.
    return sum_dim(sum_dim(g, tuple(range(2, g.ndim)), False, None), (0,), False, None)


convolution: Op = operator("convolution", kernels.convolution, tensors=3, layout="kept", x=_by_input,
                           weight=_by_weight, bias=_by_bias)


def _by_seen(v: Value, x_shape: Shape, g: Value, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Any:
    return _by_input(g, v, x_shape, stride, padding, dilation, False, groups)


def _by_given(v: Value, x: Value, g_shape: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Any:
    return cropped(convolution(x, v, None, stride, padding, dilation, False, (0,) * len(stride), groups), g_shape)


convolution_weight: Op = operator("convolution_backward", kernels.weight_gradient, tensors=2, x=_by_seen, g=_by_given)


# Convolution over time, with the dimensions (time, batch, channels)

_ONE = (1,)


def _tbc_by_input(g: Value, weight: Value, pad: int) -> Any:
    back = convolution(np.transpose(g, (1, 2, 0)), np.transpose(weight, (2, 1, 0)), None, _ONE, (pad,), _ONE, True,
                       (0,), 1)
    return np.transpose(back, (2, 0, 1))


def _tbc_by_weight(g: Value, x: Value, weight_shape: Shape, pad: int) -> Any:
    back = convolution_weight(np.transpose(x, (1, 2, 0)), np.transpose(g, (1, 2, 0)), weight_shape[::-1], _ONE, (pad,),
                              _ONE, 1)
    return np.transpose(back, (2, 1, 0))


conv_tbc = operator("conv_tbc", kernels.conv_tbc, tensors=3, x=_tbc_by_input, weight=_tbc_by_weight,
                    bias=lambda g: sum_dim(g, (0, 1), False, None))

# Images to columns, and back

unfold: Op = linear("im2col", kernels.unfold, node="Im2ColBackward0",
                    x=lambda g, x_shape, kernel, dilation, padding, stride: fold(
                        g, x_shape[-2:], kernel, dilation, padding, stride))
fold: Op = linear("col2im", kernels.fold, node="Col2ImBackward0",
                  x=lambda g, kernel, dilation, padding, stride: unfold(g, kernel, dilation, padding, stride))
