"""Operators that make arrays without arithmetic: complex numbers from their parts, constants, random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.modes import local
from ..kernels.elementwise import elementary as kernels
from ..kernels.layout import copied
from ..kernels.special.dirichlet_slope import dirichlet_sample_by_concentration
from ..kernels.special.incomplete_gamma import gamma_sample_by_shape
from .basic import real
from .framework import Op, elementwise, flat, linear, not_differentiable, operator

if TYPE_CHECKING:
    from .values import Value

complex_ = linear("complex", kernels.complex_of, complex="adjoint", layout="elementwise", x=lambda g: real(g),
                  y=lambda g: np.imag(g))


def _full(x: Value | None, shape: tuple[int, ...], dtype: np.dtype[Any], value: Any) -> Any:
    """A new array that holds the number everywhere. Nothing of `x` is used."""
    return np.zeros(shape, dtype) if type(value) is int and value == 0 else np.full(shape, value, dtype)


new_full = operator("new_full", _full, tensors=1, any_type=True)


def full_beside(x: Value | None, shape: tuple[int, ...], dtype: np.dtype[Any], value: Any) -> Any:
    """An array that holds the number everywhere, of the same sort as the array `x` (NumPy's, or a transform's)."""
    make = _full if local.thread.transform is None else new_full.run
    return make(x, shape, dtype, value)


# New memory that a program asked for: a copy of the array. A transform that records calls makes the memory anew when it
# replays them.
fresh = operator("fresh", lambda x: copied(x, x.dtype), tensors=1, layout="kept", any_type=True)


def drawn(x: Array | None, draw: Callable[..., Any]) -> Any:
    """Random numbers in place of those of `x`, which only gives the shape and the type."""
    return draw(x)


def drawn_beside(x: Array, y: Array, draw: Callable[..., Any]) -> Any:
    """Random numbers for `x`, with `y` for the distribution."""
    return draw(x, y)


def random_fill(name: str, overload: int = 0) -> Op:
    """The op of a random distribution: its kernel calls the function it is given, and its gradients are zero."""
    return elementwise(name, drawn, domain="as given", node=overload, tensors=1, any_type=True, x=flat)


def random_beside(name: str, overload: int) -> Op:
    """The op of a random distribution with two tensors."""
    return elementwise(name, drawn_beside, domain="as given", node=overload, tensors=2, any_type=True, layout="rows",
                       x=flat, y=flat)


# Random numbers that do not replace those of the array `x`, which may be None: for the shape of `x`; for its first two
# dims (samples and channels); and for the numbers of `x`, as a distribution.
random_like, random_channels, random_from = [
    operator("random_like", drawn, tensors=1, layout="kept", any_type=True) for _ in range(3)]


def draw_for(x: Value | None, draw: Callable[[Any], Any], op: Op = random_like) -> Any:
    """The result of `draw(x)`, called beyond the seam; `x` is an array or None."""
    return draw(x) if local.thread.transform is None else op.run(x, draw)


class Draw:
    """A call that draws random numbers without an array. The second of `args` is the shape, or a number of elements."""

    def __init__(self, draw: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.draw, self.args = draw, args

    def __call__(self, nothing: Any = None) -> Any:
        """The random numbers."""
        return self.draw(*self.args)


def draw_by(draw: Callable[..., Any], *args: Any) -> Any:
    """The result of `draw(*args)`, called beyond the seam, for arguments that are no arrays."""
    return draw(*args) if local.thread.transform is None else random_like.run(None, Draw(draw, args))


uniform, normal, exponential, geometric, log_normal, cauchy = map(
    random_fill, ("uniform", "normal", "exponential", "geometric", "log_normal", "cauchy"))
random_between, random_below, random = (random_fill("random", overload) for overload in range(3))
bernoulli, bernoulli_by_number = random_fill("bernoulli", 0), random_fill("bernoulli", 2)
bernoulli_by_tensor = random_beside("bernoulli", 1)
normal_around, normal_wide = random_fill("normal", 1), random_fill("normal", 2)
normal_around_wide = random_beside("normal", 3)

# Samples from distributions with tensors as parameters. A gradient exists here if it exists in PyTorch.

poisson = random_fill("poisson")
bernoulli_like, sample_dirichlet = [
    elementwise(name, drawn, domain="as given", node="NotImplemented", tensors=1, any_type=True,
                x=not_differentiable(name))
    for name in ("bernoulli", "_sample_dirichlet")]
binomial = elementwise("binomial", drawn_beside, domain="as given", node="NotImplemented", tensors=2,
                       any_type=True, x=not_differentiable("binomial"), y=not_differentiable("binomial"))


def _no_second(g: Value) -> Any:
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


gamma_gradient = elementwise("_standard_gamma_grad", gamma_sample_by_shape, domain="as given", tensors=2,
                             shapes=_no_second, samples=_no_second)
standard_gamma = elementwise("_standard_gamma", drawn, domain="as given", tensors=1, any_type=True,
                             x=lambda g, x, out: g * gamma_gradient(x, out))
dirichlet_gradient = elementwise(
    "_dirichlet_grad", dirichlet_sample_by_concentration, domain="as given", node="NotImplemented", tensors=3,
    samples=not_differentiable("_dirichlet_grad"), concentrations=not_differentiable("_dirichlet_grad"),
    totals=not_differentiable("_dirichlet_grad"))
