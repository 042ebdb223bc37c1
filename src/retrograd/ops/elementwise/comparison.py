"""Comparisons, logic, bits, predicates, and operators that choose between values by comparing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.elementwise import comparison as kernels
from ...kernels.elementwise.arithmetic import like, promoted as with_number
from ..choosing import choose
from ..domains import floating, promoted
from ..framework import Op, constant, elementwise, flat, not_differentiable

if TYPE_CHECKING:
    from ..framework import Domain
    from ..values import Value


def _comparison(name: str, ufunc: np.ufunc, domain: str | Domain) -> Op:
    """A comparison. It has no derivative, but it leaves a node if its result is written over a tensor of numbers."""
    return constant(name, ufunc, "x y", domain=domain, written={
        "kind": "elementwise", "node": 1, "x": flat, "y": flat})


def _with_number(op: Op) -> Op:
    """The comparison with a Python number, written over the tensor. Its node has another name."""

    def kernel(x: Array, number: Any) -> Any:
        x = with_number(x, number)
        return op.kernel(x, like(number, x), out=...)

    return elementwise(op.name, kernel, domain=op.domain, x=flat)


eq, ne = _comparison("eq", np.equal, "promote"), _comparison("ne", np.not_equal, "promote")
lt, le, gt, ge = [_comparison(name, ufunc, promoted(f"{name}_cpu", "c")) for name, ufunc in (
    ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal))]
WITH_NUMBER = {op: _with_number(op) for op in (eq, ne, lt, le, gt, ge)}

# Logic, bits, predicates

logical_and, logical_or, logical_xor = [
    constant(ufunc.__name__, ufunc, "x y") for ufunc in (np.logical_and, np.logical_or, np.logical_xor)]
logical_not = constant("logical_not", np.logical_not, "x")
bitwise_and, bitwise_or, bitwise_xor = [
    constant(ufunc.__name__, ufunc, "x y", domain=promoted(f"{ufunc.__name__}_cpu", "fc"))
    for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
bitwise_not = constant("bitwise_not", np.invert, "x", domain=promoted("bitwise_not_cpu", "fc"))
left_shift = constant("bitwise_left_shift", np.left_shift, "x y", domain=promoted("lshift_cpu", "bfc"))
right_shift = constant("bitwise_right_shift", np.right_shift, "x y", domain=promoted("rshift_cpu", "bfc"))
isnan, isinf, isfinite = [constant(ufunc.__name__, ufunc, "x") for ufunc in (np.isnan, np.isinf, np.isfinite)]
isposinf, isneginf = [
    constant(name, kernel, "x", domain=promoted(c=RuntimeError(f"{name} does not support complex inputs.")))
    for name, kernel in (("isposinf", kernels.isposinf), ("isneginf", kernels.isneginf))]
isreal = constant("isreal", kernels.isreal, "x")
signbit = constant("signbit", np.signbit, "x", domain=promoted(c="signbit is not implemented for complex tensors."))
isclose = constant("isclose", kernels.isclose, "x y")

# The greater and the lesser: equal values share the gradient


def _unordered(name: str) -> Any:
    return promoted(c=RuntimeError(f"{name} not implemented for complex tensors."))


maximum = elementwise("maximum", np.maximum, domain=_unordered("maximum"),
                    x=lambda g, x, y: choose(x < y, 0.0, choose(x == y, g / 2, g)),
                    y=lambda g, x, y: choose(y < x, 0.0, choose(x == y, g / 2, g)))
minimum = elementwise("minimum", np.minimum, domain=_unordered("minimum"),
                    x=lambda g, x, y: choose(x > y, 0.0, choose(x == y, g / 2, g)),
                    y=lambda g, x, y: choose(y > x, 0.0, choose(x == y, g / 2, g)))


def _first_max(x: Value, y: Value) -> Any:
    return np.logical_or(x >= y, np.isnan(y))


def _first_min(x: Value, y: Value) -> Any:
    return np.logical_or(x <= y, np.isnan(y))


# In these the first of equal values gets the whole gradient, and a nan gets nothing.
fmax = elementwise("fmax", np.fmax, domain=_unordered("fmax"), x=lambda g, x, y: choose(_first_max(x, y), g, 0.0),
                 y=lambda g, x, y: choose(_first_max(x, y), 0.0, g))
fmin = elementwise("fmin", np.fmin, domain=_unordered("fmin"), x=lambda g, x, y: choose(_first_min(x, y), g, 0.0),
                 y=lambda g, x, y: choose(_first_min(x, y), 0.0, g))

# Limits. At a limit that is a number, the gradient flows.


def _within(g: Value, x: Value, min: Any, max: Any) -> Any:
    """The gradient where x lies within the limits. A nan does not."""
    inside = x <= max if min is None else x >= min
    if min is not None and max is not None:
        inside = np.logical_and(inside, x <= max)
    return choose(inside, g, 0.0)


def _to_min(g: Value, x: Value, min: Any, max: Any) -> Any:
    below = x < min
    return choose(below if max is None else np.logical_and(below, min < max), g, 0.0)


def _to_max(g: Value, x: Value, min: Any, max: Any) -> Any:
    above = x > max
    return choose(above if min is None else np.logical_or(above, max < min), g, 0.0)


_REAL = promoted(c="clamp is not supported for complex types")
clamp_number = elementwise("clamp", kernels.clamp_number, node=1, domain=_REAL, x=_within)
clamp = elementwise("clamp", kernels.clamp, domain=_REAL, x=_within, min=_to_min, max=_to_max)
clamp_min_number = elementwise("clamp_min", kernels.clamp_number, domain=_REAL, x=_within)
clamp_max_number = elementwise("clamp_max", kernels.clamp_number, domain=_REAL, x=_within)
clamp_min = elementwise("clamp_min", lambda x, min: kernels.clamp(x, min, None), node=1,
                        domain=promoted("maximum_cpu", "c"), x=lambda g, x, min: _within(g, x, min, None),
                        min=lambda g, x, min: _to_min(g, x, min, None))
clamp_max = elementwise("clamp_max", lambda x, max: kernels.clamp(x, None, max), node=1,
                        domain=promoted("minimum_cpu", "c"), x=lambda g, x, max: _within(g, x, None, max),
                        max=lambda g, x, max: _to_max(g, x, None, max))

where = elementwise("where", kernels.where, domain="as given", x=lambda g, condition: choose(condition, g, 0.0),
                  y=lambda g, condition: choose(condition, 0.0, g))


_jump, _jump_written = not_differentiable("heaviside"), not_differentiable("heaviside_")
heaviside = elementwise("heaviside", kernels.heaviside, node="NotImplemented", x=_jump, y=_jump,
                        written={"x": _jump_written, "y": _jump_written})


def _resigned(g: Value, x: Value, out: Value) -> Any:
    """The sign by which copysign multiplies a number other than 0. At 0 the derivative is 0."""
    return g * choose(x == 0, 0.0, out / choose(x == 0, 1.0, x))


copysign = elementwise("copysign", np.copysign, domain=floating("copysign_cpu", "c"), x=_resigned, y=flat)
copysign_number = elementwise("copysign", kernels.copysign_number, node=1, domain=floating("copysign_cpu", "c"),
                              x=_resigned)
