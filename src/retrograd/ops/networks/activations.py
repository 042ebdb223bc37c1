"""Activation functions, each with a node of its own.

At a kink, the first and the second derivative are PyTorch's: each rule decides to which side the kink counts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.errors import noted
from ...kernels.elementwise import elementary
from ...kernels.elementwise.choosing import limited
from ...kernels.networks import activations as kernels
from ...kernels.options import rounds_once
from ...kernels.special import normal
from ..choosing import choose
from ..domains import promoted
from ..elementwise.elementary import erf
from ..framework import Op, composed, elementwise, operator
from ..joining import cat, split

if TYPE_CHECKING:
    from ..values import Value

# The side of the kink on which a value lies does not change, so the derivative by the result is 0.
threshold_backward: Op = operator("threshold_backward", elementary.threshold_backward, tensors=2, layout="elementwise",
                                  g=lambda g, result: threshold_backward(g, result),
                                  result=lambda g, result: np.zeros_like(result))
relu = elementwise("relu", elementary.relu, x=lambda g, out: threshold_backward(g, out), domain=promoted(
    b=RuntimeError("Boolean inputs not supported for relu"), c="clamp is not supported for complex types"))
sigmoid_backward: Op = elementwise("sigmoid_backward", elementary.sigmoid_backward, domain="as given",
                                   grad_output=lambda g, output: sigmoid_backward(g, output),
                                   output=lambda g, grad_output, output: g * grad_output * (1 - 2 * output))
sigmoid = elementwise("sigmoid", elementary.sigmoid, domain="float", x=lambda g, out: sigmoid_backward(g, out))


def _leaky(g: Value, x: Value, negative_slope: float) -> Any:
    return choose(x > 0.0, g, g * negative_slope)


_ISSUE = (" File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
          "backward calculation with negative slope")


def _check_slope(name: str, slope: float) -> None:
    """Refuse a negative slope. The rule is given the result, which then does not tell the sign of the input."""
    if slope < 0:
        raise noted(
            RuntimeError(f"In-place {name} backward calculation is triggered with a negative slope which is not "
                         "supported. This is caused by calling in-place forward function with a negative slope, please "
                         f"call out-of-place version instead.{_ISSUE if name == 'leakyReLu' else ''}"),
            "in-place#negative-slope-in-place", instead="use inplace=False")


def _leaky_of_result(g: Value, out: Value, negative_slope: float) -> Any:
    _check_slope("leakyReLu", negative_slope)
    return _leaky(g, out, negative_slope)


leaky_relu = elementwise("leaky_relu", kernels.leaky_relu, domain="as given", tensors=1, x=_leaky,
                         written={"node": 1, "x": _leaky_of_result})


@rounds_once
def _elu(g: Value, x: Value, alpha: float, scale: float, input_scale: float) -> Any:
    """At 0 the slope is that of the exponential, but the second derivative is 0."""
    below = choose(x < 0.0, x, 0.0) * input_scale
    if alpha * input_scale == 1.0:                          # both sides are one formula
        return g * scale * np.exp(below)
    return choose(x <= 0.0, g * (alpha * scale * input_scale) * np.exp(below), g * scale)


@rounds_once
def _elu_of_result(g: Value, out: Value, alpha: float, scale: float, input_scale: float) -> Any:
    _check_slope("elu", alpha)
    below = choose(out < 0.0, out, 0.0)
    return choose(out <= 0.0, g * input_scale * (below + alpha * scale), g * scale)


elu = elementwise("elu", kernels.elu, domain="as given", tensors=1, x=_elu, written={"node": 1, "x": _elu_of_result})
celu = elementwise("celu", kernels.elu, domain="as given", tensors=1, x=_elu, written={"node": 1, "x": _elu_of_result})


@rounds_once
def _silu(g: Value, x: Value) -> Any:
    s = sigmoid(x)
    return g * (s * (1.0 + x * (1.0 - s)))


@rounds_once
def _mish(g: Value, x: Value) -> Any:
    s, t = sigmoid(x), np.tanh(softplus(x, 1.0, 20.0))
    return g * (t + x * s * (1.0 - t * t))


silu = elementwise("silu", kernels.silu, domain="as given", x=_silu)
mish = elementwise("mish", kernels.mish, domain="as given", x=_mish)


at_most = composed("minimum", lambda x, limit: limited(x, -math.inf, limit),
                   lambda x, limit: choose(x >= limit, limit, x), tensors=1)


@rounds_once
def _softplus(g: Value, x: Value, beta: complex, threshold: float) -> Any:
    """Beyond the threshold the function is a straight line. At the threshold too, the second derivative is 0."""
    t = x if beta == 1.0 else x * beta
    return choose(t > threshold, g, g * sigmoid(at_most(t, threshold)))


softplus = elementwise("softplus", kernels.softplus, domain="as given", tensors=1, x=_softplus)
log_sigmoid = elementwise("log_sigmoid", kernels.log_sigmoid, domain="as given",
                          x=rounds_once(lambda g, x: g * sigmoid(-x)))


def _hardtanh(g: Value, x: Value, min_val: float, max_val: float) -> Any:
    """The slope is 0 at the ends of the interval too."""
    return choose(np.logical_or(x <= min_val, x >= max_val), 0.0, g)


hardtanh = elementwise("hardtanh", kernels.hardtanh, domain="as given", tensors=1, x=_hardtanh)


@rounds_once
def _gelu_tanh(g: Value, x: Value) -> Any:
    root = math.sqrt(2.0 / math.pi)
    if x.dtype.itemsize == 2:                               # the slope is 0 or 1 where the square exceeds the dtype
        x = at_most(-at_most(-x, 100.0), 100.0)
    t = np.tanh(root * x * (1.0 + 0.044715 * x * x))
    return g * (0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * root * (1.0 + 3.0 * 0.044715 * x * x))


gelu_tanh = elementwise("gelu", kernels.gelu_tanh, domain="as given", x=_gelu_tanh)
twice_ndtr = composed("twice_ndtr", normal.twice_ndtr, lambda x: 1.0 + erf(x * math.sqrt(0.5)), tensors=1)
gelu = elementwise("gelu", kernels.gelu, domain="as given", x=rounds_once(lambda g, x: g * (
    0.5 * twice_ndtr(x) + x * np.exp(-0.5 * x * x) * (1.0 / math.sqrt(2.0 * math.pi)))))


def _outside(g: Value, x: Value, lambd: float) -> Any:
    """The slope is 0 at the ends of the interval too. At a nan the gradient flows."""
    return choose(np.abs(x) <= lambd, 0.0, g)


hardshrink = elementwise("hardshrink", kernels.hardshrink, domain="as given", tensors=1, x=_outside)
softshrink = elementwise("softshrink", kernels.softshrink, domain="as given", tensors=1, x=_outside)


_SIXTH = 0.1666666716337204          # 1 / 6 in single precision, as in PyTorch


def _slope(x: Value) -> Any:
    """The slope of hardswish, which is finite for infinite values too."""
    between = choose(np.logical_and(x > -3.0, x < 3.0), x, 0.0)
    return choose(x <= -3.0, 0.0, choose(x < 3.0, between / 3.0 + 0.5, 1.0))


hardswish_slope = composed("hardswish_slope", kernels.hardswish_slope, _slope, tensors=1)


hardsigmoid = elementwise("hardsigmoid", kernels.hardsigmoid, domain="as given",
                          x=lambda g, x: choose(np.logical_and(x > -3.0, x < 3.0), g * _SIXTH, 0.0))
hardswish = elementwise("hardswish", kernels.hardswish, domain="as given",
                        x=rounds_once(lambda g, x: g * hardswish_slope(x)))
threshold = elementwise("threshold", kernels.threshold, domain="as given", tensors=1, written={"node": 1},
                        x=lambda g, x, threshold: choose(x <= threshold, 0.0, g))


@rounds_once
def _glu(g: Value, x: Value, dim: int) -> Any:
    half = x.shape[dim] // 2
    first, second = split(x, (half, half), dim)
    gate = sigmoid(second)
    through = g * gate
    return cat([through, through * first * (1.0 - gate)], dim)


glu = operator("glu", kernels.glu, layout="kept", x=_glu)

# 0 counts to the negative side.
prelu = elementwise("prelu", kernels.prelu, node="PreluKernelBackward0", domain="as given",
                  x=lambda g, x, weight: g * choose(x > 0.0, 1.0, weight),
                  weight=lambda g, x: choose(x > 0.0, 0.0, g * x))


def _even(g: Value, x: Value, lower: float, upper: float) -> Any:
    return choose(x > 0.0, g, g * ((lower + upper) / 2.0))


def _even_of_result(g: Value, out: Value, lower: float, upper: float) -> Any:
    _check_slope("leakyReLu", (lower + upper) / 2.0)
    return _even(g, out, lower, upper)


def _sloped(g: Value, x: Value, noise: Any, lower: float, upper: float) -> Any:
    """The noise is the slope, unless the limits of the slope are almost equal."""
    return g * noise if upper - lower > 1e-6 else _even(g, x, lower, upper)


# The result has the sign of x, so the rules of the in-place form use the result instead of x.
rrelu = elementwise("rrelu_with_noise", kernels.rrelu, domain="as given", tensors=2, x=_sloped, written={
    "node": 1, "x": lambda g, out, noise, lower, upper: _sloped(g, out, noise, lower, upper)})
rrelu_even = elementwise("rrelu_with_noise", kernels.rrelu_even, domain="as given", tensors=1, x=_even, written={
    "node": 1, "x": _even_of_result})
