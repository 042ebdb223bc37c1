"""`torch.sparse.mm(a, b, reduce)`: values, nodes, gradients and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd

pytestmark = pytest.mark.filterwarnings("ignore:Sparse", "ignore:overflow", "ignore:invalid value")
A = {
    "rows": [[1., 0, 2, 0], [0, 0, 0, 0], [3, -4, 0, 1], [0, 0, 5, 0]], "full": [[2., 2, 2], [1, -1, 1]],
    "nothing": [[0., 0], [0, 0], [0, 0]], "one": [[2.]], "special": [[1., 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]],
}
B = {"plain": lambda n, k: np.arange(n * k, dtype="f4").reshape(n, k) % 7 - 3,
     "equal": lambda n, k: np.ones((n, k), "f4"),
     "nan": lambda n, k: np.where(np.arange(n * k).reshape(n, k) % 3 == 0, np.float32("nan"), np.float32(2)),
     "infinite": lambda n, k: np.where(np.arange(n * k).reshape(n, k) % 2 == 0, -np.float32("inf"), np.float32("inf")),
     "turned": lambda n, k: np.arange(n * k, dtype="f4").reshape(k, n).T}


@pytest.mark.parametrize("columns", [1, 3, 0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("b", B)
@pytest.mark.parametrize("a", A)
def test_values_and_gradients(a: str, b: str, dtype: str, reduce: str, columns: int) -> None:
    def seen(library: Any) -> Any:
        kind = getattr(library, dtype)
        x = library.tensor(A[a]).to(kind).to_sparse_csr().requires_grad_()
        y = library.from_numpy(B[b](x.shape[1], columns).copy("K")).to(kind).requires_grad_()
        out = library.sparse.mm(x, y, reduce)
        weights = library.arange(out.numel(), dtype=kind).reshape(out.shape) + 1
        by_x, by_y = library.autograd.grad(out, (x, y), weights)
        facts = (out.grad_fn.name(), [node.name() for node, _ in out.grad_fn.next_functions], out.stride(),
                 by_x.layout is library.sparse_csr, by_x.col_indices().tolist(), by_x.crow_indices().tolist())
        return facts, [each.detach().numpy() for each in (out, by_x.values(), by_y)]

    (ours, found), (theirs, expected) = seen(retrograd), seen(torch)
    assert ours == theirs
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, 1e-6, 1e-6)


CALLS = (
    "mm(x.to_sparse_coo(), y, 'sum')", "mm(x.to_dense(), y, 'sum')", "mm(x, y.to_sparse_csr(), 'sum')",
    "mm(x, y[:, 0], 'amax')", "mm(x, y.double(), 'sum')", "mm(x, y[:2], 'sum')", "mm(x.to_sparse_csc(), y, 'amax')",
    "mm(x.to_sparse_bsr((1, 1)), y, 'sum')", "mm(y, x, 'sum')", "mm(x, y.to_sparse(), 'sum')", "mm(x, y, 'prod')",
    "mm(x, y, 'other')", "mm(x, y, 1)", "mm(x.long(), y.long(), 'sum')", "mm(x.long(), y.long(), 'amin')",
    "mm(x.cfloat(), y.cfloat(), 'mean')", "mm(x, y.double()[:2], 'prod')", "mm(x.to_sparse_csc(), y.double(), 'prod')",
    "mm(x.to_sparse_coo(), y, 'other')", "mm(z.long(), y.long(), 'sum').tolist()")


@pytest.mark.parametrize("call", CALLS)
def test_errors(call: str) -> None:
    def seen(library: Any) -> Any:
        x, z = [each.to_sparse_csr() for each in (library.tensor([[1., 0, 2], [0, 3, 0]]), library.zeros(2, 3))]
        try:
            return eval(f"t.{call}", {"t": library.sparse, "x": x, "z": z, "y": library.ones(3, 2)})
        except Exception as error:
            return type(error), str(error).split(". This")[0].split("\n")[0]

    assert seen(retrograd) == seen(torch)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_derivatives_of_derivatives(reduce: str) -> None:
    """PyTorch lacks these."""
    x = retrograd.tensor([[1., 0, 2.5], [0, 0, 0], [-3, 4, 0]], dtype=retrograd.float64).to_sparse_csr()
    y = retrograd.tensor([[1., 2], [-3, 0.5], [4, -1]], dtype=retrograd.float64, requires_grad=True)
    (by_y,) = retrograd.autograd.grad((retrograd.sparse.mm(x, y, reduce) ** 2).sum(), y, create_graph=True)
    (second,) = retrograd.autograd.grad((by_y ** 2).sum(), y)
    step = 1e-6

    def slope(value: Any) -> Any:
        value = value.detach().requires_grad_()
        (found,) = retrograd.autograd.grad((retrograd.sparse.mm(x, value, reduce) ** 2).sum(), value)
        return (found ** 2).sum()

    for i in range(3):
        for j in range(2):
            shift = retrograd.zeros(3, 2, dtype=retrograd.float64)
            shift[i, j] = step
            difference = (slope(y + shift) - slope(y - shift)) / (2 * step)
            assert abs(difference - second[i, j]) < 1e-4 * (1 + abs(second[i, j]))
