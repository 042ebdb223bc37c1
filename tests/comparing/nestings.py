"""The ways to differentiate a function of one number, and every nesting of them.

Each way takes a function of a 0-d tensor and returns its derivative, a function of the same kind. So the ways nest in
any order, and the derivative of a nesting is known from differences of the innermost function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product
from typing import Any

Curve = Callable[[Any], Any]
Way = Callable[[Curve], Curve]


def ways(t: Any) -> dict[str, Way]:
    """The ways of a library, by name. `hessian` is of second order; all others are of first order."""
    fwd = t.autograd.forward_ad

    def jvp(f: Curve) -> Curve:
        return lambda x: t.func.jvp(f, (x,), (t.ones_like(x),))[1]

    def vjp(f: Curve) -> Curve:
        def derivative(x: Any) -> Any:
            out, pull = t.func.vjp(f, x)
            return pull(t.ones_like(out))[0]

        return derivative

    def forward_ad(f: Curve) -> Curve:
        def derivative(x: Any) -> Any:
            with fwd.dual_level():
                tangent = fwd.unpack_dual(f(fwd.make_dual(x, t.ones_like(x)))).tangent
            return t.zeros_like(x) if tangent is None else tangent

        return derivative

    def backward(f: Curve) -> Curve:
        def derivative(x: Any) -> Any:
            x = x.view_as(x)
            if not x.requires_grad:
                x.requires_grad = True                     # a transform refuses `requires_grad_`
            out = f(x)
            if not out.requires_grad:
                return t.zeros_like(x)
            return t.autograd.grad(out, x, create_graph=True, materialize_grads=True)[0]

        return derivative

    def batched(f: Curve) -> Curve:
        pulled = t.func.vmap(t.func.grad(f))
        return lambda x: pulled(x[None])[0]

    return {"jvp": jvp, "vjp": vjp, "grad": t.func.grad, "forward_ad": forward_ad, "jacfwd": t.func.jacfwd,
            "jacrev": t.func.jacrev, "hessian": t.func.hessian, "backward": backward, "vmap of grad": batched}


def order(nesting: tuple[str, ...]) -> int:
    """The order of the derivative."""
    return sum([2 if name == "hessian" else 1 for name in nesting])


def nested(library_ways: dict[str, Way], nesting: tuple[str, ...], curve: Curve) -> Curve:
    """The derivative of a curve by a nesting, whose first way is applied to the curve itself."""
    return reduce(lambda f, name: library_ways[name](f), nesting, curve)


def allowed(nesting: tuple[str, ...]) -> bool:
    """Whether PyTorch allows the nesting at all: `dual_level` does not nest in itself."""
    return nesting.count("forward_ad") < 2


NAMES = ("jvp", "vjp", "grad", "forward_ad", "jacfwd", "jacrev", "hessian", "backward", "vmap of grad")
NESTINGS = [nesting for count in (1, 2, 3) for nesting in product(NAMES, repeat=count)
            if order(nesting) <= 3 and allowed(nesting)]
# The number at which the derivatives are taken, and how far those of each order may be from the differences.
X = 0.7
NEAR = {1: 1e-7, 2: 1e-5, 3: 1e-3}


def is_near(number: float, right: float, degree: int) -> bool:
    """Whether a derivative of an order is that which the differences say."""
    return abs(number - right) <= NEAR[degree] * max(1, abs(right))
