"""Sparse tensors against PyTorch: texts, values, indices, flags, nodes, gradients and errors, program by program."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import retrograd
from programs.running import transcript
from programs.sparse_programs import HEAD, OPTIMIZERS, PROGRAMS, TRAINED

MADE = """
make()
make(dtype=torch.float64)
make(requires_grad=True)
make(is_coalesced=True)
torch.sparse_coo_tensor(i, v)
torch.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2])
torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(size=(2, 3), dtype=torch.float64)
torch.sparse_coo_tensor([[0, 0]], [1., 2.], (2,)).coalesce()
torch.sparse_coo_tensor([[0, 1]], [[1., 2], [3, 4]])
torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 0))
torch.sparse_coo_tensor([[0]], [[[1.]]])
torch.sparse_coo_tensor([[0]], [True])
torch.sparse_coo_tensor([[0., 1.]], [1., 2.], (2,))
torch.sparse_coo_tensor(torch.empty(0, 1, dtype=torch.long), torch.tensor([2.]), ())
torch.sparse_coo_tensor([[5]], [1.], (2,))
torch.sparse_coo_tensor([[-1]], [1.])
torch.sparse_coo_tensor([[5]], [1.], (2,), check_invariants=True)
torch.sparse_coo_tensor(i.flip(1), v, (2, 3), is_coalesced=True, check_invariants=True)
torch.sparse_coo_tensor([[0], [1]], [1.], (2,))
torch.sparse_coo_tensor([[0, 1]], [1.], (2,))
torch.sparse_coo_tensor([0, 1], [1., 2.], (2,))
torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v)
torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v, (2, 3), dtype=torch.float64, requires_grad=True)
torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], v, (2, 3))
torch.sparse_compressed_tensor([0, 1, 3], [2, 0, 2], v, (2, 3), layout=torch.sparse_csr)
torch.sparse_compressed_tensor([0, 1, 3], [2, 0, 2], v, (2, 3))
torch.sparse_csr_tensor([0, 1, 3], [2, 0, 5], v, (2, 3), check_invariants=True)
torch.sparse_csr_tensor([0, 1, 2], [2, 0, 2], v, (2, 3), check_invariants=True)
torch.sparse_csr_tensor([1, 1, 3], [2, 0, 1], v, (2, 3), check_invariants=True)
torch.sparse_csr_tensor([0, 1, 3, 3], [2, 0, 1], v, (2, 3), check_invariants=True)
torch.sparse_csr_tensor([0, 1, 3], [2, 2, 0], v, (2, 3), check_invariants=True)
torch.sparse_csr_tensor([0, 1, 3], [2, 0], v, (2, 3), check_invariants=True)
torch.zeros(2, 3, layout=torch.sparse_coo)
torch.empty(2, 3, layout=torch.sparse_coo)
torch.zeros(2, 3, layout=torch.sparse_csr)
torch.ones(2, 3, layout=torch.sparse_coo)
torch.zeros(2, layout=3)
torch.zeros_like(D, layout=torch.sparse_coo)
torch.zeros_like(make())
torch.zeros_like(make().to_sparse_csr())
make().new_zeros(2)
make().new_tensor([1.])
make().new(), make().new(3, 2), make().new(torch.Size([2])), make().to(torch.float64).new(2)
make().new(torch.tensor([[0, 2]]), torch.tensor([3., 4.])), make().new(torch.tensor([[0]]), torch.tensor([3]), (5,))
make().new([1., 2.])
make().new(make())
make().to_sparse_csr().new()
torch.tensor(make())
torch.as_tensor(make())
torch.eye(2000).to_sparse()
D.to_sparse()
D.to_sparse(1)
D.to_sparse(3)
D.to_sparse(0)
D.to_sparse(layout=torch.sparse_csr)
D.to_sparse_csc()
(D * torch.eye(2, 3)).reshape(2, 3, 1).to_sparse_csc(dense_dim=1)
D.reshape(2, 1, 3).transpose(0, 2).to_sparse_csc(dense_dim=1)
torch.eye(3).reshape(3, 3, 1, 1)[[0, 2, 1]].to_sparse_csc(dense_dim=2)
make().to_sparse_csr()
make().to_sparse_csr().to_sparse_coo()
make().to_sparse_csr().to_sparse_csc()
make().to_dense(dtype=torch.float64)
D.sparse_mask(make().coalesce())
make().sparse_mask(torch.sparse_coo_tensor([[0, 0], [0, 2]], [1., 1.], (2, 3)))
torch.sparse.spdiags(torch.arange(9.).reshape(3, 3), torch.tensor([0, 1, -1]), (3, 4))
torch.sparse.spdiags(torch.arange(9.).reshape(3, 3), torch.tensor([0, 1, 1]), (3, 4))
torch.sparse.FloatTensor(i, v, torch.Size([2, 3]))
torch.sparse.FloatTensor(2, 3)
make().sparse_resize_((4, 4), 2, 0)
make().sparse_resize_((1, 4), 2, 0)
make().sparse_resize_and_clear_((4, 4), 2, 0)
torch.nn.Parameter(make())
make().clone()
make().half()
make().to(torch.complex64)
make().to("cpu")
""".strip().split("\n")

TOLD = """
(make().type(), make().is_sparse, make().is_sparse_csr, make().layout, make().stride(), make().numel(), len(make()))
(make().shape, make().size(1), make().dim(), make().device, make().is_leaf, make().element_size(), make().itemsize)
(make().is_contiguous(), make().is_floating_point(), D.sparse_dim(), D.dense_dim(), D.is_sparse, D.layout)
torch.sparse.check_sparse_tensor_invariants.is_enabled()
make().indices()
make().values()
make().coalesce().indices()
(make()._indices(), make()._values())
D.coalesce()
D.values()
D.indices()
D._nnz()
D.crow_indices()
D.is_coalesced()
make().crow_indices()
make().to_sparse_csr().indices()
make().to_sparse_csr().coalesce()
(make().to_sparse_csr().crow_indices(), make().to_sparse_csr().col_indices(), make().to_sparse_csr()._nnz())
make().numpy()
make().tolist()
make().untyped_storage()
make().view(-1)
make().reshape(3, 2)
make().contiguous()
make().expand(2, 2, 3)
make().item()
bool(make())
make() + D
make() + 2
1 - make()
make() / D
make() == make()
make() > 0
make().exp()
make().log()
make().max()
make().mean()
make().softmax(1)
make().cumsum(0)
make().argmax()
make().sort()
make().sigmoid()
make().clamp(0, 1)
make().nonzero()
make().unique()
make().tril()
make()[:1]
make()[torch.tensor([0])]
make()[D > 0]
make().squeeze()
make().__setitem__(0, 1)
torch.where(D > 0, make(), make())
torch.equal(make(), make())
make().fill_(1)
torch.ones_like(make())
torch.zeros(2, 3).copy_(make())
make().copy_(D)
make() @ torch.ones(2, 2)
torch.sparse.mm(make(), torch.ones(2, 2))
make() @ torch.ones(3, 2).double()
make() * torch.ones(3, 2)
make() + torch.zeros(3, 3).to_sparse()
torch.matmul(make(), torch.ones(3, 3, 2))
make()[1]
make().coalesce()[1, 2]
make()[:, 2]
make().unsqueeze(0)
torch.narrow_copy(make(), 1, 1, 2)
make().coalesce()[None]
torch.hspmm(make(), M)
torch.smm(make(), M)
torch.sspaddmm(torch.eye(2).to_sparse(), make(), M)
torch.hspmm(make(), M, out=torch.sparse_coo_tensor((2, 2)))
torch.sspaddmm(torch.eye(2).to_sparse(), make(), M, out=torch.sparse_coo_tensor((2, 2)))
torch.saddmm(torch.eye(2).to_sparse(), make(), M, beta=2, alpha=3)
torch.spmm(make(), M)
torch.dsmm(M, M.t())
torch.ones(2, 3).mul_(make())
torch.sparse.mm(make(), 3)
torch.sparse.mm(None, make())
torch.sparse_coo_tensor([[0]], [2.], (1,)).item()
torch.tensor(3.).to_sparse()
torch.sparse.mm(make() * (1 + 2j), M.cfloat())
make().sum(1, keepdim=True)
make().masked_fill_(D > 0, 1.)
torch.isnan(make())
torch.any(make())
""".strip().split("\n")

RECORDED = """
-a
a * 2
2 * a
a * D
D * a
a * a
a / 2
a + a
a - 2 * a
D + a
D - a
a ** 2
abs(a)
torch.sin(a)
torch.sqrt(a)
a.sum()
torch.sparse.sum(a)
torch.sparse.sum(a, 0)
torch.sparse.sum(a, 1)
torch.sparse.sum(a, (0, 1))
torch.sparse.sum(a, [1], dtype=torch.float64)
a.sum(0)
torch.sparse.softmax(a, 1)
torch.sparse.softmax(a, 0)
torch.sparse.log_softmax(a, 1)
torch.sparse.log_softmax(a, 0)
a.t()
a.transpose(0, 1)
a.permute(1, 0)
a.T
a[1, 2]
a.coalesce()
a.clone()
a.double()
a.to_dense()
a.to_dense(masked_grad=False)
a.coalesce().values()
a.to_sparse_csr()
torch.stack([a, a])
torch.mm(a, M)
torch.sparse.mm(a, M)
torch.spmm(a, M)
a @ M
a @ M[:, 0]
torch.mv(a, M[:, 0])
torch.addmm(torch.ones(2, 2), a, M, beta=2, alpha=3)
torch.sparse.addmm(torch.ones(2, 2), a, M, beta=2, alpha=3)
M.t() @ a.t()
torch.sparse.mm(M.t(), a.t())
torch.nn.functional.linear(torch.ones(1, 3), a)
torch.nn.functional.linear(a, torch.ones(2, 3))
torch.bmm(torch.stack([a, a]), torch.ones(2, 3, 1))
a.index_select(1, torch.tensor([2, 0]))
torch.cat([a, a])
torch.cat([a, a], 1)
a.to_sparse_csr() @ M
torch.sparse.mm(a.to_sparse_csr(), M)
a.to_sparse_csr().to_dense()
a.to_sparse_csr() * 2
-a.to_sparse_csr()
a.to_sparse_csr().t()
a.to_sparse_csr().values()
""".strip().split("\n")

def same(source: str) -> None:
    """Raises AssertionError unless both libraries print the same. PyTorch warns once that sparse tensors are new."""
    found = [[line for line in transcript(library, HEAD + source) if not line.startswith("UserWarning: Sparse ")]
             for library in (torch, retrograd)]
    assert found[1] == found[0]


@pytest.mark.parametrize("expression", MADE)
def test_making(expression: str) -> None:
    same(f"attempt(lambda: show({expression}))")


@pytest.mark.parametrize("expression", TOLD)
def test_what_tensors_tell(expression: str) -> None:
    same(f"attempt(lambda: {expression})")


@pytest.mark.parametrize("expression", RECORDED)
def test_recorded(expression: str) -> None:
    same(f"attempt(lambda: gradients(lambda a: {expression}, make().coalesce().requires_grad_()))")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    same(PROGRAMS[name])


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_optimizers(name: str, options: str) -> None:
    others = "()" if name == "SparseAdam" else "other.parameters()"
    same(TRAINED.format(name=name, options=options, others=others))


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("seed", range(12))
def test_random_matrices(seed: int) -> None:
    """Uncoalesced sparse matrices in the operations that add elements up."""
    draws = np.random.default_rng(seed)
    n, m, k, count = (int(size) for size in draws.integers(1, 9, 4))
    indices = np.stack([draws.integers(0, n, 3 * count), draws.integers(0, m, 3 * count)])
    values, dense = draws.standard_normal(3 * count), draws.standard_normal((m, k))
    found = []
    for library in (torch, retrograd):
        v, d = library.tensor(values, requires_grad=True), library.tensor(dense, requires_grad=True)
        a = library.sparse_coo_tensor(library.tensor(indices), v, (n, m))
        results = [a.coalesce().values(), a.to_dense(), library.sparse.mm(a, d), (a + 2 * a).to_dense(), a @ d[:, 0],
                   library.sparse.softmax(a, 1).to_dense(), library.sparse.sum(a, 0).to_dense(), (a * a).to_dense(),
                   a.index_select(0, library.tensor([0, n - 1, 0])).to_dense()]
        part = sum((result**2).sum() for result in results[:5])
        part.backward()
        found.append([x.detach().numpy() for x in (*results, v.grad, d.grad)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("width", [1, 3, 16, 600])
def test_products_have_the_same_bits(width: int) -> None:
    draws = np.random.default_rng(width)
    indices, values = draws.integers(0, 40, (2, 300)), draws.random(300, np.float32)
    dense, start = draws.standard_normal((2, 40, width)).astype(np.float32)
    found = []
    for library in (torch, retrograd):
        a = library.sparse_coo_tensor(library.tensor(indices), library.tensor(values), (40, 40))
        x, y = library.tensor(dense), library.tensor(start)
        results = [library.mm(a, x), library.sparse.mm(a.coalesce(), x), library.addmm(y, a, x, beta=0.3, alpha=0.7),
                   x.t() @ a, a.t() @ x, library.mm(a, 2 * x)]
        a._indices()[:, :9] = 1
        results += [library.mm(a, x), a.t() @ x]
        found.append([result.numpy() for result in results])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
