"""Norms, distances, exponentials and powers of matrices: closed forms and the laws that they obey."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import linalg


def some(*shape: int, scale: float = 1.0) -> Any:
    return torch.from_numpy(np.random.default_rng(sum(shape)).standard_normal(shape) * scale)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 0.1, 1.0, 10.0, 100.0])
def test_the_exponential_has_its_inverse(scale: float) -> None:
    x = some(5, 5, scale=scale)
    x = x - x.t()                                               # skew: its exponential turns, and keeps lengths
    turn = torch.matrix_exp(x)
    assert torch.allclose(turn @ turn.t(), torch.eye(5, dtype=torch.float64), atol=1e-11)
    assert torch.allclose(turn.t(), torch.matrix_exp(-x), atol=1e-11)


def test_the_exponential_of_a_stack_takes_each_matrix_by_itself() -> None:
    stack = torch.stack([some(3, 3), some(3, 3, scale=40.0), torch.zeros(3, 3, dtype=torch.float64)])
    for one, matrix in zip(torch.matrix_exp(stack), stack, strict=True):
        assert torch.allclose(one, torch.matrix_exp(matrix), rtol=1e-9)


def test_the_exponential_of_what_is_no_number_is_none() -> None:
    for bad in (math.nan, math.inf):
        assert torch.matrix_exp(torch.tensor([[bad, 0.0], [0.0, 1.0]])).isnan().all()


def test_the_exponential_has_derivatives_to_third_order() -> None:
    """Of a diagonal matrix they are its exponentials again."""
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    result = torch.matrix_exp(torch.diag(x)).sum()
    for _ in range(3):
        result, = torch.autograd.grad(result, x, create_graph=True)
        assert torch.allclose(result, x.exp())
        result = result.sum()


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_distances_of_all_pairs_are_those_of_each(p: float) -> None:
    x, y = some(4, 3), some(5, 3)
    all_pairs = torch.cdist(x, y, p)
    for i in range(4):
        for j in range(5):
            assert torch.allclose(all_pairs[i, j], linalg.vector_norm(x[i] - y[j], p))
    above = torch.triu_indices(4, 4, 1)
    assert torch.allclose(torch.pdist(x, p), torch.cdist(x, x, p)[above[0], above[1]])


def test_many_rows_come_of_a_product() -> None:
    x, y = some(40, 3), some(30, 3)
    assert torch.allclose(torch.cdist(x, y), torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"))
    with pytest.raises(ValueError, match="^fast is not a valid value for compute_mode"):
        torch.cdist(x, y, compute_mode="fast")


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_the_gradient_at_distance_zero_is_zero(p: float) -> None:
    x = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    for distances in (torch.cdist(x, x.detach(), p), torch.pdist(x, p)):
        gradient, = torch.autograd.grad(distances.sum(), x, create_graph=True)
        assert not gradient.any()


def test_the_double_backward_of_distances() -> None:
    """PyTorch has none."""
    x, y = some(3, 4).requires_grad_(), some(5, 4).requires_grad_()
    for p in (1.0, 1.5, 2.0, 3.0):
        assert torch.autograd.gradgradcheck(lambda x, y, p=p: torch.cdist(x, y, p), (x, y))
        assert torch.autograd.gradgradcheck(lambda x, p=p: torch.pdist(x, p), (x,))


def test_norms_of_a_matrix() -> None:
    x = torch.tensor([[3.0, 0.0], [-4.0, 1.0]])
    found = {ord: linalg.matrix_norm(x, ord).item() for ord in ("fro", 1, -1, math.inf, -math.inf)}
    assert found == pytest.approx({"fro": math.sqrt(26), 1: 7, -1: 1, math.inf: 5, -math.inf: 3})
    values = linalg.svdvals(x)
    assert torch.allclose(linalg.matrix_norm(x, "nuc"), values.sum())
    assert torch.allclose(linalg.matrix_norm(x, 2), values.max())
    assert torch.allclose(linalg.cond(x), values.max() / values.min())


def test_the_diagonal_of_linalg_is_that_of_the_last_dims() -> None:
    x = some(2, 3, 3)
    assert torch.equal(linalg.diagonal(x), torch.diagonal(x, dim1=-2, dim2=-1))


def test_powers() -> None:
    x = some(3, 3)
    assert torch.allclose(torch.matrix_power(x, 5), x @ x @ x @ x @ x)
    assert torch.allclose(torch.matrix_power(x, -2) @ x @ x, torch.eye(3, dtype=torch.float64))
    assert torch.equal(torch.matrix_power(x, 0), torch.eye(3, dtype=torch.float64))


def test_the_derivative_of_a_vandermonde_matrix() -> None:
    """PyTorch refuses it: it wrote over what the derivative needs."""
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    gradient, = torch.autograd.grad(torch.vander(x, 4).sum(), x)
    assert gradient.tolist() == [1 + 4 + 12, 1 + 6 + 27]


def test_covariances_are_those_of_numpy() -> None:
    x = some(3, 8)
    assert np.allclose(torch.cov(x).numpy(), np.cov(x.numpy()))
    often, much = np.array([1, 2, 1, 0, 3, 1, 1, 2]), np.linspace(0.1, 1.0, 8)
    ours = torch.cov(x, correction=0, fweights=torch.from_numpy(often), aweights=torch.from_numpy(much))
    assert np.allclose(ours.numpy(), np.cov(x.numpy(), ddof=0, fweights=often, aweights=much))
    assert np.allclose(torch.corrcoef(x).numpy(), np.corrcoef(x.numpy()))


def test_equations_in_tensors() -> None:
    a, x = some(2, 3, 6).reshape(2, 3, 2, 3), some(2, 3)
    b = torch.tensordot(a, x, 2)
    assert torch.allclose(linalg.tensorsolve(a, b), x)
    assert torch.allclose(torch.tensordot(linalg.tensorinv(a), b, 2), x)
    assert linalg.matrix_rank(torch.ones(4, 3)) == 1
