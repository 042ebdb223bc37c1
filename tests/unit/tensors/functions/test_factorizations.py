"""Factorizations and solvers: what defines each, on matrices large and small; facts recorded from PyTorch; options.

Everything is tried twice, with the LAPACK that NumPy has loaded, and as it is where that is out of reach.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.native import openblas

L = torch.linalg
draws = np.random.default_rng(11)
SIZES = [(1, 1), (5, 3), (3, 5), (40, 40), (70, 33), (33, 70), (100, 100)]
STACKS: list[tuple[int, ...]] = [(), (3,), (2, 2)]
DTYPES = ["float64", "complex128"]


@pytest.fixture(params=["LAPACK", "NumPy"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How matrices are factored."""
    if request.param == "NumPy":
        monkeypatch.setattr(openblas, "function", lambda *_: None)
    return request.param


def normal(*shape: int, dtype: str = "float64") -> Any:
    values = draws.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * draws.standard_normal(shape)
    return torch.from_numpy(np.asarray(values).astype(dtype))


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def hermitian(x: Any) -> Any:
    return x + x.mH


cases = pytest.mark.parametrize(("stack", "size", "dtype"),
                                [(stack, size, dtype) for stack in STACKS for size in SIZES for dtype in DTYPES])
square = pytest.mark.parametrize(("stack", "n", "dtype"),
                                 [(stack, n, dtype) for stack in STACKS for n in (1, 2, 33, 65) for dtype in DTYPES])


@cases
def test_lu(stack: tuple[int, ...], size: tuple[int, int], dtype: str) -> None:
    x = normal(*stack, *size, dtype=dtype)
    p, lower, upper = L.lu(x)
    close(p @ lower @ upper, x)
    close(lower.tril(-1) + torch.eye(*lower.shape[-2:], dtype=x.dtype), lower)
    assert float(lower.abs().max()) <= 2 ** 0.5 + 1e-12          # complex pivots are chosen by |re| + |im|
    close(upper.triu(), upper)
    for a, b in zip(torch.lu_unpack(*L.lu_factor(x)), (p, lower, upper), strict=True):
        close(a, b)


@cases
def test_qr_by_reflections(stack: tuple[int, ...], size: tuple[int, int], dtype: str) -> None:
    x = normal(*stack, *size, dtype=dtype)
    q, r = L.qr(x)
    close(q @ r, x)
    a, tau = torch.geqrf(x)
    close(a.triu()[..., :r.shape[-2], :], r)
    if size[0] >= size[1]:
        close(L.householder_product(a, tau), q)
        c = normal(*stack, size[0], 2, dtype=dtype)
        whole = L.qr(x, "complete").Q
        close(torch.ormqr(a, tau, c), whole @ c)
        close(torch.ormqr(a, tau, c, transpose=True), whole.mH @ c)
        close(torch.ormqr(a, tau, c.mH, left=False), c.mH @ whole)
        close(torch.ormqr(a, tau, c.mH, left=False, transpose=True), c.mH @ whole.mH)


@square
def test_triangular_systems(stack: tuple[int, ...], n: int, dtype: str) -> None:
    x = normal(*stack, n, n, dtype=dtype) / n + 2 * torch.eye(n, dtype=torch.float64)
    b, eye = normal(*stack, n, 3, dtype=dtype), torch.eye(n, dtype=x.dtype)
    for upper in (False, True):
        a = x.triu() if upper else x.tril()
        close(a @ L.solve_triangular(x, b, upper=upper), b)
        close(L.solve_triangular(x, b.mT, upper=upper, left=False) @ a, b.mT)
        unit = (x.triu(1) if upper else x.tril(-1)) + eye
        close(unit @ L.solve_triangular(x, b, upper=upper, unitriangular=True), b, 1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128])
def test_solutions_have_the_type_of_the_triangle(dtype: torch.dtype) -> None:
    a = torch.tensor([[2.0, 0.0], [1.0, 4.0]], dtype=dtype, requires_grad=True)
    for other in (torch.float32, torch.float64):
        b = torch.tensor([[1.0], [3.0]], dtype=other, requires_grad=True)
        x = L.solve_triangular(a, b, upper=False)
        assert (x.dtype, x.tolist()) == (dtype, [[0.5], [0.625]])
        by_a, by_b = torch.autograd.grad(x.real.sum(), (a, b))
        assert (by_a.dtype, by_b.dtype, by_b.tolist()) == (dtype, other, [[0.375], [0.25]])


