"""Shrinkages, thresholds, gates: piecewise activations, and those with a weight, one node each.

At a kink the derivative is PyTorch's: a bend counts to the side named in each rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.networks import piecewise as kernels
from ..choosing import choose
from ..framework import backward_name, composed, elementwise, operator
from ..joining import cat, split
from .activation import sigmoid


def _outside(g: Any, x: Any, lambd: Any) -> Any:
    """The ends of the interval are flat. A nan passes."""
    return choose(np.abs(x) <= lambd, 0.0, g)


hardshrink = elementwise("hardshrink", kernels.hardshrink, domain="as given", tensors=1, x=_outside)
softshrink = elementwise("softshrink", kernels.softshrink, domain="as given", tensors=1, x=_outside)


_SIXTH = 0.1666666716337204          # what 1 / 6 is in single precision, in which PyTorch has it


def _hardsigmoid(g: Any, x: Any) -> Any:
    return choose(np.logical_and(x > -3.0, x < 3.0), g * _SIXTH, 0.0)


def _slope(x: Any) -> Any:
    """What is not finite has a slope that is."""
    between = choose(np.logical_and(x > -3.0, x < 3.0), x, 0.0)
    return choose(x <= -3.0, 0.0, choose(x < 3.0, between / 3.0 + 0.5, 1.0))


hardswish_slope = composed("hardswish_slope", kernels.hardswish_slope, _slope, tensors=1)


def _hardswish(g: Any, x: Any) -> Any:
    return g * hardswish_slope(x)


hardsigmoid = elementwise("hardsigmoid", kernels.hardsigmoid, domain="as given", x=_hardsigmoid)
hardswish = elementwise("hardswish", kernels.hardswish, domain="as given", x=_hardswish)


def _above(g: Any, x: Any, threshold: Any) -> Any:
    return choose(x <= threshold, 0.0, g)


threshold = elementwise("threshold", kernels.threshold, domain="as given", tensors=1, x=_above,
                        written={"node": backward_name("threshold", 1)})


def _glu(g: Any, x: Any, dim: Any) -> Any:
    half = x.shape[dim] // 2
    first, second = split(x, (half, half), dim)
    gate = sigmoid(second)
    through = g * gate
    return cat([through, through * first * (1.0 - gate)], dim)


glu = operator("glu", kernels.glu, layout="kept", x=_glu)

# 0 counts to the negative side.
prelu = elementwise("prelu", kernels.prelu, node="PreluKernelBackward0", domain="as given",
                  x=lambda g, x, weight: choose(x > 0.0, g, g * weight),
                  weight=lambda g, x: choose(x > 0.0, 0.0, g * x))


def _even(g: Any, x: Any, lower: Any, upper: Any) -> Any:
    return choose(x > 0.0, g, g * ((lower + upper) / 2.0))


def _sloped(g: Any, x: Any, noise: Any, lower: Any, upper: Any) -> Any:
    """The noise is the slope, unless that is all but certain."""
    return g * noise if upper - lower > 1e-6 else _even(g, x, lower, upper)


# The result has the sign of x, and stands for x where it is written over x.
rrelu = elementwise("rrelu_with_noise", kernels.rrelu, domain="as given", tensors=2, x=_sloped, written={
    "node": backward_name("rrelu_with_noise", 1),
    "x": lambda g, out, noise, lower, upper: _sloped(g, out, noise, lower, upper)})
rrelu_even = elementwise("rrelu_with_noise", kernels.rrelu_even, domain="as given", tensors=1, x=_even, written={
    "node": backward_name("rrelu_with_noise", 1), "x": lambda g, out, lower, upper: _even(g, out, lower, upper)})
