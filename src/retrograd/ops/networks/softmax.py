"""Softmax, its logarithm, and log-sum-exp. The adjoints of softmax and of its logarithm are operators too: they are
linear in the cotangent, and computed from the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.networks import softmax as kernels
from ..framework import Op, operator
from ..reductions import spread, sum_dim

if TYPE_CHECKING:
    from ..values import Value


def _sum(x: Value, dim: int) -> Any:
    """The sum along `dim`, which stays as a dimension of size 1. A 0-d array has no axis, so it is its own sum."""
    return sum_dim(x, (dim,), True, None) if x.ndim else x


softmax, safe_softmax = [
    operator(name, kernel, x=lambda g, out, dim: softmax_backward(g, out, dim))
    for name, kernel in (("softmax", kernels.softmax), ("safe_softmax", kernels.safe_softmax))]
softmax_backward: Op = operator("softmax_backward", kernels.softmax_backward, tensors=2,
                                node="SoftmaxBackwardDataBackward0",
                                g=lambda v, y, dim: softmax_backward(v, y, dim),
                                y=lambda v, g, y, dim: v * (g - _sum(g * y, dim)) - g * _sum(v * y, dim))


log_softmax = operator("log_softmax", kernels.log_softmax, x=lambda g, out, dim: log_softmax_backward(g, out, dim))
log_softmax_backward: Op = operator("log_softmax_backward", kernels.log_softmax_backward, tensors=2,
                                    node="LogSoftmaxBackwardDataBackward0",
                                    g=lambda v, y, dim: v - _sum(np.exp(y) * v, dim),
                                    y=lambda v, g, y, dim: -v * np.exp(y) * _sum(g, dim))


logsumexp = operator("logsumexp", kernels.logsumexp, domain="float", x=lambda g, x, out, axes, keepdim: (
    spread(g, x.shape, axes, keepdim) * np.exp(x - spread(out, x.shape, axes, keepdim))))