@square
def test_systems(stack: tuple[int, ...], n: int, dtype: str) -> None:
    x, b = normal(*stack, n, n, dtype=dtype), normal(*stack, n, 2, dtype=dtype)
    solution = L.solve(x, b)
    close(x @ solution, b, 1e-7)
    factors = L.lu_factor(x)
    close(L.lu_solve(*factors, b), solution, 1e-7)
    close(x.mH @ L.lu_solve(*factors, b, adjoint=True), b, 1e-7)
    close(L.lu_solve(*factors, b.mT, left=False) @ x, b.mT, 1e-7)
    positive = x @ x.mH + torch.eye(n, dtype=torch.float64)
    for upper in (False, True):
        factor = L.cholesky(positive, upper=upper)
        close(factor.mH @ factor if upper else factor @ factor.mH, positive)
        close(positive @ torch.cholesky_solve(b, factor, upper), b, 1e-7)
        close(torch.cholesky_inverse(factor, upper) @ positive, torch.eye(n, dtype=x.dtype).expand(x.shape), 1e-7)


@pytest.mark.parametrize("upper", [False, True])
def test_gradients_for_cholesky_factors_fill_both_triangles(upper: bool) -> None:
    factor = torch.tensor([[2., 0.], [1., 1.]], dtype=torch.float64)
    factor = (factor.mT if upper else factor).contiguous().requires_grad_()
    torch.cholesky_solve(torch.tensor([[1.], [3.]], dtype=torch.float64), factor, upper).sum().backward()
    assert factor.grad is not None
    expected = torch.tensor([[0.5, 0.5], [-1.5, -2.5]], dtype=torch.float64)
    close(factor.grad, expected if not upper else expected.mT)
    factor.grad = None
    torch.cholesky_inverse(factor, upper).diagonal().sum().backward()
    expected = torch.tensor([[-0.5, 1.5], [0.5, -2.5]], dtype=torch.float64)
    close(factor.grad, expected if not upper else expected.mT)


@square
def test_ldl(stack: tuple[int, ...], n: int, dtype: str) -> None:
    x, b = normal(*stack, n, n, dtype=dtype), normal(*stack, n, 2, dtype=dtype)
    for whole, conjugated in ((hermitian(x), True), (x + x.mT, False)):
        factors, pivots = L.ldl_factor(whole, hermitian=conjugated)
        close(whole @ L.ldl_solve(factors, pivots, b, hermitian=conjugated), b, 1e-6)


def test_ldl_of_what_has_a_diagonal_of_zeros() -> None:
    """As PyTorch's: the block of two rows has negative pivots."""
    factors, pivots = L.ldl_factor(torch.tensor([[0., 1., 2.], [1., 0., 5.], [2., 5., 1.]]))
    assert pivots.tolist() == [2, -3, -3] or pivots.tolist() == [-3, -3, 3]
    assert factors.shape == (3, 3)


@cases
def test_least_squares(stack: tuple[int, ...], size: tuple[int, int], dtype: str) -> None:
    x, b = normal(*stack, *size, dtype=dtype), normal(*stack, size[0], 2, dtype=dtype)
    close(L.lstsq(x, b).solution, L.pinv(x) @ b, 1e-8)
    found = L.lstsq(x, b, driver="gelsd")
    assert (found.rank == min(size)).all()
    close(found.singular_values, L.svdvals(x))
    if size[0] > size[1]:
        close(found.residuals, (x @ found.solution - b).abs().square().sum(-2))


@pytest.mark.parametrize(("call", "says"), [
    (lambda: L.inv(torch.zeros(2, 2)), "linalg.inv: The diagonal element 1 is zero, the inversion could not be "
                                       "completed because the input matrix is singular."),
    (lambda: L.inv(torch.stack([torch.eye(2), torch.ones(2, 2)])), r"linalg.inv: \(Batch element 1\): The diagonal "
                                                                   "element 2 is zero"),
    (lambda: L.solve(torch.ones(2, 2), torch.ones(2)), "torch.linalg.solve: The solver failed because the input matrix "
                                                       "is singular."),
    (lambda: L.cholesky(-torch.eye(2)), "linalg.cholesky: The factorization could not be completed because the input "
                                        r"is not positive-definite \(the leading minor of order 1 is not"),
    (lambda: L.svd(torch.full((2, 2), float("nan"))), "linalg.svd: The algorithm failed to converge because the input "
                                                      "matrix contained non-finite values."),
])
def test_what_matrices_do_not_allow(call: Any, says: str) -> None:
    with pytest.raises(L.LinAlgError, match=f"^{says}"):
        call()
    assert issubclass(L.LinAlgError, RuntimeError)


