"""Which results of transforms of functions require grad: those that something outside of the transform leads to.

The expected answers are PyTorch 2.13's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import func
from retrograd.func import grad, grad_and_value, jacrev, linearize, vjp

X = torch.tensor(2.)
RECORDED = torch.tensor(2., requires_grad=True)
W = torch.tensor(3., requires_grad=True)


def cube(x: Any) -> Any:
    return x * x * x


def weighted(a: Any, b: Any) -> tuple[Any, Any]:
    """One output that depends on W, and one that does not."""
    return a * W + b * b, b * b


def flags(*tensors: Any) -> str:
    return "".join("T" if tensor.requires_grad else "F" for tensor in tensors)


def pulled(inside: bool, afterwards: bool) -> str:
    """Flags of the outputs and of gradients of `weighted`, with grad mode on or off for the call and for the pull."""
    with torch.set_grad_enabled(inside):
        outputs, pull = vjp(weighted, X, X)
    with torch.set_grad_enabled(afterwards):
        return flags(*outputs, *pull((X, X)), *pull((X, RECORDED)))


def pushed(at: Any) -> str:
    outputs, push = linearize(weighted, X, X)
    return flags(*outputs, *push(at, X))


def of_a_constant(has_aux: bool) -> str:
    """Flags of what an inner transform finds, which runs on a constant inside of a transform."""
    found = []

    def inner(x: Any) -> Any:
        def function(y: Any) -> Any:
            return (y * y, (x, x * x, y, y * x, x.detach())) if has_aux else y * y

        gradient, beside = (grad if has_aux else grad_and_value)(function, has_aux=has_aux)(torch.tensor(4.))
        found.append(flags(gradient, *(beside if has_aux else (beside,))))
        return gradient * x

    found.append(flags(grad(inner)(X)))
    return " ".join(found)


def pulled_inside() -> str:
    found = []

    def inner(x: Any) -> Any:
        output, pull = vjp(lambda y: y * y, torch.tensor(3.))
        gradient, = pull(x)
        found.append(flags(output, gradient))
        return gradient * x

    found.append(flags(grad(inner)(X)))
    return " ".join(found)


def told_not_to() -> str:
    pull = vjp(weighted, X, X)[1]
    return flags(*pull((X, RECORDED), create_graph=False), *pull((X, X), create_graph=True))


CASES: dict[str, tuple[Any, str]] = {
    "second": (lambda: flags(grad(grad(cube))(X), grad(grad(cube))(RECORDED)), "FT"),
    "of several arguments": (lambda: flags(*grad(lambda a, b: weighted(a, b)[0], (0, 1))(X, X)), "TF"),
    "value": (lambda: flags(*grad_and_value(grad(lambda x: x * W))(X)), "FT"),
    "of a constant": (lambda: of_a_constant(False), "FF F"),
    "of a constant, with more": (lambda: of_a_constant(True), "FTTFTF F"),
    "pulled inside": (pulled_inside, "FT F"),
    "pulled": (lambda: pulled(True, True), "TFTFTT"),
    "pulled without recording": (lambda: pulled(True, False), "TFFFFF"),
    "called without recording": (lambda: pulled(False, True), "FFTFTT"),
    "pushed": (lambda: pushed(X), "TFTF"),
    "pushed along a tensor that requires grad": (lambda: pushed(RECORDED), "TFTF"),
    "told not to": (told_not_to, "FFTF"),
    "jacobians": (lambda: flags(*jacrev(lambda a, b: weighted(a, b)[0], (0, 1))(X, X)), "TF"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_requires_grad(name: str) -> None:
    call, expected = CASES[name]
    assert call() == expected


def test_a_result_leads_to_what_is_outside() -> None:
    def inner(x: Any) -> Any:
        return vjp(lambda y: y * y, torch.tensor(3.))[1](x)[0] * W

    grad(inner)(X).backward()
    assert W.grad == 6
    W.grad = None


def _written(x: Any, w: Any) -> Any:
    t = w.clone()
    t.mul_(x.sin())
    return t * t


@pytest.mark.parametrize("way", [
    lambda f, x, w: func.jacfwd(f)(x, w), lambda f, x, w: func.jacfwd(func.jacfwd(f))(x, w),
    lambda f, x, w: func.jacfwd(func.jacrev(f))(x, w),
    lambda f, x, w: func.vmap(lambda v: func.jvp(f, (x, w), (v, torch.ones_like(w)))[1])(torch.eye(2))])
def test_the_gradient_of_a_value_that_was_written_in_a_batch_of_tangents_is_the_sum(way: Callable[..., Any]) -> None:
    """The memory that is written belongs to no batch before the write, and its tangent belongs to one after it."""
    x, w = torch.tensor([0.3, 0.7], requires_grad=True), torch.tensor([0.4, 0.9], requires_grad=True)
    found, expected = way(_written, x, w), way(lambda x, w: (w * x.sin()) * (w * x.sin()), x, w)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(torch.autograd.grad(found.square().sum(), (x, w)),
                               torch.autograd.grad(expected.square().sum(), (x, w)))
