"""Factorizations, determinants and solvers against PyTorch: what is refused, how results look, options and layouts."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_expression import Outcome

_SETUP = """
import warnings
L, tn, f = torch.linalg, torch.tensor, torch.float64
zero = torch.zeros(2, 2, dtype=f)
one = tn([[1., 2.], [2., 4.]], dtype=f)                     # of rank 1
good = tn([[4., 1.], [2., 3.]], dtype=f)
some = torch.stack([torch.eye(2, dtype=f), one, zero])
tall, v = torch.arange(6.).view(3, 2), torch.ones(3)
ints, half = torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2).half()
bad = torch.full((2, 2), float('nan'))
piv, two = torch.ones(2).int(), torch.ones(2)
a = tn([[0., 1., 2.], [1., 0., 5.], [2., 5., 1.]])
h = tn([[0., -1j, 2.], [1j, 0., 5.], [2., 5., 1.]])
r = good.clone().requires_grad_()
"""
_CALLS = """
L.LinAlgError.__name__
L.LinAlgError.__mro__[1]
L.LinAlgError is torch._C._LinAlgError
"""


def _calls(names: str, arguments: str) -> list[str]:
    """Each function of each of several arguments, one a line."""
    return [f"{name}({args})" for name in names.split() for args in arguments.strip().split("\n")]


_ONE_MATRIX = """L.det L.slogdet L.inv L.inv_ex L.pinv L.cholesky L.cholesky_ex L.qr L.svdvals L.eigh L.eigvalsh L.eig
L.eigvals L.lu L.lu_factor L.lu_factor_ex L.ldl_factor_ex torch.logdet torch.geqrf torch.cholesky_inverse torch.lu
torch.det torch.slogdet torch.inverse torch.pinverse L.svd"""
_WRONG = """tall
v
ints
half
3.
tn(1.)
torch.ones(0, 2)
some[:0]"""
_TWO_MATRICES = "L.solve L.solve_ex L.lstsq torch.cholesky_solve torch.triangular_solve"
_PAIRS = """good, tall
good, good.float()
tall, v.view(3, 1)
ints, ints
half, half
good, tn(1., dtype=f)
good, v.double()
some, good
some, torch.ones(3, 3, dtype=f)
good, some[:0]
good, 3.
v, v
tall, v
tall, good.float()
some[:2], some"""
_OTHERS = """
L.inv(zero)
L.inv(one)
L.inv(some)
L.inv(some[None])
L.inv(bad)
L.inv_ex(some)
L.inv_ex(some, check_errors=True)
L.solve_ex(one, one)
L.solve_ex(zero, one)
L.solve_ex(some, one, check_errors=True)
L.solve(zero, one)
L.solve(some, one)
L.solve(good, good[0], left=False)
L.solve(good, tall.double(), left=False)
L.slogdet(zero)
L.det(some)
torch.logdet(-torch.eye(3))
torch.logdet(-torch.eye(3).cdouble())
torch.logdet(zero)
L.cholesky(zero)
L.cholesky(some)
L.cholesky_ex(tn([[1., 2.], [2., 1.]]))
L.cholesky_ex(some, check_errors=True)
L.cholesky(tn([[4., 100.], [2., 3.]]))
L.cholesky(tn([[4., 2.], [100., 3.]]), upper=True)
torch.cholesky(some)
torch.cholesky(tall)
torch.cholesky(v)
torch.cholesky(ints)
torch.cholesky_inverse(zero)
torch.cholesky_inverse(some)
L.qr(tall, 'x')
L.qr(tall, 3)
L.qr(a, mode='r')
L.svd(tall, driver='gesvd')
L.svd(bad)
L.svd(torch.stack([torch.eye(2), bad]))
L.svdvals(bad)
L.svdvals(torch.eye(3).expand(2, 3, 3))
L.svdvals(torch.arange(72.).view(4, 2, 3, 3).transpose(0, 1)).stride()
[f(torch.eye(3).expand(2, 3, 3)) for f in (L.eigvalsh, L.eigvals, L.matrix_rank, L.cond)]
L.matrix_norm(torch.eye(3).expand(2, 3, 3), 'nuc')
L.inv(torch.zeros(3, 3).expand(2, 3, 3))
L.eigh(bad)
L.eig(bad)
L.eigh(one, 'X')
L.eigh(one, 3)
L.eigh(one, 'l')
L.eigvalsh(tn([[1., 5.], [2., 3.]]), UPLO='U')
L.eigvals(tn([[0., 1.], [-1., 0.]]))
L.eigvals(tn([[[float('inf'), 1.], [0., 1.]], [[0., 1.], [-1., 0.]]]))
L.lu_factor(one)
L.lu_factor(some)
L.lu_factor_ex(some)
L.lu_factor_ex(some, check_errors=True)
L.lu(zero)
L.lu(one, pivot=False)
L.lu_factor(one, pivot=False)
torch.lu(zero)
torch.lu(some, get_infos=True)
torch.lu(one, False)
L.lu_solve(good, two, good)
L.lu_solve(good, piv, tall)
L.lu_solve(good, torch.ones(3).int(), good)
L.lu_solve(some, torch.ones(3, 2).int(), good, left=False)
L.lu_solve(ints, piv, ints)
L.lu_solve(tall, piv, tall)
L.lu_solve(v, piv, tall)
L.lu_solve(good, tn([0, 5]).int(), good)
L.lu_solve(good, piv, two.double())
torch.lu_solve(good, good, two)
torch.lu_unpack(good, two)
torch.lu_unpack(good, torch.ones(3).int())
torch.lu_unpack(good, tn([0, 5]).int())
torch.lu_unpack(good, piv, False)
torch.lu_unpack(good, piv, True, False)
torch.lu_unpack(ints, piv)
torch.lu_unpack(v, piv)
torch.lu_unpack(tall, piv)
L.ldl_factor(a)
L.ldl_factor(torch.stack([a, a + 3 * torch.eye(3)]))
L.ldl_factor(h)
L.ldl_factor(h, hermitian=True)
L.ldl_factor(tall)
L.ldl_factor_ex(zero)
L.ldl_solve(*L.ldl_factor(a), v[:, None])
L.ldl_solve(*L.ldl_factor(h), v[:, None].cfloat())
L.ldl_solve(*L.ldl_factor(h, hermitian=True), v[:, None].cfloat(), hermitian=True)
L.ldl_solve(good, two, good)
L.ldl_solve(good, piv, tall)
L.ldl_solve(good, piv, good.float())
L.ldl_solve(ints, piv, ints)
L.ldl_solve(good, torch.ones(3).int(), good)
L.pinv(tall, hermitian=True)
L.pinv(one, 1e-3)
L.pinv(one, rcond=1e-3, hermitian=True)
L.pinv(one, atol=tn(1.))
L.pinv(one, atol=1., rtol=tn([.1]))
L.pinv(some, rtol=tn([.1, .1, .1], dtype=f))
L.pinv(some, atol=1e-3)
torch.pinverse(one, .1)
L.lstsq(one, one, driver='foo')
L.lstsq(some, some, rcond=.1, driver='gelsd')
L.lstsq(tall, v, driver='gelsd')
L.householder_product(v, v)
L.householder_product(tall, v)
L.householder_product(tall.t(), two)
L.householder_product(tall, two.double())
L.householder_product(ints, ints[0])
L.householder_product(tall, torch.ones(1, 2))
L.householder_product(tall[None], torch.ones(2, 2))
torch.orgqr(v, v)
torch.ormqr(tall, two, tall)
torch.ormqr(tall, v, tall)
torch.ormqr(tall, two, torch.ones(2, 3))
torch.ormqr(tall, two, tall, left=False)
torch.ormqr(tall, two, v)
torch.ormqr(v, v, v)
torch.ormqr(tall, two.double(), tall)
torch.ormqr(tall, two, tall.double())
torch.ormqr(ints, ints[0], ints)
L.solve_triangular(one, tall, upper=True)
L.solve_triangular(ints, ints, upper=True)
L.solve_triangular(half, half, upper=True)
L.solve_triangular(good, good.float(), upper=True)
L.solve_triangular(good.float(), good, upper=True)
L.solve_triangular(good.float(), good + 1j, upper=False, left=False)
L.solve_triangular(good + 1j, good.float(), upper=True)
L.solve_triangular(good.float(), good, upper=True, out=good.clone())
L.solve_triangular(v, v, upper=True)
L.solve_triangular(tall, tall, upper=True)
L.solve_triangular(zero, good, upper=True)
torch.triangular_solve(good, zero)
torch.svd(good).S
torch.symeig(good)
torch.solve(good, good)
torch.eig(good)
torch.lstsq(good, good)
good.lstsq(good)
good.symeig()
good.solve(good)
good.eig()
torch.autograd.grad(L.qr(r, 'r').R.sum(), r)
torch.autograd.grad(L.qr(r[:, :1], 'complete').R.sum(), r)
torch.autograd.grad(torch.geqrf(r).a.sum(), r)
torch.autograd.grad(L.ldl_factor(r).LD.sum(), r)
torch.autograd.grad(L.ldl_solve(*L.ldl_factor(good), r).sum(), r)
torch.autograd.grad(L.eigh(r + tn([[0, 2j], [-2j, 0]])).eigenvectors.sum().real, r)
torch.autograd.grad((L.eig(r).eigenvectors * 1j).sum().real, r)
torch.autograd.grad(L.svd(r + tn([[0, 2j], [-3j, 0]])).U.sum().real, r)
torch.autograd.grad(L.svd(r * 0 + torch.eye(2)).S.sum(), r)
torch.autograd.grad(L.svdvals(r * 0 + torch.eye(2)).sum(), r)
torch.autograd.grad(L.eigh(r * 0 + torch.eye(2)).eigenvalues.sum(), r)
torch.autograd.grad(L.svd(r * 0 + torch.eye(2)).U.sum(), r)
torch.autograd.grad(L.det(r * 0 + one), r)[0].contiguous()
torch.autograd.grad(L.det(r * 0), r)[0].contiguous()
torch.autograd.grad(L.slogdet(r * 0 + one).logabsdet, r)
torch.autograd.grad(L.inv_ex(r * 0 + one).inverse.sum(), r)
torch.autograd.grad(L.lu_factor_ex(r).info.sum() + r.sum(), r)
(L.inv(r).stride(), L.pinv(r).stride(), L.solve(r, r).stride(), L.solve(r, r, left=False).stride())
[x.stride() for x in (*L.qr(r), *L.svd(r), *L.eigh(r), *L.lu(r), L.lu_factor(r)[0], *torch.svd(r), L.cholesky(good))]
"""
CALLS = [*_CALLS.strip().split("\n"), *_calls(_ONE_MATRIX, _WRONG), *_calls(_TWO_MATRICES, _PAIRS),
         *_OTHERS.strip().split("\n")]


def _alike(mine: Any, theirs: Any) -> bool:
    """Whether two descriptions agree, numbers up to rounding."""
    if isinstance(mine, tuple) and isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(_alike, mine, theirs))
    if isinstance(mine, list) and isinstance(theirs, list):
        return np.shape(mine) == np.shape(theirs) and np.allclose(mine, theirs, 1e-4, 1e-5, equal_nan=True)
    return bool(mine == theirs) or (isinstance(mine, float) and np.isclose(mine, theirs, 1e-4, 1e-5))


@pytest.mark.parametrize("expression", CALLS)
def test_what_comes_of_a_call(expression: str) -> None:
    theirs, mine = Outcome(torch, _SETUP, expression), Outcome(retrograd, _SETUP, expression)
    if "invalid combination of arguments" in theirs.message:            # and then all overloads
        assert mine.seen == theirs.seen
        return
    assert _alike(mine.seen, theirs.seen), (mine.seen, mine.message, theirs.seen, theirs.message)
    assert mine.message == theirs.message


def test_methods_are_where_pytorch_has_them() -> None:
    for name in [*retrograd.linalg.__all__, "lu_unpack", "logdet", "pinverse", "orgqr", "ormqr", "geqrf", "inverse"]:
        assert hasattr(retrograd.Tensor, name) == hasattr(torch.Tensor, name), name
        # torch.cond is not the condition number, but a branch of a program.
        assert hasattr(retrograd, name) == hasattr(torch, name), name


@pytest.mark.parametrize("name", [n for n in dir(torch.return_types) if n.startswith("linalg_") or n in (
    "qr", "svd", "slogdet", "triangular_solve", "lu_unpack", "geqrf")])
def test_named_tuples_have_pytorchs_fields(name: str) -> None:
    theirs, ours = getattr(torch.return_types, name), getattr(retrograd.return_types, name)
    fields = [f for f, value in inspect.getmembers(theirs) if type(value).__name__ == "member_descriptor"]
    assert sorted(ours.fields) == sorted(fields)
