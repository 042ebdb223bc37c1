"""Matrix routines by LAPACK's own functions give what NumPy's ways give, whatever the dtype, layout and stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.linalg import householder, lu, solving, symmetric, triangular
from retrograd.kernels.native import openblas

draws = np.random.default_rng(5)
DTYPES = ["float32", "float64", "complex64", "complex128"]
STACKS = [((), ()), ((3,), (3,)), ((1,), (4,)), ((2, 1), (3,)), ((), (2, 2)), ((2, 3), ()), ((20,), (20,))]


def normal(dtype: str, *shape: int) -> Any:
    x = draws.standard_normal(shape)
    return (x + 1j * draws.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def diagonally(a: Any) -> Any:
    """A matrix that is far from singular, with a diagonal of real numbers, as Cholesky factors have."""
    n = a.shape[-1]
    return np.where(np.eye(n, dtype=bool), a.real + 3 * n, a).astype(a.dtype)


def by_rows(x: Any) -> Any:
    return np.ascontiguousarray(x)


def by_columns(x: Any) -> Any:
    return triangular.by_columns(x)


def by_steps(x: Any) -> Any:
    wide = np.repeat(x, 2, -1)
    wide[..., 1::2] = np.nan                               # what lies between must not be read
    return wide[..., ::2]


def _lu_solve(a: Any, b: Any) -> Any:
    factors, pivots, _ = lu.lu_factor(a)
    return [lu.lu_solve(factors, b if left else triangular.mT(b), (pivots,), left, adjoint)
            for left in (True, False) for adjoint in (True, False)]


def _ldl(a: Any, b: Any) -> Any:
    found = []
    for hermitian in (True, False):
        whole = a + (triangular.adjoint(a) if hermitian else triangular.mT(a))
        factors, pivots, info = symmetric.ldl_factor_ex(whole, hermitian)
        found += [symmetric.ldl_solve(factors, b, pivots, hermitian), info]
    return found


def _triangular(a: Any, b: Any) -> Any:
    return [triangular.solve_triangular(a, b if left else triangular.mT(b), upper, left, unit)
            for upper in (True, False) for left in (True, False) for unit in (True, False)]


def _reflected(a: Any, b: Any) -> Any:
    h, tau = householder.geqrf(a[..., :4])
    found = [householder.ormqr(h, tau, b if left else triangular.mT(b), left, transpose)
             for left in (True, False) for transpose in (True, False)]
    return [*found, householder.householder_product(h, tau[..., :3])]


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "lu": lambda a, b: lu.lu_factor(a), "lu_solve": _lu_solve, "ldl": _ldl, "triangular": _triangular,
    "cholesky_solve": lambda a, b: [solving.cholesky_solve(b, a, upper) for upper in (True, False)],
    "cholesky_inverse": lambda a, b: [solving.cholesky_inverse(a, upper) for upper in (True, False)],
    "reflections": _reflected,
    "least squares": lambda a, b: [part for driver in ("gels", "gelsy") for tall in (a[..., :4], a[..., :4, :])
                                   for part in solving.lstsq(tall, b[..., :tall.shape[-2], :], 1e-5, driver, False)],
}


@pytest.mark.parametrize("layout", [by_rows, by_columns, by_steps])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul")   # OpenBLAS may flag what it read beyond
@pytest.mark.parametrize("name", CALLS)
def test_both_ways_agree(name: str, dtype: str, layout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for left, right in STACKS:
        if name == "least squares" and len(left) != len(right):
            continue                                       # which is refused before
        a, b = layout(diagonally(normal(dtype, *left, 5, 5))), layout(normal(dtype, *right, 5, 2))
        before = a.copy(), b.copy()
        found = CALLS[name](a, b)
        with monkeypatch.context() as patch:
            patch.setattr(openblas, "function", lambda *_: None)
            expected = CALLS[name](a, b)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 if dtype in ("float64", "complex128") else 1e-4)
        np.testing.assert_array_equal(a, before[0])
        np.testing.assert_array_equal(b, before[1])


@pytest.fixture(params=["LAPACK", "NumPy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "NumPy":
        monkeypatch.setattr(openblas, "function", lambda *_: None)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [3, 5, 70])
def test_the_other_triangle_is_not_read(n: int) -> None:
    a, b = torch.from_numpy(diagonally(normal("float64", n, n))), torch.from_numpy(normal("float64", n, 2))
    for upper in (True, False):
        read = a.triu() if upper else a.tril()
        dirty = read.masked_fill(read == 0, float("nan"))
        for call in (lambda x: torch.linalg.solve_triangular(x, b, upper=upper),       # noqa: B023
                     lambda x: torch.cholesky_solve(b, x, upper=upper),                # noqa: B023
                     lambda x: torch.cholesky_inverse(x, upper=upper)):                # noqa: B023
            np.testing.assert_allclose(call(dirty).numpy(), call(read).numpy(), atol=1e-12)
    dirty = (a + a.T).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("nan"))
    assert torch.linalg.ldl_factor(dirty)[0].isfinite().all()


@pytest.mark.usefixtures("way")
def test_zeros_on_a_diagonal_give_infinities_and_no_error() -> None:
    a, b = torch.tensor([[2., 0.], [1., 0.]]), torch.tensor([[2.], [3.]])
    assert torch.linalg.solve_triangular(a, b, upper=False).tolist() == [[1.], [float("inf")]]
    with pytest.raises(torch.linalg.LinAlgError, match="^cholesky_inverse: The diagonal element 2 is zero"):
        torch.cholesky_inverse(a)


@pytest.mark.usefixtures("way")
def test_least_squares_of_a_rank_that_is_not_full() -> None:
    """As PyTorch: the least solution and the rank, but for the driver that takes it for granted."""
    a = torch.tensor([[1., 0.], [2., 0.], [0., 0.]], dtype=torch.float64)
    b = torch.tensor([[1.], [2.], [5.]], dtype=torch.float64)
    for driver in ("gelsy", "gelsd", "gelss"):
        found = torch.linalg.lstsq(a, b, driver=driver)
        np.testing.assert_allclose(found.solution.numpy(), [[1.], [0.]], atol=1e-14)
        assert found.rank.item() == 1
    with pytest.raises(torch.linalg.LinAlgError, match=r"^torch.linalg.lstsq: \(Batch element 1\): The least squares "
                       r"solution could not be computed because .* not have full rank \(error code: 2\)"):
        torch.linalg.lstsq(torch.stack([a + torch.eye(3, 2), a]), torch.stack([b, b]), driver="gels")
    assert torch.linalg.lstsq(a * 0, b, driver="gels").solution.tolist() == [[0.], [0.]]
    wide = torch.linalg.lstsq(a.T.contiguous() + torch.eye(2, 3), b[:2], driver="gels").solution
    np.testing.assert_allclose((a.T + torch.eye(2, 3)) @ wide, b[:2], atol=1e-14)


@pytest.mark.usefixtures("way")
def test_what_counts_as_zero_decides_the_rank() -> None:
    a = torch.diag(torch.tensor([1., 1e-3, 1e-7], dtype=torch.float64))
    b = torch.ones(3, 1, dtype=torch.float64)
    for driver in ("gelsy", "gelsd", "gelss"):
        ranks = [torch.linalg.lstsq(a, b, rcond=rcond, driver=driver).rank.item() for rcond in (1e-2, 1e-5, 1e-9)]
        assert ranks == [1, 2, 3]
    with pytest.raises(torch.linalg.LinAlgError, match="non-finite"):
        torch.linalg.lstsq(a / 0, b)


@pytest.mark.usefixtures("way")
def test_a_reflection_of_factor_zero_has_derivatives() -> None:
    a = torch.from_numpy(normal("float64", 4, 3)).requires_grad_()
    tau = torch.tensor([1.5, 0., 0.7], dtype=torch.float64, requires_grad=True)
    c = torch.from_numpy(normal("float64", 4, 2)).requires_grad_()
    assert torch.autograd.gradcheck(torch.linalg.householder_product, (a, tau))
    assert torch.autograd.gradgradcheck(torch.ormqr, (a, tau, c))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("shape", "left"), [((50,), True), ((50, 3), True), ((3, 50), False), ((2, 50, 3), True)])
def test_a_kept_factorization_gives_the_gradients_of_a_new_one(shape: tuple[int, ...], left: bool, dtype: str) -> None:
    """A first derivative solves with the factors that are there, one that is recorded with the matrix itself."""
    a = torch.from_numpy(diagonally(normal(dtype, 50, 50))).requires_grad_()
    b = torch.from_numpy(normal(dtype, *shape)).requires_grad_()
    x = torch.linalg.solve(a, b, left=left)
    weights = torch.from_numpy(normal(dtype, *x.shape))
    first = torch.autograd.grad(x, (a, b), weights, retain_graph=True)
    again = torch.autograd.grad(x, (a, b), weights, create_graph=True)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), atol=1e-14)
    v = torch.from_numpy(normal(dtype, 50, 50))
    second, = torch.autograd.grad(again[1], a, weights, retain_graph=True)
    step = 1e-6
    moved = [torch.autograd.grad(torch.linalg.solve((a + s * step * v).detach(), b, left=left), b, weights)[0]
             for s in (1, -1)]
    along = ((moved[0] - moved[1]) / (2 * step) * weights.conj()).sum().real
    np.testing.assert_allclose(float((second.conj() * v).sum().real), float(along), rtol=1e-4)


@pytest.mark.usefixtures("way")
def test_a_large_singular_matrix_is_refused() -> None:
    a = torch.eye(60)
    a[7, 7] = 0
    with pytest.raises(torch.linalg.LinAlgError, match="^torch.linalg.solve: The solver failed because the input"):
        torch.linalg.solve(a, torch.ones(60))
    assert torch.linalg.solve_ex(a, torch.ones(60)).info.item() == 8
