"""Special functions that are methods of tensors: the gamma function's family, x * log(y), Bessel functions.

`special_only` has those of `torch.special`. PyTorch has no derivatives by some arguments (the first of igamma). Such an
argument is recorded, but a backward pass through it raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...kernels.elementwise import elementary
from ...kernels.elementwise.arithmetic import like, promoted as with_number
from ...kernels.options import rounds_number
from ...kernels.special import bessel, gamma, incomplete_gamma
from ..domains import floating, promoted, refused
from ..framework import Domain, Op, Rule, elementwise

if TYPE_CHECKING:
    from ..values import Value

_TINY = 2.0 ** -52


def underivable(what: str) -> Rule:
    """A rule for an argument by which PyTorch has no derivative."""

    def rule(g: Value) -> Rule:
        raise noted(NotImplementedError(f"the derivative for '{what}' is not implemented."),
                    instead="detach it, so that it is a constant")

    return rule


# The gamma function and its relatives

polygamma: Op = elementwise("polygamma", gamma.polygamma, domain="float",
                          x=lambda g, x, n: g * polygamma(x, n + 1), written={"node": 1})
digamma = elementwise("digamma", gamma.digamma, domain=floating("digamma", "c"), x=lambda g, x: g * polygamma(x, 1))
lgamma = elementwise("lgamma", gamma.lgamma, domain=floating("lgamma_vml_cpu", "c"), x=lambda g, x: g * digamma(x))


def _mvlgamma(g: Value, x: Value, p: int) -> Any:
    slope = digamma(x + 0.0)                            # PyTorch adds 0 too, so -0.0 becomes 0.0
    for k in range(1, p):
        slope = slope + digamma(x - k / 2)
    return g * slope


mvlgamma = elementwise("mvlgamma", gamma.mvlgamma, tensors=1, x=_mvlgamma,
                       domain=floating("arange_cpu", "c", b=RuntimeError(
                           "The input tensor may not be a boolean tensor.")))


def _density(g: Value, x: Value, y: Value) -> Any:
    """The derivative of the lower incomplete gamma function: the density of the gamma distribution."""
    return g * np.exp((x - 1) * np.log(y) - y - lgamma(x))


igamma = elementwise("igamma", incomplete_gamma.igamma, arguments="x y", domain=promoted("igamma_cpu", "bic"),
                     x=underivable("igamma: input"), y=_density)
igammac = elementwise("igammac", incomplete_gamma.igammac, arguments="x y", domain=promoted("igammac_cpu", "bic"),
                      x=underivable("igammac: input"), y=lambda g, x, y: -_density(g, x, y))


def with_numbers(name: str, node: str, kernel: Callable[..., Any], domain: Domain, x: Rule, y: Rule,
                 any_type: bool = False) -> tuple[Op, Op]:
    """Two operators: of a number x and a tensor, and of a tensor and a number y. Each has a node of its own name.

    In a rule, the number has the name of the tensor in whose place it stands.
    """

    def beside(array: Array, number: Any) -> Any:
        array = with_number(array, number)
        if array.dtype.kind == "c":
            raise refused(f'"{name}_cpu" not implemented for {{}}', array.dtype)
        return array

    @rounds_number
    def from_number(y: Array, x: Any) -> Any:
        y = beside(y, x)
        return kernel(like(x, y), y)

    @rounds_number
    def with_a_number(x: Array, y: Any) -> Any:
        x = beside(x, y)
        return kernel(x, like(y, x))

    return (elementwise(name, from_number, node=f"{node}1", domain=domain, any_type=any_type, y=y),
            elementwise(name, with_a_number, node=f"{node}2", domain=domain, any_type=any_type, x=x))


# x * log(y)

def log_of(y: float, log: Callable[[Any], float], pole: float) -> float:
    """The logarithm of a number: -inf at its pole, and nan below."""
    return log(y) if y > pole else -math.inf if y == pole else math.nan


def _by_power_of_number(g: Value, x: Value, y: float) -> Any:
    return g * log_of(y, math.log, 0) if y > 0 else np.where(x == 0, 0.0, xlogy_with_number(g, y))


xlogy_of_number, xlogy_with_number = with_numbers("xlogy", "XlogyBackward", elementary.xlogy, floating(
    "xlogy_cpu", "c"), _by_power_of_number, lambda g, x, y: g * x / y, any_type=True)

# Bessel functions


def off_zero(x: Value) -> tuple[Any, Any]:
    """Where x is nan, or so close to 0 that 1 / x might not be finite; and x with a 1 in these places."""
    flat = np.logical_not(np.abs(x) > _TINY)
    return flat, np.where(flat, 1.0, x)


def _i1(g: Value, x: Value, out: Value) -> Any:
    """i0 - i1 / x, and 1 / 2 close to 0."""
    flat, safe = off_zero(x)
    return g * np.where(flat, 0.5, i0(safe) - out / safe)


i0: Op = elementwise("i0", bessel.i0, domain=floating("i0_vml_cpu", "c"), x=lambda g, x: g * i1(x))
i1: Op = elementwise("i1", bessel.i1, node="SpecialI1Backward0", domain=floating("i1_cpu", "c"), x=_i1)
