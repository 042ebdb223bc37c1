"""The other tools of torch.nn.utils: fusion, modules without first values, modules as functions, named members."""

import importlib
import inspect
from importlib import import_module

import pytest
import torch

import retrograd
from programs.running import transcript

BEGIN = """
    nn, U = torch.nn, torch.nn.utils
    S = torch.nn.utils.stateless
    class Tied(nn.Module):
        def __init__(self):
            super().__init__(); self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1); self.b.weight = self.a.weight
            self.register_buffer("buf", torch.ones(1))
        def forward(self, x, k=0): return self.b(self.a(x)) + self.buf
    torch.manual_seed(1)
"""
PROGRAMS = {
    "gradients that do not exist": """
        w = torch.ones(2, requires_grad=True)
        for given in ([w], [], w):
            print(U.clip_grad_norm_(given, 1.), U.clip_grads_with_norm_(given, 1., torch.tensor(1.)))
            attempt(lambda: U.clip_grad_value_(given, 1.))
        attempt(lambda: U.get_total_norm([None]))
        torch.set_default_dtype(torch.float64)
        print(U.clip_grad_norm_([w], 1.).dtype, U.get_total_norm([]).dtype, U.get_total_norm([w.detach()]).dtype)
        torch.set_default_dtype(torch.float32)
    """,
    "a call of a module for several devices": """
        attempt(lambda: torch.func.functional_call(nn.DataParallel(nn.Linear(2, 2)), {}, (torch.ones(2),)))
    """,
    "fusion": """
        x, bn = torch.rand(1, 2, 4, 4), nn.BatchNorm2d(3); bn(torch.rand(2, 3, 3, 3)); bn.eval()
        conv = nn.Conv2d(2, 3, 2).eval(); fused = U.fuse_conv_bn_eval(conv, bn)
        print(fused, torch.allclose(fused(x), bn(conv(x)), atol=1e-5), fused.weight, fused.bias)
        conv = nn.ConvTranspose2d(2, 3, 2, bias=False).eval(); fused = U.fuse_conv_bn_eval(conv, bn, transpose=True)
        print(torch.allclose(fused(x), bn(conv(x)), atol=1e-5), fused.bias)
        bn.weight = None; bn.bias = None; print(U.fuse_conv_bn_eval(conv, bn, True).bias)
        attempt(lambda: U.fuse_conv_bn_eval(conv.train(), bn))
        b = nn.BatchNorm1d(3); b(torch.rand(5, 3)); b.eval(); linear = nn.Linear(4, 3).eval()
        fused = U.fuse_linear_bn_eval(linear, b); print(fused, fused.weight, fused.bias)
        print(U.fuse_linear_bn_weights(linear.weight, None, b.running_mean, b.running_var, 1e-5, b.weight, b.bias))
        attempt(lambda: U.fuse_linear_bn_eval(nn.Linear(2, 2).eval(), b))
        attempt(lambda: U.fuse_linear_bn_eval(nn.Linear(2, 3), b))
        print(U.fuse_linear_bn_eval(nn.Linear(2, 2).eval(), nn.BatchNorm1d(1).eval()).weight.shape)
    """,
    "limits of rare gradients": """
        def limited(order, *grads):
            ps = []
            for g in grads:
                ps.append(torch.zeros(g.shape, dtype=g.dtype, requires_grad=True)); ps[-1].grad = g
            print(U.clip_grad_norm_(ps, 1., order), [p.grad for p in ps])
        inf, half = float("inf"), torch.float16
        for order in (2., 1., 3., inf, -inf, 0.):
            limited(order, torch.tensor([1., 2.], dtype=torch.bfloat16), torch.tensor([0.25], dtype=half))
            limited(order, torch.tensor([1e25])); limited(order, torch.tensor([1e-30]))
            attempt(lambda: limited(order, torch.ones(2), torch.ones(0)))
        attempt(lambda: limited(2., torch.ones(1).expand(2, 2)))
        attempt(lambda: U.get_total_norm([torch.ones(2), torch.tensor([3])]))
        attempt(lambda: U.get_total_norm([torch.tensor([3, 4])]))
        p = torch.ones(2, dtype=torch.complex64, requires_grad=True); p.grad = p.detach() * 3
        attempt(lambda: U.clip_grad_value_(p, 1.)); print(p.grad)
        print(U.clip_grad_norm_([], 1.))
        print(U.clip_grad_norm_((q for q in []), 1.))
    """,
    "memory": """
        m = U.skip_init(nn.Linear, 3, 2, bias=False); print(m, torch.rand(1))
        attempt(lambda: U.skip_init(int, 3)); attempt(lambda: U.skip_init(nn.ReLU))
        print(U.skip_init(nn.Conv2d, 1, 1, 1, dtype=torch.float64, device="cpu").weight.dtype)
        net = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Sequential(nn.ConvTranspose2d(2, 3, 2), nn.Conv3d(2, 2, 2)))
        strides = lambda: print(net[0].weight.stride(), net[1][0].weight.stride(), net[1][1].weight.stride())
        print(U.convert_conv2d_weight_memory_format(net, torch.channels_last) is net); strides()
        U.convert_conv3d_weight_memory_format(net, torch.channels_last_3d); strides()
    """,
    "a module as a function": """
        t, x, two = Tied(), torch.ones(1, 1), torch.full((1, 1), 2., requires_grad=True)
        every = lambda: {**dict(t.named_parameters()), **dict(t.named_buffers())}
        call = S.functional_call
        print(t(x), call(t, {"a.weight": two}, x), call(t, {"buf": torch.zeros(1)}, (x,), {"k": 1}), call(t, {}, (x,)))
        print(call(t, {"a.weight": two}, (x,), tie_weights=False))
        attempt(lambda: call(t, {"a.weight": two, "b.weight": two * 3}, (x,)))
        attempt(lambda: call(t, {"a.weight": two, "b.weight": two}, (x,)))
        for wrong in ({"foo": two}, {"a.foo.weight": two}, {"a": two}, {"a.weight": 3}, {"c.weight": two}):
            attempt(lambda: call(t, wrong, (x,)))
        attempt(lambda: call(t, {"a.weight": two}, (x,), strict=True)); print(call(t, every(), (x,), strict=True))
        attempt(lambda: call(t, {**every(), "q": two}, (x,), strict=True))
        call(t, {"a.weight": two}, (x,)).sum().backward(); print(two.grad, t.a.weight.grad, t.a.weight is t.b.weight)
        attempt(lambda: call(t, {"a.weight": two}, (x,), {"zz": 1})); print(t.a.weight is t.b.weight, t.a.weight)
        class Counts(nn.Module):
            def __init__(self): super().__init__(); self.register_buffer("n", torch.zeros(1))
            def forward(self, x): self.n = self.n + 1; return x + self.n
        m, given = Counts(), {"n": torch.ones(1)}; print(call(m, given, (x,)), m.n, given)
        p = nn.utils.parametrizations.weight_norm(nn.Linear(1, 1))
        print(call(p, {"parametrizations.weight.original0": two.detach()}, (x,)))
    """,
}
ACCESS = """
    NamedMemberAccessor = torch.nn.utils._named_member_accessor.NamedMemberAccessor
    t = Tied(); a = NamedMemberAccessor(t)
    attempt(lambda: a.get_submodule("a")); attempt(lambda: a.get_submodule("z"))
    for name in ("a.weight", "a.zz", "a.training", "buf"): attempt(lambda: a.get_tensor(name))
    print(a.check_keys(["a.weight", "q"]), [n for n, _ in a.named_tensors()])
    before = a.swap_tensor("a.weight", torch.ones(1, 1)); print(before, t.a.weight); a.set_tensor("a.weight", before)
    a.del_tensor("a.weight"); print([*t.a._parameters]); attempt(lambda: a.swap_tensor("a.zz", torch.ones(1)))
    a.swap_tensor("a.zz", torch.ones(1), allow_missing=True); print(t.a.zz, t.a._buffers)
    attempt(lambda: a.set_tensor("buf", 3)); attempt(lambda: a.swap_submodule("a", nn.ReLU())); print(t)
    attempt(lambda: a.swap_tensors_dict({"buf": torch.zeros(1), "no": torch.zeros(1)})); print(t.buf)
    print(a.swap_tensors(["buf"], [torch.zeros(1)]), a.get_tensors(["buf"]))
    attempt(lambda: a.set_tensors(["buf"], []))
"""


