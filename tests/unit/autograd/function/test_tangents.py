"""Custom Functions in forward mode: `jvp`, what it receives and may return, and every nesting with reverse mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.tangents import V, X, tangent_of as tangent
from retrograd.autograd import forward_ad
from retrograd.tensors.transforms.crossing import entered, make_dual, tangent_part
from retrograd.tensors.transforms.forward import ForwardLevel


@pytest.fixture
def dual() -> Any:
    with forward_ad.dual_level():
        yield forward_ad.make_dual(torch.tensor(X), torch.tensor(V))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return torch.tensor(np.asarray(x.detach().numpy() ** 3))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * g * x * x

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 3 * t * x * x


def slope(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        level = ForwardLevel()
        with entered(level):
            found = function(make_dual(level, x, torch.ones_like(x)))
        return tangent_part(level, found)

    return call


def gradient(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        inner = x.view_as(x) if x.requires_grad else x.view_as(x).requires_grad_()
        return torch.autograd.grad(function(inner), inner, create_graph=True)[0]

    return call


@pytest.mark.parametrize("first", [slope, gradient])
@pytest.mark.parametrize("second", [slope, gradient])
@pytest.mark.parametrize("third", [slope, gradient])
def test_a_function_is_right_in_every_nesting(first: Any, second: Any, third: Any) -> None:
    """In PyTorch 2.13 the second derivative by two slopes is 0."""
    x, cube = torch.tensor(3.0, dtype=torch.float64), lambda x: Cube.apply(x) * x
    assert first(cube)(x).item() == pytest.approx(108.0)
    assert first(second(cube))(x).item() == pytest.approx(108.0)
    assert first(second(third(cube)))(x).item() == pytest.approx(72.0)


def made(forward: Callable[..., Any], jvp: Callable[..., Any] | None, setup: Any = None) -> Any:
    methods = {"forward": forward, "jvp": jvp, "setup_context": setup, "backward": lambda ctx, *g: g}
    return type("F", (torch.autograd.Function,), {
        name: staticmethod(method) for name, method in methods.items() if method is not None}).apply


def twice(ctx: Any, x: Any, *others: Any) -> Any:
    return x * 2


def not_materialized(ctx: Any, x: Any, y: Any) -> Any:
    ctx.set_materialize_grads(False)
    return x * 2


def marked(ctx: Any, x: Any) -> Any:
    y = x * 3
    ctx.mark_non_differentiable(y)
    return x * 2, y


def dirty(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


COUNT = "Function's jvp returned an invalid number of forward gradients (expected {} but got {})"
CONSTANT = ("Function's jvp returned a gradient at position 1, but  the corresponding forward output is not a "
            "differentiable Tensor.You should return None at that position instead.")
AS_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
IN_PLACE = "An inplace custom Function is not modifying the forward mode gradients inplace."


@pytest.mark.parametrize(("forward", "jvp", "message"), [
    (twice, None, "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."),
    (twice, lambda ctx, t: (t, t), COUNT.format(1, 2)),
    (lambda ctx, x: (x * 2, x * 3), lambda ctx, t: t, COUNT.format(2, 1)),
    (twice, lambda ctx, t: t.sum(), "Trying to set a forward gradient that has a different size"),
    (twice, lambda ctx, t: 3.0, "expected Variable or None (got float) for grad output 0."),
    (twice, lambda ctx, t: [t], "expected Variable or None (got list) for grad output 0."),
    (lambda ctx, x: (x * 2, x.long()), lambda ctx, t: (t, t), CONSTANT),
    (marked, lambda ctx, t: (t, t), CONSTANT),
    (lambda ctx, x: x.view_as(x), lambda ctx, t: t * 2, AS_VIEW),
    (lambda ctx, x: x, lambda ctx, t: t, AS_VIEW),
    (dirty, lambda ctx, t: t * 2, IN_PLACE), (dirty, lambda ctx, t: None, IN_PLACE),
])
def test_wrong_tangents_of_a_function(forward: Any, jvp: Any, message: str, dual: Any) -> None:
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        made(forward, jvp)(dual * 1)
    assert str(caught.value).startswith(message)


def test_what_jvp_receives(dual: Any) -> None:
    given: list[Any] = []

    def jvp(ctx: Any, *tangents: Any) -> Any:
        given[:] = [None if t is None else t.tolist() for t in tangents]
        return tangents[0] * 2

    others = (torch.tensor(X), torch.tensor([1]), 3)
    assert tangent(made(twice, jvp)(dual, *others)) == [6.0, 8.0]
    assert given == [V, [0.0, 0.0], None, None]
    made(not_materialized, jvp)(dual, others[0])
    assert given == [V, None]
    assert tangent(made(twice, jvp)(others[0])) is None


def test_what_is_saved_for_jvp(dual: Any) -> None:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_forward(inputs[0], output)
        ctx.save_for_backward(inputs[0])

    def jvp(ctx: Any, t: Any) -> Any:
        x, out = ctx.saved_tensors
        assert (tangent(x), tangent(out)) == (None, None)
        return t * x + out

    assert tangent(made(lambda x: x * 2, jvp, setup)(dual)) == [5.0, 12.0]
    assert made(lambda x: x * 2, lambda ctx, t: t, setup)(dual.requires_grad_()).grad_fn.saved_tensors[0].tolist() == X


def test_views_writes_and_outputs_without_tangents(dual: Any) -> None:
    assert tangent(made(lambda ctx, x: x[:1], lambda ctx, t: t[:1])(dual)) == [3.0]
    y = dual * 1
    assert made(dirty, lambda ctx, t: t.mul_(2))(y) is y
    assert (y.tolist(), tangent(y)) == ([2.0, 4.0], [6.0, 8.0])
    y, z = made(marked, lambda ctx, t: (t * 2, None))(dual)
    assert (tangent(y), tangent(z)) == ([6.0, 8.0], None)
    assert made(lambda ctx, x: (x * 2, "s"), lambda ctx, t: (t, None))(dual)[1] == "s"