def test_infos_instead_of_errors() -> None:
    matrices = torch.stack([torch.eye(2), torch.ones(2, 2), torch.zeros(2, 2)])
    inverse, info = L.inv_ex(matrices)
    assert info.tolist() == [0, 2, 1]
    assert info.dtype == torch.int32
    assert inverse[0].tolist() == [[1., 0.], [0., 1.]]
    assert not inverse[1].isfinite().any()
    assert L.lu_factor_ex(matrices).info.tolist() == [0, 2, 1]
    assert L.cholesky_ex(-matrices).info.tolist() == [1, 1, 1]
    assert L.solve_ex(matrices, torch.ones(2)).info.tolist() == [0, 2, 1]


def test_values_have_derivatives_where_vectors_have_none() -> None:
    """The singular values of a matrix of ones on the diagonal are all the same."""
    x = torch.eye(3, dtype=torch.float64, requires_grad=True)
    for values in (L.svdvals(x), L.svd(x).S, L.eigvalsh(x), L.eigh(x).eigenvalues, L.eigvals(x).real):
        gradient, = torch.autograd.grad(values.sum(), x)
        close(gradient, torch.eye(3, dtype=torch.float64))


@pytest.mark.parametrize("call", [
    lambda x: L.svd(x).U.sum().real, lambda x: L.eigh(hermitian(x)).eigenvectors.sum().real,
    lambda x: (L.eig(x).eigenvectors * 1j).sum().real])
def test_a_loss_that_depends_on_a_phase_is_refused(call: Any) -> None:
    x = normal(3, 3, dtype="complex128").requires_grad_()
    with pytest.raises(RuntimeError, match=r"in the complex case are specified up to multiplication by e\^{i phi}"):
        call(x).backward()


def test_the_determinant_of_singular_matrices_has_derivatives() -> None:
    """By cofactors: of rank n - 1 the adjugate is not 0; of rank n - 2 its derivative is not."""
    x = torch.tensor([[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]], dtype=torch.float64)
    x[2] = x[0] + x[1]
    x.requires_grad_()
    gradient, = torch.autograd.grad(L.det(x), x, create_graph=True)
    close(gradient.detach(), torch.tensor([[3., -6., 3.], [3., -6., 3.], [-3., 6., -3.]], dtype=torch.float64))
    second, = torch.autograd.grad(gradient[0, 0], x)
    close(second, torch.tensor([[0., 0., 0.], [0., 9., -7.], [0., -6., 5.]], dtype=torch.float64))
    y = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    gradient, = torch.autograd.grad(L.det(y), y, create_graph=True)
    second, = torch.autograd.grad(gradient[0, 0], y)
    assert second.tolist() == [[0., 0.], [0., 1.]]


