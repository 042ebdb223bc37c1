"""gradcheck of functions of sparse tensors, with the elements that are stored alone (`masked`) and with all."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

CHECKS = """
gradcheck(lambda s: s.to_dense(), s, masked=True)
gradcheck(lambda s: s.to_dense(), s)
gradcheck(lambda s: s.to_dense(masked_grad=False), s, masked=False)
gradcheck(lambda s: s.to_dense(masked_grad=False), s, masked=True)
gradcheck(lambda s: s * 2, s, masked=True)
gradcheck(lambda s: (s * 2).to_dense(), s, masked=True)
gradcheck(lambda s: s @ d, s, masked=True)
gradcheck(lambda s: s @ d, s, masked=False)
gradcheck(lambda s, d: s @ d, (s, d), masked=False)
gradcheck(lambda s, d: torch.sparse.mm(s, d), (s, d), masked=True)
gradcheck(lambda d: s.detach() @ d, d)
gradcheck(lambda s: torch.sparse.sum(s), s, masked=True)
gradcheck(lambda s: torch.sparse.sum(s, 0), s, masked=True)
gradcheck(lambda s: torch.softmax(s.to_dense(), 0), s, masked=True)
gradcheck(lambda s: s.coalesce().values().exp(), s, masked=True)
gradcheck(lambda s: s.to_dense(), s, masked=True, fast_mode=True)
gradcheck(lambda s: s.to_dense(masked_grad=False), s, fast_mode=True)
gradcheck(lambda s: s.to_dense(), s.detach().float().requires_grad_(), masked=True)
gradcheck(lambda d: d.to_sparse(), d)
gradcheck(lambda d: d.to_sparse().to_dense(), d)
gradcheck(lambda c: c.to_dense(), c, masked=True)
gradcheck(lambda c: c.values(), c, masked=True)
gradcheck(lambda c: c @ d, c, masked=True)
gradcheck(lambda s: Thrice.apply(s.to_dense()), s, masked=True)
gradcheck(lambda s: Thrice.apply(s.to_dense()), s, masked=True, raise_exception=False)
gradgradcheck(lambda s: s @ d, s, masked=True)
""".strip().split("\n")


def _space(torch: Any) -> dict[str, Any]:
    class Thrice(torch.autograd.Function):  # type: ignore[misc]
        """Its backward is wrong."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    s = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([1., 2, 3]).double(), (3, 3))
    return {"torch": torch, "Thrice": Thrice, "s": s.requires_grad_(), "c": s.detach().to_sparse_csr().requires_grad_(),
            "d": torch.arange(6.).double().reshape(3, 2).requires_grad_(),
            "gradcheck": torch.autograd.gradcheck, "gradgradcheck": torch.autograd.gradgradcheck}


def _end(torch: Any, check: str) -> str:
    try:
        return str(eval(check, _space(torch)))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("check", CHECKS)
def test_both_find_the_same(check: str) -> None:
    assert _end(retrograd, check) == _end(torch, check)
