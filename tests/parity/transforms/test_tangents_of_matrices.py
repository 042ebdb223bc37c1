"""Tangents of functions of symmetric and Hermitian matrices, in directions that are not symmetric."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import retrograd
from comparing.all_modes import alike, outcome

_DRAWN = np.random.default_rng(0).normal(size=(2, 3, 3))
_COMPLEX = _DRAWN[0] + 1j * _DRAWN[1]
MATRICES = {
    "real": _DRAWN[0] @ _DRAWN[0].T + 3 * np.eye(3), "complex": _COMPLEX @ _COMPLEX.conj().T + 3 * np.eye(3),
    "a batch": _DRAWN @ _DRAWN.swapaxes(1, 2) + 3 * np.eye(3), "of one": np.full((1, 1), 2.0),
    "of nothing": np.zeros((0, 0)), "a batch of nothing": np.zeros((2, 0, 0)), "no matrices": np.zeros((0, 3, 3))}
CALLS = (
    "t.linalg.cholesky(x)", "t.linalg.cholesky(x, upper=True)", "t.linalg.cholesky_ex(x)[0]",
    "t.linalg.cholesky_ex(x, upper=True)[0]", "t.linalg.cholesky(x.mT)", "t.linalg.eigvalsh(x)",
    "t.linalg.eigvalsh(x, 'U')", "t.linalg.eigh(x)[0]", "t.linalg.pinv(x, hermitian=True)", "t.linalg.inv(x)",
    "t.linalg.det(x)", "t.linalg.matrix_exp(x / 9)", "t.linalg.lu(x)", "t.linalg.qr(x)", "t.linalg.svdvals(x)")


@pytest.mark.parametrize("mode", ["value", "vjp", "jvp", "jvp of vjp", "vmap", "vmap of vjp", "vmap of jvp"])
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("call", CALLS)
def test_tangents_in_any_direction(call: str, matrix: str, mode: str) -> None:
    theirs, ours = (outcome(t, call, {"x": MATRICES[matrix]}, mode) for t in (torch, retrograd))
    assert alike(theirs, ours), (theirs, ours)
