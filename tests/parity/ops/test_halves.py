"""Products and norms of float16 against PyTorch, which computes each in float32 and rounds the result once."""

from __future__ import annotations

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