def test_the_determinants_of_several_singular_matrices_have_derivatives() -> None:
    x = torch.tensor([[1., 2., 3.], [2., 4., 6.], [1., 0., 1.]], dtype=torch.float64).repeat(2, 1, 1).requires_grad_()
    gradient, = torch.autograd.grad(L.det(x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(gradient.square().sum(), x)
    expected = torch.tensor([[-4., 8., 4.], [-8., 16., 8.], [100., -80., 20.]], dtype=torch.float64)
    close(second, expected.expand(2, 3, 3))


def test_small_matrices_are_not_taken_for_singular_ones() -> None:
    """The singular values of this one are all the same, so a derivative by way of them would be nan."""
    x = (1e-3 * torch.eye(6, dtype=torch.float64)).requires_grad_()
    first, = torch.autograd.grad(L.det(x), x, create_graph=True)
    second, = torch.autograd.grad(first[0, 0], x, create_graph=True)
    third, = torch.autograd.grad(second[1, 1], x)
    assert third[2, 2].item() == pytest.approx(1e-9)
    assert third[2, 1].item() == 0


def test_third_derivatives() -> None:
    """What rules are written in has rules itself."""
    x = (normal(3, 3) + 4 * torch.eye(3, dtype=torch.float64)).requires_grad_()
    for call in (L.inv, L.det, lambda x: L.svdvals(x), lambda x: L.qr(x).R, lambda x: L.lu_factor(x)[0],
                 lambda x: L.eigvalsh(hermitian(x)), lambda x: L.cholesky(x @ x.mT), lambda x: L.pinv(x[:2])):
        first, = torch.autograd.grad((call(x) ** 2).sum(), x, create_graph=True)
        assert torch.autograd.gradgradcheck(lambda y, call=call: torch.autograd.grad(
            (call(y) ** 2).sum(), y, create_graph=True)[0], (x,))
        assert first.requires_grad


def test_named_tuples_keep_their_names() -> None:
    found = L.svd(torch.eye(2))
    assert type(pickle.loads(pickle.dumps(found))) is torch.return_types.linalg_svd
    assert repr(L.slogdet(torch.eye(2))) == (
        "torch.return_types.linalg_slogdet(\nsign=tensor(1.),\nlogabsdet=tensor(0.))")


def test_numpy_functions_take_tensors() -> None:
    x = (normal(3, 3) + 4 * torch.eye(3, dtype=torch.float64)).requires_grad_()
    assert np.linalg.det(x).grad_fn.name() == "LinalgDetBackward0"
    assert np.linalg.inv(x).grad_fn.name() == "LinalgInvExBackward0"
    assert np.linalg.svd(x, full_matrices=False)[1].grad_fn.name() == "LinalgSvdBackward0"
    assert np.linalg.solve(x, x).grad_fn.name() == "LinalgSolveExBackward0"


def test_what_was_removed_says_what_to_call() -> None:
    for name in ("solve", "lstsq", "eig", "symeig", "matrix_rank"):
        with pytest.raises(RuntimeError, match="This function was deprecated since version 1.9 and is now removed"):
            getattr(torch, name)(torch.eye(2), torch.eye(2))


_NAN = float("nan")
_LONG = torch.ones(3, 49, dtype=torch.float64)
_LONG[1, 4] = _LONG[2, 7] = float("inf")


@pytest.mark.parametrize("call", [L.svd, L.pinv, torch.svd, lambda a: L.lstsq(a.mT, a.mT, driver="gelsd")],
                         ids=["svd", "pinv", "torch.svd", "lstsq"])
@pytest.mark.parametrize("shape", [(3, 49), (49, 3), (30, 30)])
def test_singular_vectors_of_infinite_matrices_are_refused_because_lapack_may_never_return(call, shape) -> None:
    matrix = torch.ones(shape, dtype=torch.float64)
    matrix[1, 2] = float("inf")
    with pytest.raises(L.LinAlgError, match=r"linalg.svd: The algorithm failed to converge because the input matrix is "
                                            r"ill-conditioned or has too many repeated singular values"):
        call(matrix)


def test_the_first_infinite_matrix_of_a_stack_is_named() -> None:
    with pytest.raises(L.LinAlgError, match=r"linalg.svd: \(Batch element 1\): The algorithm failed"):
        L.svd(torch.stack([torch.ones(3, 49, dtype=torch.float64), _LONG]))


def test_singular_values_of_infinite_matrices_are_nan() -> None:
    values = L.svdvals(torch.stack([torch.eye(3, 49, dtype=torch.float64), _LONG]))
    np.testing.assert_array_equal(values.numpy(), [[1, 1, 1], [_NAN, _NAN, _NAN]])
    for result in (L.matrix_norm(_LONG, 2), L.matrix_norm(_LONG, "nuc"), L.cond(_LONG), torch.norm(_LONG, "nuc")):
        assert result.isnan()
    small = L.svd(torch.tensor([[float("inf"), 0.], [0., 1.]]))
    np.testing.assert_array_equal(small.S.numpy(), [_NAN, _NAN])


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("n", [2, 5, 60])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_is_finite_below_a_pivot_of_nan(n: int, dtype: torch.dtype) -> None:
    a = torch.eye(n, dtype=dtype) + 1
    a[0, 0] = NAN
    for result in (torch.linalg.inv(a), torch.linalg.solve(a, torch.ones(n, 1, dtype=dtype)),
                   torch.linalg.lu_factor(a)[0][1:], torch.linalg.inv(a.expand(3, n, n))):
        assert result.isnan().all()
    assert torch.linalg.det(a).isnan()


def test_an_infinite_pivot_is_not_positive_definite_unless_it_is_the_last() -> None:
    for a in ([[INF, 1.], [1., 2.]], [[INF, INF], [INF, INF]], [[INF, 0.], [0., INF]]):
        factor, info = torch.linalg.cholesky_ex(torch.tensor(a))
        assert int(info) == 2
        assert factor[0, 0] == INF
        assert factor[1].isnan().all()
        with pytest.raises(torch.linalg.LinAlgError, match="the leading minor of order 2 is not positive-definite"):
            torch.linalg.cholesky(torch.tensor(a))
    assert torch.linalg.cholesky(torch.tensor([[INF]])).item() == INF
