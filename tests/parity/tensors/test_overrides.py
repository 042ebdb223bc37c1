"""Classes derived from Tensor, `__torch_function__` and modes, against PyTorch: programs that say what they see."""

import pytest
import torch
import torch.overrides

import retrograd
from programs.running import transcript

START = """
    class T(torch.Tensor):
        log = []
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            T.log.append((func.__name__.strip('_'), [t.__name__ for t in types], shown(args)))
            return super().__torch_function__(func, types, args, kwargs)
    class S(T): pass
    class U(torch.Tensor): pass
    def shown(x):
        if isinstance(x, (tuple, list)):
            return [shown(y) for y in x]
        return type(x).__name__ if isinstance(x, torch.Tensor) else x
    F, nn = torch.nn.functional, torch.nn
    plain = torch.tensor([[1., 2.], [3., 4.]])
    t, s, u = plain.as_subclass(T), plain.as_subclass(S), plain.as_subclass(U)
    def see(call):
        T.log.clear()
        result = call()
        log = [entry for entry in T.log if entry[0] != 'get']
        kinds = [type(r).__name__ for r in result] if isinstance(result, (tuple, list)) else type(result).__name__
        print(kinds, log)
"""
CALLS = """t + 1; 1 + t; t + plain; plain + t; t - 1; t * 2; t / 2; t % 2; -t; t @ plain; plain @ t; t == 1; t != t
    t.add(1); t.sum(); t.sum(0); t.exp(); t.mean(); t.max(0); t.max(); t[0]; t[0, 1]; t[t > 2]; t.detach(); t.clone()
    t.view(4); t.reshape(4); t.double(); t.size(); t.size(0); t.relu_(); t.add_(1); t.zero_(); plain.add(t)
    plain.masked_fill(t > 2, 0.); t.unbind(0); t.unbind(); t.new_zeros(2); t.tolist(); t.numpy(); t.requires_grad_()
    torch.add(t, 1); torch.sum(t, 0); torch.exp(t); torch.cat([plain, t]); torch.stack((t, t)); torch.relu(t)
    torch.where(t > 1, t, plain); torch.zeros_like(t); torch.softmax(t, 0); torch.matmul(plain, t); torch.equal(t, t)
    torch.allclose(t, plain); torch.max(t, 0); torch.var_mean(t); torch.is_tensor(t); torch.tensor(t.tolist())
    F.linear(t, plain); nn.Linear(2, 2)(t); F.mse_loss(t, t); len(t); t[0, 0].item(); float(t[0, 0])
    s + t; t + s; torch.cat([t, s]); u + 1; torch.split(u, 1); u.T; u.mT; u.data; u.real; u.grad; u.shape; u.long()
    u.norm(); torch.einsum('ij->i', u); torch.broadcast_tensors(u, plain); torch.meshgrid(u[0], u[1], indexing='ij')
    reversed(u); [*u]; nn.Parameter(u) * 2; nn.Parameter(plain) + u; F.softmax(u, 0); F.cross_entropy(u, plain)"""


def same(source: str) -> None:
    text = "\n".join(line[4:] if line.startswith("    ") else line for line in (START + source).splitlines())
    expected, actual = transcript(torch, text), transcript(retrograd, text)
    assert actual == expected
    assert expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [c.strip() for line in CALLS.splitlines() for c in line.split(";")])
def test_what_is_handed_over_and_what_comes_of_it(call: str) -> None:
    same(f"    see(lambda: {call})\n")


