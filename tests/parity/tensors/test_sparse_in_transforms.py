"""What PyTorch computes with sparse matrices in transforms of functions, by both libraries."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

PROGRAMS = """
torch.vmap(lambda v: s @ v)(vectors)
torch.vmap(lambda v: torch.mv(s, v))(vectors)
torch.vmap(lambda v: s.to_sparse_csr() @ v)(vectors)
torch.vmap(lambda x: torch.sparse.mm(s, x))(matrices)
torch.vmap(lambda x: x @ s)(matrices)
torch.vmap(lambda x: (s + s).to_dense() * x)(matrices)
torch.vmap(torch.func.grad(lambda v: (s @ v).pow(2).sum()))(vectors)
torch.func.jacrev(lambda v: s @ v)(vectors[0])
torch.func.grad(lambda v: (torch.sparse_coo_tensor(i, v, (3, 3)).to_dense() ** 2).sum())(values)
torch.func.vjp(lambda v: s @ v, vectors[0])[1](vectors[1])
torch.func.jvp(lambda v: torch.sparse_coo_tensor(i, v, (3, 3)), (values,), (values,))
torch.func.jvp(lambda x: torch.sparse.mm(s, x), (matrices[0],), (matrices[1],))
torch.func.jvp(lambda x: x.sparse_mask(s).to_dense(), (matrices[0],), (matrices[1],))
torch.autograd.functional.jacobian(lambda v: s @ v, vectors[0])
""".strip().split("\n")


def _end(torch: Any, program: str) -> str:
    i = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 1]])
    space = {"torch": torch, "i": i, "s": torch.sparse_coo_tensor(i, torch.tensor([1., 2., 3., 4.]), (3, 3)),
             "values": torch.arange(4.), "vectors": torch.arange(6.).reshape(2, 3),
             "matrices": torch.arange(18.).reshape(2, 3, 3)}
    try:
        return str(eval(program, space))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


@pytest.mark.filterwarnings("ignore:Sparse", "ignore:There is a performance", "ignore:.torch.jit.script")
@pytest.mark.parametrize("program", PROGRAMS)
def test_both_compute_the_same(program: str) -> None:
    assert _end(retrograd, program) == _end(torch, program)
