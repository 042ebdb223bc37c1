"""Rare uses of sparse tensors, here and in PyTorch: gradients, writes in place, shared memory, results in `out=`."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = """
T, eye = torch.tensor, torch.eye(2)
grad = torch.autograd.grad
"""
PROGRAMS = {
    "autograd.grad": """
s, d = eye.to_sparse().requires_grad_(), torch.ones(2, 2, requires_grad=True)
print(grad((s * 2).to_dense().sum(), s), grad(s * 2, s, s.detach()), grad((s @ d).sum(), (s, d)))
attempt(lambda: grad(s * 2, s, torch.ones(2, 2)))
attempt(lambda: grad(s * 2, s))
attempt(lambda: grad(d.sum(), s))
print(grad(d.sum(), s, allow_unused=True), torch.autograd.functional.vjp(lambda a: a * 2, s, s.detach()))
c = eye.to_sparse_csr().requires_grad_()
print(grad((c @ d).sum(), c), grad(c.to_dense().sum(), c))
""",
    "values of compressed tensors": """
g = torch.arange(4.).reshape(2, 2) + 1
for make, *indices in ((torch.sparse_csr_tensor, [0, 1, 2], [1, 0]), (torch.sparse_csc_tensor, [0, 1, 2], [1, 0]),
                       (torch.sparse_csr_tensor, [0, 2, 2], [0, 1]), (torch.sparse_csc_tensor, [0, 2, 2], [0, 1])):
    v = T([1., 2.], requires_grad=True)
    a = make(*indices, v, (2, 2))
    print(a.grad_fn.name(), a.requires_grad)
    for y in (a.to_dense() * g, a.values() * 3, *(() if make is torch.sparse_csc_tensor else (
            a @ g, a @ g[0], (a * 2).to_dense() * g, torch.sparse.mm(a, g)))):
        print(*grad(y.sum(), v, retain_graph=True))
    print(*grad((make(*indices, v, (2, 2), dtype=torch.float64).to_dense() * g).sum(), v))
    unsized = make(*indices, v)
    attempt(lambda: unsized.to_dense().sum().backward())
w = torch.ones(2, 1, 1, requires_grad=True)
print(*grad(torch.sparse_bsr_tensor([0, 1, 2], [1, 0], w, (2, 2)).to_dense().sum(), w))
attempt(lambda: torch.sparse_bsr_tensor([0, 1, 2], [1, 0], w).to_dense().sum().backward())
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    found = [[line for line in transcript(package, HEAD + PROGRAMS[name])
              if not line.startswith("UserWarning: Sparse ")]       # PyTorch warns once that sparse tensors are new
             for package in (retrograd, torch)]
    assert found[0] == found[1]