PROGRAMS = {
    "strangers": """
    attempt(lambda: t + u)
    attempt(lambda: torch.add(t, u))
    attempt(lambda: torch.einsum('ij,ij', t, u))
    attempt(lambda: torch.cat([t, u]))
""",
    "graph": """
    leaf = torch.ones(2).as_subclass(U).requires_grad_()
    y = leaf * 2
    print(y, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), y._base is None, y.is_leaf)
    y.sum().backward()
    print(leaf.grad, type(leaf.grad).__name__, [type(g).__name__ for g in torch.autograd.grad((leaf**2).sum(), leaf)])
    x = torch.ones(2, requires_grad=True)
    print(x.as_subclass(U), U(x), torch.Tensor(x))
    v = (x * 3).as_subclass(U)
    v[0] = 5.
    v.sum().backward()
    print(x.grad, v._version)
""",
    "made": """
    print(U([1, 2]), U(2, 3).shape, U(), type(torch.Tensor.__new__(U, [1.])).__name__)
    leaf = torch.Tensor._make_subclass(U, torch.ones(2), True)
    print(leaf, leaf.is_leaf, leaf.grad_fn)
    attempt(lambda: torch.Tensor._make_subclass(int, torch.ones(2)))
    attempt(lambda: torch.Tensor._make_subclass(U, [1]))
    attempt(lambda: torch.ones(1).as_subclass(int))
    attempt(lambda: format(U([1.])[0], '.1f'))
""",
    "parameters": """
    p = nn.Parameter(u)
    print(type(p).__name__, isinstance(p, nn.Parameter), isinstance(u, nn.Parameter), p.requires_grad, p)
    class P(nn.Parameter): pass
    q = P(torch.ones(2))
    print(q, type(q * 2).__name__, type(q.detach()).__name__, type(q.clone()).__name__)
    m = nn.Module()
    m.p, m.q = p, q
    print([n for n, _ in m.named_parameters()], type(m.p).__name__)
    def assign(): m.p = torch.ones(1)
    attempt(assign)
""",
    "ducks": """
    class D:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return (func is torch.mean, func is torch.Tensor.mul, [t.__name__ for t in types])
    class N:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    d, n = D(), N()
    print(torch.mean(d), torch.mul(plain, d)[2], plain.mul(d), plain * d, torch.cat([n, d]), F.relu(d))
    attempt(lambda: torch.mean(n))
    attempt(lambda: plain * n)
    attempt(lambda: F.gelu(n, approximate='none') if False else F.relu(n))
    print(torch.overrides.is_tensor_like(d), torch.overrides.has_torch_function((d, 1)))
    attempt(lambda: torch.overrides.handle_torch_function(torch.mean, (n,), n))
""",
    "an argument for numbers": """
    class D:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return f"took {func.__name__}"
    d, A, B = D(), torch.ones(4), torch.ones(2, 2)
    for call in (
        lambda: torch.arange(d), lambda: torch.arange(0, d), lambda: torch.rand(d), lambda: torch.rand((d, 2)),
        lambda: torch.randn(2, d), lambda: torch.hann_window(d), lambda: torch.scalar_tensor(d),
        lambda: torch.sum(A, dim=d), lambda: A.view(d), lambda: A.view(d, -1), lambda: torch.reshape(A, (d, 1)),
        lambda: torch.cat([A], dim=d), lambda: A.repeat(d), lambda: A.repeat(d, 1), lambda: torch.flatten(A, d),
        lambda: torch.squeeze(A, d), lambda: A.unfold(0, d, 1), lambda: A.as_strided((d,), (1,)),
        lambda: torch.permute(B, (d, 1)), lambda: torch.softmax(A, d), lambda: torch.cumsum(A, dim=d),
        lambda: torch.nn.functional.adaptive_avg_pool1d(A[None], d), lambda: torch.arange("x"), lambda: A.repeat("x"),
        lambda: torch.randn(2, "x"), lambda: torch.tensor(1.)):
        attempt(lambda: print(call()))
    print(torch.polygamma(1, d), type(torch.polygamma(1, u + 1)).__name__)
""",
    "modes": """
    class M(torch.overrides.TorchFunctionMode):
        def __init__(self, name): self.name = name
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append((self.name, func.__name__, [t.__name__ for t in types]))
            return func(*args, **(kwargs or {}))
    log = []
    with M('outer'):
        x = torch.exp(torch.zeros(2)) + 1
        with M('inner'):
            y = x + u
        torch.tensor(1.)
        torch.manual_seed(1)
    print(log, type(y).__name__)
    with torch._C.DisableTorchFunctionSubclass():
        print(type(u + 1).__name__)
    with torch.overrides.BaseTorchFunctionMode():
        print(type(u + 1).__name__)
""",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(source: str) -> None:
    same(source)
