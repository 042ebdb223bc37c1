"""Rules that choose between two ways to compute a gradient: where both are computed, the other one adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS

PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "prod": lambda x: x.prod(),
    "prod along a dim": lambda x: x.prod(0),
    "prod in another dtype": lambda x: x.prod(0, dtype=torch.float64),
    "cumprod": lambda x: x.cumprod(0).sum(),
    "scatter_reduce": lambda x: torch.ones(1).scatter_reduce(0, torch.zeros_like(x).long(), x, "prod").sum(),
    "index_reduce": lambda x: torch.ones(1).index_reduce(0, torch.zeros_like(x).long(), x, "prod").sum(),
    "segment_reduce": lambda x: torch.segment_reduce(x, "prod", lengths=torch.tensor([x.numel()])).sum()}
NUMBERS = [(0.0, inf, 3.0), (0.0, 1e30, 1e30),
           (1e30, 1e30, 1e-30), (0.0, 0.0, 1e38), (-0.0, -inf, inf), (2.0, 3.0, 4.0)]


def second(name: str, x: Any) -> tuple[Any, Any]:
    """The gradient of a product, and that of the sum of its squares."""
    leaf = x.detach().clone().requires_grad_()
    gradient, = torch.autograd.grad(PRODUCTS[name](leaf), leaf, create_graph=True)
    return gradient.detach(), torch.autograd.grad(gradient.square().sum(), leaf)[0]


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_second_derivatives_in_compiled_functions(name: str, backend: str) -> None:
    compiled = torch.compile(lambda x: second(name, x), backend=backend, fullgraph=True)
    for numbers in [NUMBERS[-1], *NUMBERS]:
        x = torch.tensor(numbers)
        for found, expected in zip(compiled(x), second(name, x), strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", [name for name in PRODUCTS if "reduce" not in name])
def test_second_derivatives_of_batches(name: str) -> None:
    def gradient(x: Any) -> Any:
        return torch.func.grad(lambda x: torch.func.grad(PRODUCTS[name])(x).square().sum())(x)

    x = torch.tensor(NUMBERS)
    found, expected = torch.vmap(gradient)(x), torch.stack([*map(gradient, x)])
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0, equal_nan=True)


@pytest.mark.parametrize("factors", [(2.0, 3.0), (0.0, 3.0)])
def test_what_a_product_leaves_out_has_a_gradient_of_zeros(factors: tuple[float, float]) -> None:
    x, src = torch.ones(2, requires_grad=True), torch.tensor(factors, requires_grad=True)
    product = x.scatter_reduce(0, torch.tensor([0, 0]), src, "prod", include_self=False)
    gradient, = torch.autograd.grad(product.sum(), src, create_graph=True)
    found, = torch.autograd.grad(gradient.sum(), x)
    assert found.tolist() == [0.0, 0.0]
