"""Products and norms of float16 against PyTorch, which computes each in float32 and rounds the result once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare

SHAPES = {
    "addmm": ((5, 4), (5, 9), (9, 4)), "baddbmm": ((3, 5, 4), (3, 5, 9), (3, 9, 4)),
    "addbmm": ((5, 4), (3, 5, 9), (3, 9, 4)), "addr": ((5, 4), (5,), (4,))}


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (0.5, 1), (0.3, 0.7), (2, 0), (0, 2)])
@pytest.mark.parametrize("name", SHAPES)
def test_sums_of_products(name: str, alpha: float, beta: float) -> None:
    random = np.random.RandomState(0)
    arrays = [random.randn(*shape).astype(np.float16) for shape in SHAPES[name]]
    ours, theirs = (getattr(library, name)(*map(library.from_numpy, arrays), alpha=alpha, beta=beta).numpy()
                    for library in (retrograd, torch))
    assert np.mean(ours != theirs) < 0.1                    # sums in another order may be rounded to a neighbor


@pytest.mark.parametrize("name", [*SHAPES, "addmv"])
def test_products_that_only_the_factor_makes_small(name: str) -> None:
    shapes = SHAPES.get(name, ((5,), (5, 2), (2,)))

    def case(library: Any) -> Any:
        x, first, second = (library.full(shape, 60.0, dtype=library.float16) for shape in shapes)
        return getattr(library, name)(x, first * 5, second * 5, alpha=2.0**-8)

    compare(case)


@pytest.mark.parametrize("p", [1.0, 2.0, float("inf")])
def test_rows_with_a_large_norm(p: float) -> None:
    def case(library: Any) -> Any:
        table = library.full((2, 4), 200.0, dtype=library.float16)
        library.nn.functional.embedding(library.tensor([0]), table, max_norm=1.0, norm_type=p)
        return table

    compare(case)


NUMBERS = [1e-8, 1e-5, 0.1, 3.14159, 7, -3, 1e5, 100000, True, float("inf"), float("nan")]
WITH_NUMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x * n": lambda library, x, n: x * n, "n * x": lambda library, x, n: n * x, "x / n": lambda library, x, n: x / n,
    "n / x": lambda library, x, n: n / x, "twice": lambda library, x, n: x * n * n / n,
    "trunc": lambda library, x, n: library.div(x, n, rounding_mode="trunc"),
    "floor": lambda library, x, n: library.div(x, n, rounding_mode="floor"),
    "mul_": lambda library, x, n: x.clone().mul_(n), "div_": lambda library, x, n: x.clone().div_(n),
    "a float32": lambda library, x, n: x * library.tensor(float(n)),
    "a float64": lambda library, x, n: x / library.tensor(float(n), dtype=library.float64),
    "a float16": lambda library, x, n: x * library.tensor(float(n), dtype=library.float16),
    "without dimensions": lambda library, x, n: x[3] * n, "a row": lambda library, x, n: x.reshape(4, 2).t() * n,
    "a list": lambda library, x, n: library._foreach_mul([x.detach()], n)[0] * x,
    "jvp": lambda library, x, n: library.func.jvp(lambda x: x * n * x, (x.detach(),), (x.detach(),))[1] * x,
    "compiled": lambda library, x, n: library.compile(lambda x: x * n * x, backend="eager")(x),
}


@pytest.mark.parametrize("number", NUMBERS, ids=str)
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers_are_not_rounded_before_a_product(name: str, number: float) -> None:
    def case(library: Any) -> Any:
        numbers = [1.0, -2.5, 3e-4, 6e4, 0.333, -7.7, 0.0, 5e-5]
        x = library.tensor(numbers, dtype=library.float16, requires_grad=True)
        result = WITH_NUMBERS[name](library, x, number)
        result.sum().backward()
        return result, x.grad

    compare(case)


def test_gradients_of_gradients_beside_a_number() -> None:
    def case(library: Any) -> Any:
        x = library.tensor([6e4, 1.5, -3e-4, 0.333], dtype=library.float16, requires_grad=True)
        gradient, = library.autograd.grad((x * x * 1e-5).sum(), x, create_graph=True)
        gradient.sum().backward()
        return gradient, x.grad

    compare(case)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_beside_float16_with_a_place_for_the_result(dtype: str) -> None:
    def case(library: Any) -> Any:
        x = library.tensor([6e4, 1.5, -3e-4], dtype=library.float16)
        out = library.empty(3, dtype=getattr(library, dtype))
        return library.mul(x, 1e-5, out=out).clone(), library.div(x, 1e5, out=out)

    compare(case)


def test_a_mode_sees_the_number_beside_float16() -> None:
    def case(library: Any) -> Any:
        seen = []

        class Noting(library.utils._python_dispatch.TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                seen.append((str(func), args[1]))
                return func(*args, **(kwargs or {}))

        x = library.tensor([6e4, 1.5], dtype=library.float16)
        with Noting():
            results = x * 1e-5, x / 70000, x.mul_(0.1)
        return seen, *results

    compare(case)
