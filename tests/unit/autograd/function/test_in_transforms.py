"""Custom Functions under transforms: one class with backward, jvp and vmap is right in every nesting."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import retrograd as torch

TRANSFORMS: dict[str, Callable[..., Any]] = {
    "grad": torch.func.grad, "jacfwd": torch.func.jacfwd, "jacrev": torch.func.jacrev}
ROWS = torch.tensor([[3., 1., 2.], [0.5, -1., 7.]])


class Sort(torch.autograd.Function):
    """Sorts with NumPy, which knows no batches of tensors; so `vmap` sorts the whole batch."""

    @staticmethod
    def forward(x: Any, dim: int) -> Any:
        order = np.argsort(x.numpy(), axis=dim)
        places = np.argsort(order, axis=dim)
        return torch.tensor(np.take_along_axis(x.numpy(), order, dim)), torch.tensor(order), torch.tensor(places)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, order, places = output
        ctx.mark_non_differentiable(order, places)
        ctx.save_for_backward(order, places)
        ctx.save_for_forward(order, places)
        ctx.dim = inputs[1]

    @staticmethod
    def backward(ctx: Any, g: Any, *unused: Any) -> Any:
        return g.gather(ctx.dim, ctx.saved_tensors[1]), None

    @staticmethod
    def jvp(ctx: Any, t: Any, dim: None) -> Any:
        return t.gather(ctx.dim, ctx.saved_tensors[0]), None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, dim: int) -> Any:
        assert (info.batch_size, info.randomness, in_dims) == (2, "error", (0, None))
        return Sort.apply(x, dim + 1), (0, 0, 0)


class Cube(torch.autograd.Function):
    """The cube and its slope. With PyTorch 2.13, its second derivative by `jacfwd` of `jacfwd` is 0."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x ** 3, 3 * x ** 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output[1])
        ctx.save_for_forward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, g: Any, g_slope: Any) -> Any:
        x, slope = ctx.saved_tensors
        return g * slope + g_slope * 6 * x

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        x, slope = ctx.saved_tensors
        return slope * t, 6 * x * t


@pytest.mark.parametrize("nesting", [*product(TRANSFORMS, repeat=3)], ids=" of ".join)
def test_every_nesting_of_a_function_is_right(nesting: tuple[str, ...]) -> None:
    third = lambda x: Cube.apply(x)[0]  # noqa: E731
    for name in nesting:
        third = TRANSFORMS[name](third)
    assert third(torch.tensor(2.)).item() == 6


def test_a_vmap_of_its_own_gets_the_whole_batch() -> None:
    ordered = torch.vmap(lambda row: Sort.apply(row, 0)[0])(ROWS)
    assert ordered.tolist() == [[1, 2, 3], [-1, 0.5, 7]]
    weighted = torch.func.grad(lambda row: (Sort.apply(row, 0)[0] ** 2 * torch.arange(3.)).sum())
    assert torch.vmap(weighted)(ROWS).tolist() == [[12, 0, 4], [1, 0, 28]]
    along = lambda row: torch.func.jvp(lambda x: Sort.apply(x, 0)[0], (row,), (torch.arange(3.),))[1]  # noqa: E731
    assert torch.vmap(along)(ROWS).tolist() == [[1, 2, 0], [1, 0, 2]]


def test_what_a_vmap_returns_is_checked() -> None:
    class Wrong(Cube):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return Cube.forward(x)[0]

    with pytest.raises(RuntimeError, match="^Expected the vmap staticmethod to have two returns"):
        torch.vmap(lambda x: Wrong.apply(x)[0])(ROWS)


class Scaled(torch.autograd.Function):
    """x * w * factor. The factor, no tensor, comes first, and stands among the results, too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(factor: float, x: Any, w: Any) -> Any:
        return factor, x * w * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.factor = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, _: Any, g: Any) -> Any:
        x, w = ctx.saved_tensors
        return None, g * w * ctx.factor, g * x * ctx.factor

    @staticmethod
    def jvp(ctx: Any, _: Any, x_tangent: Any, w_tangent: Any) -> Any:
        x, w = ctx.saved_tensors
        return None, sum([t * other * ctx.factor for t, other in ((x_tangent, w), (w_tangent, x)) if t is not None])


@pytest.mark.parametrize("call", [
    lambda f, x: torch.vmap(f)(x), lambda f, x: torch.func.jvp(f, (x,), (torch.ones(3),))[1],
    lambda f, x: torch.func.jacfwd(f)(x), lambda f, x: torch.func.hessian(lambda y: f(y).square().sum())(x),
    lambda f, x: torch.vmap(lambda a: torch.func.jvp(f, (a,), (a,))[1])(x)])
def test_options_before_tensors_and_results_that_are_no_tensors(call: Callable[..., Any]) -> None:
    found = []
    for function in (lambda x, w: Scaled.apply(3., x, w)[1], lambda x, w: x * w * 3.):
        x, w = torch.tensor([1., 2., 3.], requires_grad=True), torch.tensor(2., requires_grad=True)
        result = call(lambda x, w=w, function=function: function(x, w), x)
        gradients = torch.autograd.grad(result.sum(), (x, w), allow_unused=True, materialize_grads=True)
        found.append([t.tolist() for t in (result, *gradients)])
    assert found[0] == found[1]