def program_of(text: str) -> str:
    return BEGIN + text.replace("\n    ", "\n") if text is not ACCESS else BEGIN + ACCESS


@pytest.mark.parametrize("program", [*PROGRAMS.values(), ACCESS], ids=[*PROGRAMS, "named members"])
def test_a_program_says_the_same(program: str) -> None:
    for library in (retrograd, torch):
        importlib.import_module(f"{library.__name__}.nn.utils._named_member_accessor")
    assert transcript(retrograd, program_of(program)) == transcript(torch, program_of(program))


def test_the_namespace_is_pytorchs() -> None:
    import_module("torch.nn.utils.prune")                # PyTorch does not import this module by itself
    assert [name for name in torch.nn.utils.__all__ if not hasattr(retrograd.nn.utils, name)] == []
    assert [name for name in retrograd.nn.utils.__all__ if not hasattr(torch.nn.utils, name)] == []


FILES = ["clip_grad", "convert_parameters", "fusion", "init", "memory_format", "parametrizations", "parametrize",
         "prune", "spectral_norm", "stateless", "weight_norm"]


# Python 3.14 keeps these in a class that has annotations.
_OF_PYTHON = {"__annotate_func__", "__annotations_cache__"}


@pytest.mark.parametrize("file", FILES)
def test_functions_are_called_alike(file: str) -> None:
    """The names, kinds and defaults of the parameters of what PyTorch's file defines, and of its methods."""
    ours, theirs = (importlib.import_module(f"{library}.nn.utils.{file}") for library in ("retrograd", "torch"))
    for name, value in vars(theirs).items():
        if name[0] == "_" or getattr(value, "__module__", "") != theirs.__name__ or not callable(value):
            continue
        spelled = [[(p.name, p.kind.name, repr(p.default)) for p in inspect.signature(f).parameters.values()]
                   for f in (getattr(ours, name), value)]
        assert spelled[0] == spelled[1], name
        assert getattr(ours, name).__module__ == f"retrograd.nn.utils.{file}"
        for method in {*vars(value)} - _OF_PYTHON if inspect.isclass(value) else ():
            assert hasattr(getattr(ours, name), method), (name, method)
