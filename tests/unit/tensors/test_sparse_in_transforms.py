"""Sparse tensors inside of `vmap`, `jacrev` and batched backward passes: a batch is its samples, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch

LAYOUTS = ("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_dense")
# Functions of a sparse matrix and of a dense one, with dense results.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "matrix times vector": lambda s, x: s @ x[0],
    "matrix times matrix": lambda s, x: s @ x,
    "mm": lambda s, x: torch.mm(s, x),
    "mv": lambda s, x: torch.mv(s, x[:, 1]),
    "sparse.mm": lambda s, x: torch.sparse.mm(s, x),
    "addmm": lambda s, x: torch.addmm(x, s, x, beta=2, alpha=3),
    "left factor": lambda s, x: x @ s,
    "sum": lambda s, x: x + s,
    "linear": lambda s, x: torch.nn.functional.linear(x, s),
}


def _matrix(layout: str) -> Any:
    rows, columns = torch.tensor([0, 0, 1, 2]), torch.tensor([1, 2, 0, 2])
    dense = torch.zeros(3, 3, dtype=torch.float64).index_put((rows, columns), torch.tensor([2., -1, 3, 5]).double())
    return getattr(dense, layout)()


def _samples(count: int) -> Any:
    return torch.arange(9. * count, dtype=torch.float64).reshape(count, 3, 3).sin()


def _result(compute: Callable[[], Any]) -> Any:
    """A result, or the error of a function that refuses this layout."""
    try:
        return compute()
    except (RuntimeError, NotImplementedError) as error:
        return str(error)


def _same(found: Any, expected: Any) -> bool:
    return found == expected if isinstance(expected, str) else torch.equal(found, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_is_its_samples(name: str, layout: str) -> None:
    function, matrix, samples = FUNCTIONS[name], _matrix(layout), _samples(4)

    def gradient(x: Any) -> Any:
        return torch.func.grad(lambda x: function(matrix, x).square().sum())(x)

    for of_sample in (lambda x: function(matrix, x), gradient):
        expected = _result(lambda of_sample=of_sample: torch.stack([of_sample(x) for x in samples]))
        assert _same(_result(lambda of_sample=of_sample: torch.vmap(of_sample)(samples)), expected)
        assert _same(_result(lambda of_sample=of_sample: torch.vmap(torch.vmap(of_sample))(samples[None])[0]), expected)
        if not isinstance(expected, str):
            assert torch.vmap(of_sample)(samples[:0]).shape == (0, *expected.shape[1:])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_jacobians_of_products(layout: str) -> None:
    matrix, x = _matrix(layout), _samples(1)[0, 0]
    dense = matrix.to_dense()
    assert torch.equal(torch.func.jacrev(lambda x: matrix @ x)(x), dense)
    assert torch.equal(torch.autograd.functional.jacobian(lambda x: matrix @ x, x, vectorize=True), dense)
    assert torch.equal(torch.func.jacrev(torch.func.jacrev(lambda x: (matrix @ x).square().sum()))(x),
                       2 * dense.T @ dense)
    y = x.clone().requires_grad_()
    found, = torch.autograd.grad(matrix @ y, y, torch.eye(3, dtype=torch.float64), is_grads_batched=True)
    assert torch.equal(found, dense)


def test_batches_of_gradients_of_the_stored_elements() -> None:
    matrix, x = _matrix("to_sparse"), _samples(1)[0, 0]

    def product(values: Any) -> Any:
        return torch.sparse_coo_tensor(matrix.indices(), values, (3, 3)) @ x

    expected = torch.stack([torch.func.grad(lambda values, i=i: product(values)[i])(matrix.values()) for i in range(3)])
    assert torch.equal(torch.func.jacrev(product)(matrix.values()), expected)


@pytest.mark.parametrize("function", [lambda s, x: s * x, lambda s, x: x.to_sparse(), lambda s, x: x.sparse_mask(s)])
def test_samples_that_would_be_sparse_are_refused(function: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^Batching rule not implemented for aten::\w+\. We could not") as caught:
        torch.vmap(lambda x: function(_matrix("to_sparse"), x).to_dense())(_samples(2))
    assert "fallback=\"loop\"" in "".join(caught.value.__notes__)


def test_a_batch_of_sparse_samples_is_refused_and_the_loop_computes_it() -> None:
    batch = torch.stack([_matrix("to_sparse"), _matrix("to_sparse")])
    with pytest.raises(RuntimeError, match="Batching rule not implemented"):
        torch.vmap(lambda s: s.sum())(batch)
    assert torch.vmap(lambda s: s.sum(), fallback="loop")(batch).tolist() == [9., 9.]
