"""Results of linear algebra lie in memory as PyTorch's do: most of them column by column, as LAPACK returns them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

# Functions of a package, square matrices, right sides as matrices, and right sides as vectors.
FUNCTIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "solve": lambda t, a, b, v: t.linalg.solve(a, b),
    "solve, vectors": lambda t, a, b, v: t.linalg.solve(a, v),
    "solve from the right": lambda t, a, b, v: t.linalg.solve(a, b.mT, left=False),
    "solve_ex, vectors": lambda t, a, b, v: t.linalg.solve_ex(a, v),
    "solve_triangular": lambda t, a, b, v: t.linalg.solve_triangular(a.triu(), b, upper=True),
    "lstsq": lambda t, a, b, v: t.linalg.lstsq(a, b).solution,
    "cholesky_solve": lambda t, a, b, v: t.cholesky_solve(b, a.tril()),
    "lu_solve": lambda t, a, b, v: t.linalg.lu_solve(*t.linalg.lu_factor(a), b),
    "inv": lambda t, a, b, v: t.linalg.inv(a), "pinv": lambda t, a, b, v: t.linalg.pinv(b),
    "cholesky": lambda t, a, b, v: t.linalg.cholesky(a), "lu": lambda t, a, b, v: t.linalg.lu(b),
    "qr": lambda t, a, b, v: t.linalg.qr(b), "svd": lambda t, a, b, v: t.linalg.svd(b, full_matrices=False),
    "eigh": lambda t, a, b, v: t.linalg.eigh(a), "eig": lambda t, a, b, v: t.linalg.eig(a),
    "matrix_power": lambda t, a, b, v: t.linalg.matrix_power(a, 3),
    "matrix_exp": lambda t, a, b, v: t.linalg.matrix_exp(a),
    "ldl_factor": lambda t, a, b, v: t.linalg.ldl_factor(a)}


def layouts(found: Any) -> Iterator[tuple[int, ...]]:
    """The strides of each tensor along the dimensions that have more than one element."""
    for each in found if isinstance(found, tuple) else [found]:
        yield tuple([step for step, size in zip(each.stride(), each.shape, strict=True) if size > 1])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("stack", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_lie_in_memory_as_pytorchs(name: str, stack: tuple[int, ...], turned: bool) -> None:
    draw = np.random.default_rng(0).standard_normal
    square, sides, vectors = draw((*stack, 4, 4)), draw((*stack, 4, 3)), draw((*stack, 4))
    square = square @ np.swapaxes(square, -1, -2) + 4 * np.eye(4)
    if turned:
        sides = np.ascontiguousarray(np.swapaxes(sides, -1, -2)).swapaxes(-1, -2)
        square = np.ascontiguousarray(square).swapaxes(-1, -2)
    found, expected = [[*layouts(FUNCTIONS[name](t, *map(t.from_numpy, (square, sides, vectors))))]
                       for t in (retrograd, torch)]
    assert found == expected
