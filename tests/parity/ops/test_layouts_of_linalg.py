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


SMALL: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    **FUNCTIONS, "svd full": lambda t, a, b, v: t.linalg.svd(b), "torch.svd": lambda t, a, b, v: t.svd(b)[:2],
    "qr complete": lambda t, a, b, v: t.linalg.qr(b, mode="complete"),
    "qr r": lambda t, a, b, v: t.linalg.qr(b, mode="r"),
    "geqrf": lambda t, a, b, v: t.geqrf(b), "lu_factor": lambda t, a, b, v: t.linalg.lu_factor(b),
    "solve_triangular from the right": lambda t, a, b, v: t.linalg.solve_triangular(a, b.mT, upper=True, left=False),
    "lu_solve from the right": lambda t, a, b, v: t.linalg.lu_solve(*t.linalg.lu_factor(a), b.mT, left=False),
    "lstsq gels": lambda t, a, b, v: t.linalg.lstsq(b, a, driver="gels")[:2],
    "cholesky_inverse": lambda t, a, b, v: t.cholesky_inverse(a)}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("stack", [(), (2,), (0,), (1,), (2, 3)], ids=str)
@pytest.mark.parametrize("sides", [(0, 3), (3, 0), (0, 0), (1, 3), (3, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("name", sorted(SMALL.keys() - {"matrix_exp"}))
def test_sides_of_0_and_1(name: str, sides: tuple[int, int], stack: tuple[int, ...], dtype: str) -> None:
    """All strides are PyTorch's, also those along dimensions of one element or of none."""
    draw = np.random.default_rng(0).standard_normal
    square, matrix, vectors = draw((*stack, sides[0], sides[0])), draw((*stack, *sides)), draw((*stack, sides[0]))
    square = square @ np.swapaxes(square, -1, -2) + 4 * np.eye(sides[0])
    found, expected = [SMALL[name](t, *[t.from_numpy(x.astype(dtype)) for x in (square, matrix, vectors)])
                       for t in (retrograd, torch)]
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for ours, theirs in pairs:
        assert (tuple(ours.shape), ours.stride(), ours._is_view()) == (
            tuple(theirs.shape), theirs.stride(), theirs._is_view())


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("sides", [(4, 3), (0, 3), (3, 0), (1, 3)], ids=str)
def test_svd_without_vectors(sides: tuple[int, int], full: bool) -> None:
    for stack in [(), (2,)]:
        found, expected = [[(part.tolist(), part.stride(), part._is_view()) for part in t.svd(
            t.from_numpy(np.zeros((*stack, *sides))), some=not full, compute_uv=False)] for t in (retrograd, torch)]
        assert found == expected


def test_a_system_without_unknowns_has_residuals_of_0() -> None:
    """LAPACK's routine for matrices of full rank replaces the right sides by zeros."""
    for t in (retrograd, torch):
        assert t.linalg.lstsq(t.zeros(3, 0), t.ones(3, 2), driver="gels").residuals.tolist() == [0, 0]
