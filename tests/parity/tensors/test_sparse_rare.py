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

PROGRAMS |= {
    "sums of narrow numbers": """
for dtype in (torch.bfloat16, torch.float16, torch.int8, torch.uint8, torch.bool):
    x = torch.full((40, 30), 3.).to(dtype)
    for s in (x.to_sparse(), x.to_sparse(1)) if dtype.is_floating_point else (x.to_sparse(),):
        for total in (s.sum(), s.sum(0), s.sum((0, 1)), torch.sparse.sum(s), torch.sparse.sum(s, 0),
                      torch.sparse.sum(s, (0, 1)), torch.sparse.sum(s, 1), s.sum(0, keepdim=True)):
            total = total.to_dense() if total.is_sparse else total
            print(total.dtype, total.shape, total.flatten()[0].item())
    print(x.to_sparse_csr().sum())
""",
    "numbers that do not fit": """
WRITES = (lambda s: s.mul_(2.5), lambda s: s.mul_(2), lambda s: s.sqrt_(), lambda s: s.div_(2),
          lambda s: s.div_(T(2)), lambda s: s.add_(eye.to_sparse()), lambda s: s.neg_(),
          lambda s: s.sub_(eye.to_sparse()), lambda s: s.mul_(eye.to_sparse()), lambda s: s.mul_(T(2.5)),
          lambda s: s.mul_(eye), lambda s: s.zero_(), lambda s: s.copy_(eye.to_sparse() * 1.5), lambda s: s.mul_(1j),
          lambda s: s.floor_(), lambda s: s.mul_(T(2)), lambda s: s.add_(eye.cfloat().to_sparse()),
          lambda s: s.mul_(T(2., dtype=torch.float64)), lambda s: s.abs_())
for dtype in (torch.int32, torch.float32, torch.complex64):
    for write in WRITES:
        s = eye.to(dtype).to_sparse()
        attempt(lambda: write(s))
        print(s._values(), s.dtype, s.is_coalesced(), s._version)
c = eye.int().to_sparse_csr()
attempt(lambda: c.sqrt_())
print(c.neg_(), c.mul_(2))
""",
    "who shares memory": """
for name in ("neg_", "sqrt_", "sin_", "abs_", "floor_", "tanh_", "relu_", "erf_"):
    for s in ((2 * eye).to_sparse(), (2 * eye).to_sparse_csr()):
        values, other = s.values(), s.detach()
        getattr(s, name)()
        print(name, values, other.to_dense(), s._version, other._version, values._version)
for write in (lambda s: s.mul_(3), lambda s: s.mul_(T(3)), lambda s: s.mul_(s), lambda s: s.add_(s),
              lambda s: s.div_(3), lambda s: s.copy_(s * 2), lambda s: s.mul_(torch.ones(2, 2)), lambda s: s.zero_()):
    s = (2 * eye).to_sparse()
    values, other = s._values(), s.detach()
    write(s)
    print(values, other.to_dense(), s.to_dense(), s._version, other._version, values._version, s.is_coalesced())
for of in (lambda s: s.t(), lambda s: s.transpose(0, 1), lambda s: s.permute(1, 0), lambda s: s.coalesce(),
           lambda s: +s, lambda s: s.conj(), lambda s: s.clone(), lambda s: s.to_sparse_csr(),
           lambda s: s.unsqueeze(0)):
    s = (2 * eye).to_sparse()
    other = of(s)
    s.neg_()
    print(other.to_dense())
s = eye.to_sparse()
s.data.neg_()
print(s._version, s)
for name in ("sqrt_", "relu_", "neg_", "pow_", "square_", "unsqueeze_"):
    s = torch.sparse_coo_tensor([[0, 0, 1], [0, 0, 1]], [1., 2., 3.], (2, 2))
    attempt(lambda: getattr(s, name)(*((1,) if name in ("pow_", "unsqueeze_") else ())))
""",
    "writes and gradients": """
d = torch.ones(2, 2, requires_grad=True)
for s in (eye.to_sparse(), eye.to_sparse_csr()):
    for write in (lambda: s.values().mul_(2), lambda: s.detach().mul_(2), lambda: s.data.mul_(2)):
        y = s @ d
        write()
        attempt(lambda: y.sum().backward())
for name in ("relu_", "abs_", "neg_", "zero_"):
    s = eye.to_sparse().requires_grad_()
    y = s * 2
    getattr(y, name)()
    print(y.grad_fn.name(), [n.name() for n, _ in y.grad_fn.next_functions])
    attempt(lambda: (y.to_dense().sum().backward(), s.grad))
s = eye.to_sparse().requires_grad_()
y = s * 2
y.copy_(eye.to_sparse())
print(y.requires_grad, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), y.grad_fn.next_functions[1])
c = eye.to_sparse_csr().requires_grad_()
y = c * 2
print(y.zero_().grad_fn.name())
y.to_dense().sum().backward()
print(c.grad)
""",
    "results in out=": """
d, c = torch.ones(2, 2), eye.to_sparse_csr()
for call, out in ((lambda o: torch.sin(2 * s, out=o), eye), (lambda o: torch.sin(s, out=o), torch.zeros(3, 3)),
                  (lambda o: torch.sin(s, out=o), eye.double()), (lambda o: torch.sin(s, out=o), eye.int()),
                  (lambda o: torch.mul(s, s, out=o), eye), (lambda o: torch.div(s, 2, out=o), eye)):
    s, o = eye.to_sparse(), out.to_sparse()
    attempt(lambda: (call(o) is o, o))
s = eye.to_sparse()
attempt(lambda: torch.sin(s, out=eye.to_sparse().requires_grad_()))
attempt(lambda: torch.sin(eye.to_sparse().requires_grad_(), out=s))
print(torch.add(s, s, out=s), torch.neg(s, out=s), s._version, torch.sin(c, out=c), torch.sin(s, out=None))
for out in (torch.zeros(2, 2), torch.zeros(0)):
    print(torch.mm(s, d, out=out), torch.add(d, s, out=out.clone()), torch.addmm(d, s, d, out=out))
""",
    "sums with dense operands, and missing numbers": """
c, s = eye.to_sparse_csr(), eye.to_sparse()
for call in (lambda: c + 2, lambda: 2 + c, lambda: c + torch.ones(2), lambda: torch.ones(2) + c, lambda: s + 2,
             lambda: torch.ones(2) + s, lambda: c + torch.ones(2, 2), lambda: c + c, lambda: s - s, lambda: c + T(2.)):
    attempt(call)
attempt(lambda: s.pow(2))
try:
    s.pow()
except TypeError:
    print("an exponent is needed")
""",
    "layouts and parts": """
s = T([[0., 1.], [2., 3.]]).to_sparse()
print(s.bfloat16(), s.real, s.resolve_conj() is s, s.resolve_neg() is s, s.adjoint(), s.mH, s.storage_offset())
print(s.to_sparse_csr().adjoint(), s.to_sparse_csr().bfloat16(), (s * 1j).adjoint())
t = torch.arange(6.).reshape(1, 2, 3).to_sparse()
for source, destination in ((0, 1), (0, 2), (-1, 0), ((0, 1), (2, 0))):
    print(t.movedim(source, destination), t.moveaxis(source, destination).shape)
""",
    "diagonals": """
x = torch.arange(6.).reshape(2, 3).requires_grad_()
for layout in (None, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.strided, torch.sparse_bsr):
    attempt(lambda: torch.sparse.spdiags(x, T([0, 1]), (3, 3), layout))
for d, offsets, size in ((x[0].detach(), T(1), (3, 3)), (x.bool(), T([-1, 2]), (2, 4)), (x[:0], T([]).long(), (2, 2)),
                         (x, T([0, 0]), (3, 3)), (x, T([0]), (3, 3)), (x, T([[0, 1]]), (3, 3)), (x, T([0, 1]), (3,)),
                         (x, T([0, 1]).int(), (3, 3)), (x[None], T([0]), (3, 3))):
    attempt(lambda: torch.sparse.spdiags(d, offsets, size))
s = torch.sparse.spdiags(x, T([0, 1]), (3, 3))
print(s.requires_grad, s.grad_fn.name())
attempt(lambda: s.to_dense().sum().backward())
""",
    "sampled products have the gradients of the sampled elements": """
c = T([[0., 1., 2.], [3., 0., 0.]]).to_sparse_csr()
for reduce in (lambda r: r.sum(), lambda r: r.to_dense().sum(), lambda r: r.values().pow(2).sum()):
    a, b = torch.arange(4.).reshape(2, 2).requires_grad_(), torch.arange(6.).reshape(2, 3).requires_grad_()
    reduce(torch.sparse.sampled_addmm(c, a, b, alpha=2, beta=0.5)).backward()
    print(a.grad, b.grad)
""",
    "numbers of 16 bits": """
x = T([[0.7852, -1.5, 2.5], [0.1, 7.25, -0.1465]])
for dtype in (torch.bfloat16, torch.float16):
    for s in (x.to(dtype).to_sparse(), x.to(dtype).to_sparse_csr(), x.to(dtype).to_sparse_bsr((1, 1))):
        for name in ("floor", "ceil", "trunc", "frac", "round", "erf", "erfinv", "sign", "log1p", "deg2rad"):
            print(name, getattr(s, name)())
""",
    "dtypes of sums": """
s = torch.sparse_coo_tensor([[0, 1, 1], [0, 2, 2]], [1, 2, 3], (2, 3))
for t in (s, s.float(), s.bool(), s.to_sparse_csr()):
    for dtype in (None, torch.uint8, torch.int32, torch.float64, torch.bool):
        print(t.sum(dtype=dtype))
for t in (s.float(), s.coalesce(), torch.sparse_coo_tensor([[0, 1, 1]], torch.arange(6.).reshape(3, 2), (2, 2))):
    for dim in (0, 1, -1, (0, 1), (1, 0), (), [0], (0, 0), 2):
        attempt(lambda: t.sum(dim))
        attempt(lambda: t.sum(dim, keepdim=True))
        attempt(lambda: t.sum(dim, keepdim=True).is_coalesced())
        attempt(lambda: torch.sparse.sum(t, dim))
""",
    "softmax of nothing, and of other numbers": """
for size in ((0, 3), (3, 0), (2, 3)):
    for dtype in (torch.float32, torch.int64, torch.bool, torch.float16, torch.complex64):
        s = torch.sparse_coo_tensor(size, dtype=dtype) if 0 in size else torch.ones(size, dtype=dtype).to_sparse()
        attempt(lambda: torch.sparse.softmax(s, 1))
        attempt(lambda: torch.sparse.log_softmax(s, 0))
""",
    "tensors like others": """
kinds = [eye.to_sparse(), eye.to_sparse_csr(), eye.to_sparse_csc(), torch.eye(4).to_sparse_bsr((2, 2)),
         torch.eye(4).to_sparse_bsc((2, 2)), torch.ones(2, 2, 2).to_sparse_csr(), torch.ones(2, 2, 2).to_sparse(2), eye]
for x in kinds:
    print(torch.zeros_like(x), torch.empty_like(x).shape, torch.zeros_like(x, dtype=torch.float64, requires_grad=True))
    for layout in {y.layout: 0 for y in kinds}:
        attempt(lambda: torch.zeros_like(x, layout=layout))
    attempt(lambda: torch.ones_like(x))
    attempt(lambda: torch.full_like(x, 2.5, dtype=torch.float64))
    attempt(lambda: x.new_zeros(2, 2))
    attempt(lambda: x.new_zeros((2, 3), dtype=torch.int64))
    attempt(lambda: x.detach().fill_(3))
for layout in {x.layout: 0 for x in kinds}:
    attempt(lambda: torch.zeros(2, 2, layout=layout))
    attempt(lambda: torch.zeros(2, layout=layout))
    attempt(lambda: torch.zeros(2, 3, 4, layout=layout))
c = eye.to_sparse_csr().requires_grad_()
y = (c * 2).fill_(3)
y.to_dense().sum().backward()
print(y, c.grad)
""",
    "stacks of matrices": """
x = torch.arange(1., 13.).reshape(2, 2, 3)
print(x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse(layout=torch.sparse_csr), x.to_sparse_csr().to_dense())
print(torch.ones(2, 2, 2, 2).to_sparse_csc().to_sparse_coo(), torch.zeros(2, 0, 2).to_sparse_csr())
attempt(lambda: (x - 1).to_sparse_csr())
print(x.to_sparse_csr().transpose(1, 2), x.to_sparse_csr() * 2, x.to_sparse_csr().sum())
for dims in ((0, 1), (0, 0), (-1, 0)):
    attempt(lambda: x.to_sparse_csr().transpose(*dims).to_dense())
attempt(lambda: x[0, 0].to_sparse_csr())
""",
    "dense dimensions": """
x, m = torch.arange(12.).reshape(2, 2, 3), T([[0., 1.], [2., 0.]])
for call in (lambda: x.to_sparse_csr(dense_dim=1), lambda: x.to_sparse_csc(dense_dim=1).to_dense(),
             lambda: x.to_sparse_csr(dense_dim=1) * 2, lambda: x.to_sparse(1).to_sparse_csr(),
             lambda: x.to_sparse(2).to_sparse_csr(), lambda: x.to_sparse_csr(dense_dim=1).transpose(0, 1),
             lambda: torch.sparse_csr_tensor([0, 1, 2], [0, 1], torch.ones(2, 3)),
             lambda: m.to_sparse(dense_dim=1), lambda: m.to_sparse(dense_dim=0), lambda: m.to_sparse(dense_dim=2),
             lambda: m.to_sparse(dense_dim=3), lambda: m.to_sparse(1).to_sparse(2), lambda: m.to_sparse().to_sparse(2),
             lambda: m.to_sparse().to_sparse(dense_dim=1), lambda: m.to_sparse_csr().to_sparse(1),
             lambda: m.to_sparse_csr().to_sparse(dense_dim=1), lambda: m.to_sparse().to_sparse_csr(dense_dim=1),
             lambda: m.to_sparse_csc().to_sparse_csr(dense_dim=0), lambda: m.to_sparse_csr(dense_dim=1),
             lambda: x.to_sparse(1).transpose(0, 1), lambda: m @ m.to_sparse(1), lambda: m.to_sparse(1) @ m):
    attempt(call)
""",
    "masks of all layouts": """
x, m = torch.arange(1., 17.).reshape(4, 4), torch.eye(4)
for mask in (m.to_sparse(), m.to_sparse_csr(), m.to_sparse_csc(), m.to_sparse_bsr((2, 2)), m.to_sparse_bsc((2, 2))):
    print(x.sparse_mask(mask), x.to_sparse().sparse_mask(mask))
print(x.to_sparse_csr().sparse_mask(m.to_sparse_csr()))
wide = torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 4), (4, 4))
attempt(lambda: wide.sparse_mask(m.to_sparse()))
""",
    "dense gradients of compressed tensors": """
for c in (eye.to_sparse_csr(), eye.to_sparse_csc(), eye.to_sparse_bsr((1, 1)), eye.to_sparse_bsc((1, 2)),
          eye.to_sparse(1)):
    for masked_grad in (None, True, False):
        c = c.detach().requires_grad_()
        y = (c.to_dense(masked_grad=masked_grad) * T([[1., 2.], [3., 4.]])).sum()
        attempt(lambda: grad(y, c))
""",
    "signs of zero": """
z = T([-0.0, 1.0])
s = torch.sparse_coo_tensor([[0, 1]], z, (2,))
print(s.coalesce().to_dense(), s.to_dense(), (s + s).coalesce().values(), (s * 1).to_dense(), s.sum())
print(torch.sparse_coo_tensor([[0, 0, 1]], T([-0.0, -0.0, 0.0]), (2,)).coalesce())
print(torch.sparse_csr_tensor([0, 1, 2], [0, 1], z).to_dense())
""",
    "no gradient of ints": """
s, n = eye.to_sparse().requires_grad_(), torch.ones(2, 2, dtype=torch.int64).to_sparse()
print(n.copy_(s), n.requires_grad, n.grad_fn)
print(eye.bool().to_sparse().conj_physical().dtype, torch.add(eye.to_sparse_csr(), eye.to_sparse_csr(), alpha=2).dtype)
print(torch.addmm(eye.to_sparse_csr(), eye.to_sparse_csr(), eye.to_sparse_csr(), beta=2, alpha=3))
""",
    "gradients of masks with repeated indices": """
m = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1., 1., 1.], (3, 3))
for use in (lambda y: y.to_dense().sum(), torch.sparse.sum, lambda y: (y * 2).coalesce().values().sum()):
    x = torch.zeros(3, 3, requires_grad=True)
    use(x.sparse_mask(m)).backward()
    print(x.grad)
""",
    "gradients of compressed leaves": """
for layout in (torch.sparse_csr, torch.sparse_csc):
    for use in (lambda c: c.to_sparse_coo().to_dense(), lambda c: torch.sparse.sum(c.to_sparse_coo() * 2),
                lambda c: c.relu().to_dense(), lambda c: (c + c).to_dense()):
        c = T([[0., -1.], [2., 3.]]).to_sparse(layout=layout).requires_grad_()
        attempt(lambda: grad(use(c).sum(), c))
stack = torch.ones(2, 2, 2).to_sparse_csc()
print(stack.angle(), (-stack).angle())
""",
    "gradients of real tensors beside complex ones": """
s, t = eye.to_sparse().requires_grad_(), (eye * 1j).to_sparse()
print(grad(torch.sparse.sum(s * t).abs(), s), grad((s + t).to_dense().abs().sum(), s))
""",
    "writes beside tensors that require grad": """
t = eye.to_sparse().requires_grad_()
s = (eye * 3).to_sparse()
s.mul_(t * 2)
print(s, s.requires_grad)
print(grad(s.to_dense().sum(), t))
d = torch.ones(2, 2, requires_grad=True) * 1
print(d.add_(t), d.addmm_(t, torch.ones(2, 2), beta=2, alpha=3), d.sub_(t))
attempt(lambda: d.sum().backward())
print(torch.ones(2, 2).addmm_(eye.to_sparse_csr(), eye))
""",
    "nan_to_num, and stacks of rows": """
s = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1., float("nan"), float("inf")], (3, 3)).requires_grad_()
print(s.nan_to_num(), s.nan_to_num(1, 2, 3), s.detach().coalesce().nan_to_num_(3.))
attempt(lambda: s.detach().nan_to_num_())
attempt(lambda: eye.to_sparse_csr().nan_to_num())
v, m = torch.sparse_coo_tensor([[2, 0]], [1., 2.], (3,)), torch.eye(3).to_sparse()
for call in (torch.hstack, torch.vstack, torch.dstack, torch.row_stack):
    attempt(lambda: call([v, v]))
    attempt(lambda: call([m, m]))
for call in (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d):
    attempt(lambda: call(v))
    attempt(lambda: call(m))
attempt(lambda: torch.chain_matmul(m, torch.ones(3, 2)))
""",
    "quotients that are rounded": """
for s in (T([3, 5]).to_sparse(), T([3., 5.]).to_sparse()):
    for divisor in (2, 2.5, T(2), T(2.5, dtype=torch.float64), True):
        for mode in ("floor", "trunc"):
            attempt(lambda: torch.div(s, divisor, rounding_mode=mode))
        attempt(lambda: s // divisor)
print(T([1, 2], dtype=torch.uint8).to_sparse().any(), eye.to_sparse().any())
for size in ((2, 2, 0), (2, 0, 2), (0, 2, 2)):
    print(torch.bmm(torch.sparse_coo_tensor(size), torch.ones(size[0], size[2], 3)))
""",
    "versions": """
s = eye.to_sparse()
for write in (lambda: s.sparse_resize_((3, 3), 2, 0), lambda: s.sparse_resize_and_clear_((3, 3), 2, 0),
              lambda: s._coalesced_(True), lambda: s.zero_(), lambda: s._indices().add_(0), lambda: s._values().add_(0),
              lambda: s.resize_as_sparse_(torch.eye(4).to_sparse()), lambda: s.indices().add_(0)):
    write()
    print(s._version)
with torch.inference_mode():
    quiet = eye.to_sparse() * 2
attempt(lambda: quiet._version)
""",
    "gradients of another layout": """
for change in (lambda g: g.to_dense(), lambda g: g.to_sparse(), lambda g: g.to_sparse_csr(), lambda g: g.coalesce()):
    w = torch.zeros(3, 2, requires_grad=True)
    w.register_hook(change)
    attempt(lambda: torch.nn.functional.embedding(T([0, 1]), w, sparse=True).sum().backward())
    attempt(lambda: w.sum().backward())
    print(w.grad is None)
z = torch.zeros(2, 2)
for leaf in (z, z.to_sparse(), z.to_sparse_csr(), z.to_sparse_csc()):
    for given in (z, z.to_sparse(), z.to_sparse_csr(), z.to_sparse_csc()):
        attempt(lambda: setattr(leaf.detach().requires_grad_(), "grad", given.clone()))
""",
    "functions without derivatives for complex numbers": """
x, c = torch.ones(2, 2, dtype=torch.complex64).requires_grad_(), (eye + 0j).to_sparse_csr().requires_grad_()
s = (eye + 0j).to_sparse().requires_grad_()
for call in (lambda: x.to_sparse(), lambda: x.to_sparse(1), lambda: x.to_sparse_csr(), lambda: x.to_sparse_csc(),
             lambda: x.to_sparse_bsr((1, 1)), lambda: x.to_sparse_bsc((1, 2)), lambda: s.to_sparse_csr(),
             lambda: c.to_sparse_coo(), lambda: c.to_sparse_csc(), lambda: torch.sparse.sum(s, 0),
             lambda: torch.sparse.softmax(s, 0), lambda: c[0], lambda: torch.sparse.sum(s), lambda: s.to_dense(),
             lambda: torch.sparse_csr_tensor([0, 1], [0], x[0, :1], (1, 1)), lambda: c.to_dense(),
             lambda: s.coalesce()):
    attempt(call)
""",
    "parts of stacks of compressed matrices": """
c = torch.ones(2, 2, 2).to_sparse_csr()
print(c[0], c[1, 0], [m.layout for m in c], eye.to_sparse_csc()[1], eye.to_sparse_csr().requires_grad_()[0, 1])
attempt(lambda: c[:, 0])
""",
    "norm": """
for s in (eye.to_sparse(), eye.int().to_sparse(), eye.cfloat().to_sparse(), eye.bool().to_sparse()):
    for p in (2, "fro", 1, 0, 3, float("inf")):
        attempt(lambda: s.norm(p))
s = (eye * 2).to_sparse().requires_grad_()
s.norm(1).backward()
print(s.grad, s.norm(3).requires_grad)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    found = [[line for line in transcript(package, HEAD + PROGRAMS[name])
              if not line.startswith("UserWarning: Sparse ")]       # PyTorch warns once that sparse tensors are new
             for package in (retrograd, torch)]
    assert found[0] == found[1]
