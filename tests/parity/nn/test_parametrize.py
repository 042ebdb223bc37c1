"""Parametrized tensors, and the older hooks that normalize weights, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

CLASSES = """
    import copy, pickle
    nn = torch.nn
    P, Z = torch.nn.utils.parametrize, torch.nn.utils.parametrizations
    class Symmetric(nn.Module):
        def forward(self, x): return x.triu() + x.triu(1).mT
        def right_inverse(self, x): return x.triu()
    class Double(nn.Module):
        def forward(self, x): return 2 * x
    class Two(nn.Module):
        def forward(self, a, b): return a + b
        def right_inverse(self, x): return x * 0.25, x * 0.75
    class Any(nn.Module):
        def __init__(self, f, r=None):
            super().__init__(); self.f = f
            if r: self.right_inverse = r
        def forward(self, x): return self.f(x)
    def show(m, x):
        print(m, [*m.state_dict()], [n for n, _ in m.named_buffers()])
        y = m(x); print(y, m.weight.grad_fn); y.sum().backward()
        print([(n, (p.grad * 100).round() + 0) for n, p in m.named_parameters()])
    torch.manual_seed(0)
"""
PROGRAMS = {
    "one": """
        m = nn.Linear(3, 3)
        print(P.register_parametrization(m, "weight", Symmetric()) is m, m, type(m), m.parametrizations)
        print([*m.state_dict()], [n for n, _ in m.named_parameters()], [n for n, _ in m.named_modules()])
        listed = m.parametrizations.weight
        print(m.weight, listed.original, listed[0], listed.is_tensor, listed.ntensors, listed.unsafe)
        print("weight" in dir(m), [*m._parameters], [*vars(m)], [*vars(listed)][-3:])
        P.register_parametrization(m, "weight", Double()); print(m.parametrizations, m.weight)
        attempt(lambda: setattr(m, "weight", torch.eye(3)))
        attempt(lambda: setattr(m, "weight", nn.Parameter(torch.eye(3))))
        print(P.is_parametrized(m), P.is_parametrized(m, "weight"), P.is_parametrized(m, "bias"))
        print(P.type_before_parametrizations(m), P.type_before_parametrizations(nn.ReLU()), m(torch.ones(1, 3)))
        d = copy.deepcopy(m)
        print(d, type(d) is type(m), torch.equal(d.weight, m.weight), d.bias is m.bias)
        attempt(lambda: pickle.dumps(m)); attempt(m.__getstate__)
        print(P.remove_parametrizations(m, "weight") is m, type(m), m.weight, [*m._parameters], [*vars(m)])
        attempt(lambda: P.remove_parametrizations(m, "weight")); attempt(lambda: P.ParametrizationList([], m.weight))
        attempt(lambda: P.register_parametrization(m, "foo", Double()))
    """,
    "removing": """
        m = nn.Linear(3, 3); P.register_parametrization(m, "weight", Symmetric())
        w = m.parametrizations.weight.original
        P.remove_parametrizations(m, "weight", leave_parametrized=False); print(m.weight is w, m.weight)
        m = nn.Linear(3, 3); w = m.weight.clone(); P.register_parametrization(m, "weight", Two())
        print([*m.state_dict()], m.weight - w, m.parametrizations.weight.original0.requires_grad)
        m.weight = torch.ones(3, 3); print(m.weight, m.parametrizations.weight.original1)
        attempt(lambda: P.remove_parametrizations(m, "weight", leave_parametrized=False))
        P.remove_parametrizations(m, "weight"); print(m.weight, [*m._parameters])
        m = nn.BatchNorm1d(2); P.register_parametrization(m, "running_mean", Double())
        print(m, [*m.state_dict()], m.running_mean, [*m._buffers])
        P.remove_parametrizations(m, "running_mean"); print([*m._buffers], m.running_mean)
        m = nn.Linear(3, 3)
        P.register_parametrization(m, "weight", Double()); P.register_parametrization(m, "bias", Double())
        P.remove_parametrizations(m, "weight"); print(type(m), m); P.remove_parametrizations(m, "bias"); print(m)
        m = nn.Linear(3, 3); m.weight.requires_grad_(False); P.register_parametrization(m, "weight", Two())
        print([p.requires_grad for p in m.parameters()]); P.remove_parametrizations(m, "weight")
        print(type(m.weight), m.weight.requires_grad, [*m._parameters], [*m._buffers])
    """,
    "what is refused": """
        cases = [(lambda x: 3, None), (lambda x: x[:1], None), (lambda x: x.double(), None), (lambda x: x, lambda x: 3),
                 (lambda x: x, lambda x: x[:1]), (lambda x: x, lambda x: x.double()), (lambda x: x, lambda x: (x, 3)),
                 (lambda x: x, lambda x: "ab")]
        for f, r in cases:
            for first in (True, False):
                for unsafe in (False, True):
                    m = nn.Linear(3, 2)
                    if not first: P.register_parametrization(m, "weight", Any(lambda x: x))
                    attempt(lambda: type(P.register_parametrization(m, "weight", Any(f, r), unsafe=unsafe)).__name__)
                    print(first, unsafe, [*m.state_dict()])
        m = nn.Linear(3, 3); P.register_parametrization(m, "weight", Double())
        attempt(lambda: setattr(m, "weight", torch.ones(3, 3)))
        m = nn.Linear(3, 3); P.register_parametrization(m, "weight", Symmetric())
        attempt(lambda: setattr(m, "weight", torch.ones(3, 3, dtype=torch.float64)))
        attempt(lambda: setattr(m, "weight", 3)); m.weight = torch.ones(2, 2); print(m.weight.shape)
        m = nn.Linear(3, 3); P.register_parametrization(m, "weight", Two())
        m.parametrizations.weight[0].right_inverse = lambda x: (x,)
        attempt(lambda: setattr(m, "weight", torch.ones(3, 3)))
        m.parametrizations.weight[0].right_inverse = lambda x: x
        attempt(lambda: setattr(m, "weight", torch.ones(3, 3)))
    """,
    "computed once": """
        count = [0]
        def counted(x): count[0] += 1; return x
        m = nn.Linear(3, 3); P.register_parametrization(m, "weight", Any(counted)); count[0] = 0
        m.weight; m.weight; print(count)
        with P.cached():
            a = m.weight; print(a is m.weight, count, P._cache_enabled, len(P._cache))
            with P.cached(): m.weight
            m.weight; print(count)
        m.weight; print(count, P._cache_enabled, P._cache)
    """,
    "transferred and converted": """
        for made in (Symmetric, Two):
            a, b = nn.Linear(3, 3), nn.Linear(3, 3); P.register_parametrization(a, "weight", made())
            print(P.transfer_parametrizations_and_params(a, b) is b, b, torch.equal(a.weight, b.weight))
            print(torch.equal(a.bias, b.bias), a.parametrizations.weight[0] is b.parametrizations.weight[0])
            print([p is q for p, q in zip(a.parameters(), b.parameters())])
        attempt(lambda: P.transfer_parametrizations_and_params(a, nn.ReLU()).weight - a.weight)
        attempt(lambda: P.transfer_parametrizations_and_params(a, b, "bias"))
        print(P.transfer_parametrizations_and_params(nn.ReLU(), nn.Tanh()))
        m = nn.Linear(3, 3).eval(); s = Symmetric(); P.register_parametrization(m, "weight", s); print(s.training)
        m.double(); print(m.weight.dtype); m(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
        print(m.parametrizations.weight.original.grad)
        n = nn.Linear(3, 3).double(); P.register_parametrization(n, "weight", Symmetric())
        print(n.load_state_dict(m.state_dict()), torch.equal(n.weight, m.weight))
    """,
    "norms": """
        for dim in (0, 1, None, -1):
            m = nn.Linear(3, 2); w = m.weight.detach().clone(); Z.weight_norm(m, dim=dim); show(m, torch.rand(2, 3))
            listed = m.parametrizations.weight
            print(listed.original0, listed.original1, torch.allclose(m.weight, w), listed[0].dim)
        m = Z.weight_norm(nn.Conv2d(2, 3, 2)); show(m, torch.rand(1, 2, 3, 3))
        m.weight = torch.ones(3, 2, 2, 2); print(m.parametrizations.weight.original0, m.weight)
        attempt(lambda: Z.weight_norm(nn.Linear(2, 2), "foo"))
        m = Z.weight_norm(nn.Linear(2, 3))
        old = {"weight_g": torch.ones(3, 1), "weight_v": torch.ones(3, 2), "bias": torch.zeros(3)}
        print(m.load_state_dict(old), m.weight)
        m = nn.Linear(3, 2); nn.utils.weight_norm(m); show(m, torch.rand(2, 3))
        print(m.__dict__["weight"]); attempt(lambda: nn.utils.weight_norm(m))
        nn.utils.remove_weight_norm(m); print(m, [*m.state_dict()], len(m._forward_pre_hooks), m.weight)
        attempt(lambda: nn.utils.remove_weight_norm(m))
        m = nn.Linear(3, 2); nn.utils.weight_norm(m, "weight", None); show(m, torch.rand(2, 3))
        attempt(lambda: nn.utils.weight_norm(nn.LazyLinear(2)))
    """,
    "singular values": """
        inputs = {"Linear": torch.rand(2, 3), "Embedding": torch.tensor([0, 1])}
        for m in (nn.Linear(3, 4), nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2), nn.Embedding(3, 2)):
            x = inputs.get(type(m).__name__, torch.rand(1, 2, 3, 3))
            Z.spectral_norm(m, n_power_iterations=2); show(m, x); made = m.parametrizations.weight[0]
            print([*vars(made)][-3:], made._u, made._v); m.eval(); print(m(x))
            m.weight = m.weight.detach() * 2; print(m.weight)
        m = Z.spectral_norm(nn.Linear(3, 2), "bias"); print(m.bias, [*m.state_dict()])
        attempt(lambda: Z.spectral_norm(nn.Linear(3, 2), n_power_iterations=0))
        attempt(lambda: Z.spectral_norm(nn.Linear(3, 2), "foo")); attempt(lambda: Z.spectral_norm(m, dim=5))
        for m, n in ((nn.Linear(3, 4), nn.Linear(3, 4)), (nn.ConvTranspose2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2))):
            x = inputs.get(type(m).__name__, torch.rand(1, 2, 3, 3))
            print(nn.utils.spectral_norm(m) is m); show(m, x); show(m, x)
            print([*m.state_dict()._metadata.items()]); m.eval(); print(m(x))
            attempt(lambda: nn.utils.spectral_norm(m))
            nn.utils.spectral_norm(n); print(n.load_state_dict(m.state_dict()))
            n.eval(); print(torch.equal(n(x), m(x)))
            attempt(lambda: n.load_state_dict({"weight": m.weight.detach(), "bias": m.bias}))
            print(n.load_state_dict({**m.state_dict()}))
            nn.utils.remove_spectral_norm(m); print(m, [*m.state_dict()], m.weight)
            attempt(lambda: nn.utils.remove_spectral_norm(m))
        m = nn.utils.spectral_norm(nn.Linear(3, 4)); n = nn.utils.spectral_norm(nn.Linear(3, 4)).eval()
        old = m.state_dict(); del old["weight_v"]; del old._metadata[""]["spectral_norm"]
        old["weight"] = m.weight.detach() / 2; print(n.load_state_dict(old), n.weight_v)
        attempt(lambda: nn.utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=0))
    """,
    "orthogonal": """
        rounded = lambda t: (t.detach() * 1000).round() / 1000 + 0
        for name in (None, "matrix_exp", "cayley", "householder"):
            for shape in ((3, 3), (4, 2), (2, 4)):
                for trivial in (True, False):
                    torch.manual_seed(1); m = nn.Linear(shape[1], shape[0])
                    Z.orthogonal(m, "weight", name, use_trivialization=trivial); print(name, shape, [*m.state_dict()])
                    print(rounded(m.weight)); (m.weight * torch.rand(shape)).sum().backward()
                    print(rounded(m.parametrizations.weight.original.grad))
                    q = nn.init.orthogonal_(torch.empty(shape)); attempt(lambda: setattr(m, "weight", q))
                    print(bool((m.weight - q).abs().max() < 1e-5))
        attempt(lambda: Z.orthogonal(nn.Linear(3, 3), orthogonal_map="foo"))
        attempt(lambda: Z.orthogonal(nn.Linear(3, 3), "bias")); attempt(lambda: Z.orthogonal(nn.Linear(3, 3), "foo"))
        m = Z.orthogonal(nn.Linear(3, 3)); print(m, type(m.parametrizations.weight[0]))
        m.weight = torch.ones(3, 3); attempt(lambda: setattr(m, "weight", torch.eye(4)))
        m = nn.Linear(3, 3, dtype=torch.complex64); Z.orthogonal(m)
        print(bool((m.weight @ m.weight.mH - torch.eye(3)).abs().max() < 1e-5))
        attempt(lambda: Z.orthogonal(nn.Linear(3, 3, dtype=torch.complex64), orthogonal_map="householder"))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    indented = CLASSES + PROGRAMS[name].replace("\n    ", "\n")
    assert transcript(retrograd, indented) == transcript(torch, indented)
