"""gradcheck and gradgradcheck of sparse tensors in each layout."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import gradcheck, gradgradcheck
from retrograd.autograd.comparison import GradcheckError

LAYOUTS = {
    "coo": lambda d: d.to_sparse(), "hybrid": lambda d: d.to_sparse(1), "csr": lambda d: d.to_sparse_csr(),
    "csc": lambda d: d.to_sparse_csc(), "bsr": lambda d: d.to_sparse_bsr((2, 2)),
    "twice": lambda d: torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 3]], torch.tensor([1., 2, 4]).double(), (4, 4))}


def _tensor(layout: str) -> Any:
    dense = torch.zeros(4, 4, dtype=torch.float64)
    dense[0, 1], dense[1, 0], dense[3, 2] = 2., -1., 3.
    return LAYOUTS[layout](dense).requires_grad_()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_right_derivatives_pass(layout: str) -> None:
    x, weights = _tensor(layout), torch.arange(16.).reshape(4, 4).double().cos()
    before = x.detach().to_dense().clone()
    assert gradcheck(lambda x: (x.to_dense() * weights).exp(), x, masked=True)
    assert gradgradcheck(lambda x: (x.to_dense() * weights).exp(), x, masked=True)
    assert gradcheck(lambda x: (x.to_dense(masked_grad=False) * weights).exp(), x)
    assert gradcheck(lambda x: x.to_dense(), x, masked=True, fast_mode=True)
    assert torch.equal(x.detach().to_dense(), before)
    assert x.grad is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_wrong_derivatives_do_not_pass(layout: str) -> None:
    x = _tensor(layout)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch for output 0"):
        gradcheck(lambda x: x.to_dense() * x.detach().to_dense(), x, masked=True)
    assert not gradcheck(lambda x: x.to_dense(masked_grad=False), x, masked=True, raise_exception=False)
    assert not gradcheck(lambda x: x.to_dense(), x, raise_exception=False)


def test_a_sparse_output_is_refused() -> None:
    with pytest.raises(ValueError, match="^Sparse output is not supported at gradcheck yet"):
        gradcheck(lambda x: x * 2, _tensor("coo"), masked=True)
