"""Hooks on modules, of all kinds, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "forward hooks": """
        nn = torch.nn
        class M(nn.Module):
            def forward(self, x, y=None, k=1):
                print("forward", x.tolist(), None if y is None else y.tolist(), k)
                return x * k if y is None else x * y
        m = M()
        a = torch.ones(2)
        hs = [m.register_forward_pre_hook(lambda m, args: print("pre1", len(args))),
         m.register_forward_pre_hook(lambda m, args: (args[0] * 2,)),
         m.register_forward_pre_hook(lambda m, args: args[0] + 1),
         m.register_forward_pre_hook(lambda m, args, kw: (args, {**kw, "k": 5}), with_kwargs=True),
         m.register_forward_pre_hook(lambda m, args: print("first"), prepend=True),
         m.register_forward_hook(lambda m, args, out: print("hook", [x.tolist() for x in args], out.tolist())),
         m.register_forward_hook(lambda m, args, kw, out: (print(kw), out * 10)[1], with_kwargs=True),
         m.register_forward_hook(lambda m, args, out: print("prep"), prepend=True)]
        print(m(a)); print(m(a, k=3)); print(m(a, a))
        print(len(m._forward_pre_hooks), len(m._forward_hooks), len(m._forward_pre_hooks_with_kwargs),
            type(m._forward_hooks).__name__)
        for h in hs: h.remove()
        print(len(m._forward_pre_hooks), len(m._forward_hooks), len(m._forward_pre_hooks_with_kwargs),
            len(m._forward_hooks_with_kwargs))
        h = m.register_forward_pre_hook(lambda m, args, kw: 3, with_kwargs=True)
        attempt(lambda: m(a)); h.remove()
        h = m.register_forward_pre_hook(lambda m, args, kw: (args,), with_kwargs=True)
        attempt(lambda: m(a)); h.remove()
        h = m.register_forward_pre_hook(lambda m, args: 3)
        attempt(lambda: m(a)); h.remove()
        def bad(*a): raise ValueError("bad")
        h = m.register_forward_hook(bad)
        h2 = m.register_forward_hook(lambda m, args, out: print("always", out), always_call=True)
        attempt(lambda: m(a)); h.remove()
        attempt(lambda: m(a, 3));
        h3 = m.register_forward_hook(bad, always_call=True)
        attempt(lambda: m(a))
        attempt(lambda: m("x"))
        h2.remove(); h3.remove()
        h4 = m.register_forward_hook(lambda m, args, kw, out: print("always kw", kw, out), always_call=True,
            with_kwargs=True)
        attempt(lambda: m("x", k=7))
        h5 = m.register_forward_pre_hook(bad)
        attempt(lambda: m(a, k=7))
        print(len(m._forward_hooks_always_called))
    """,
    "global hooks": """
        M = torch.nn.modules.module
        nn = torch.nn
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU())
        for p in net.parameters(): p.data.fill_(1.)
        x = torch.ones(1, 2, requires_grad=True)
        h1 = M.register_module_forward_pre_hook(lambda m, a: print("gpre", type(m).__name__))
        h2 = M.register_module_forward_hook(lambda m, a, o: print("gfwd", type(m).__name__, o.tolist()))
        h3 = M.register_module_full_backward_hook(lambda m, gi, go: print("gbwd", type(m).__name__, gi, go))
        h4 = M.register_module_full_backward_pre_hook(lambda m, go: print("gbpre", type(m).__name__, go))
        net[0].register_forward_hook(lambda m, a, o: print("own"))
        net[0].register_forward_pre_hook(lambda m, a: print("ownpre"))
        net[0].register_full_backward_hook(lambda m, gi, go: print("ownb", gi, go))
        y = net(x); y.sum().backward()
        attempt(lambda: M.register_module_backward_hook(print))
        for h in (h1, h2, h3, h4): h.remove()
        net(x).sum().backward()
        h2 = M.register_module_forward_hook(lambda m, a, k, o: print("gfwd", type(m).__name__, k), with_kwargs=True)
        net(x)
        h2.remove()
        h2 = M.register_module_forward_hook(lambda m, a, o: print("galways", type(m).__name__, o is None),
            always_call=True)
        class Bad(nn.Module):
            def forward(self, x): raise ValueError('bad')
        attempt(lambda: nn.Sequential(Bad())(x))
        h2.remove()
        h2 = M.register_module_forward_hook(lambda m, a, o: o * 2)
        print(net(x)); h2.remove(); print(net(x))
    """,
    "full backward": """
        nn = torch.nn
        class M(nn.Module):
            def __init__(self, f): super().__init__(); self.f = f
            def forward(self, *a, **k): return self.f(*a, **k)
        def fmt(v): return None if v is None else (tuple(fmt(i) for i in v) if isinstance(v, tuple) else v.tolist())
        def hooked(f, pre=None, post=None):
            m = M(f)
            m.register_full_backward_pre_hook(lambda m, go: (print("pre", fmt(go)),
                None if pre is None else pre(go))[1])
            m.register_full_backward_hook(lambda m, gi, go: (print("post", fmt(gi), fmt(go)),
                None if post is None else post(gi, go))[1])
            return m
        def x(): return torch.tensor([1.0, 2.0], requires_grad=True)
        def go(m, *args, **kw):
            def run():
                out = m(*args, **kw)
                print(type(out).__name__, [getattr(o, "grad_fn",
                    None).__class__.__name__ for o in (out if isinstance(out, tuple) else (out,))])
                outs = [o.sum() for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o,
                    torch.Tensor) and o.requires_grad]
                if isinstance(out, list): outs = [out[0].sum()]
                if isinstance(out, dict): outs = [out["a"].sum()]
                torch.autograd.backward(outs)
                print([fmt(a.grad) for a in args if isinstance(a, torch.Tensor) and a.is_leaf])
            attempt(run)
        a, b = x(), x()
        go(hooked(lambda x: x * 2), a)
        go(hooked(lambda x: x * 2, pre=lambda go: (go[0] * 3,), post=lambda gi, go: (gi[0] * 5,)), x())
        go(hooked(lambda x, y: (x * 2, y * 3)), x(), x())
        go(hooked(lambda x, y: (x * 2, y * 3)), x(), torch.ones(2))
        go(hooked(lambda x, y: (x * 2, 7)), x(), 5)
        go(hooked(lambda x, y=None: x * y), x(), y=x())
        go(hooked(lambda x: [x * 2]), x())
        go(hooked(lambda x: {"a": x * 2}), x())
        go(hooked(lambda x: x * 2), torch.ones(2))
        w = x()
        go(hooked(lambda x: x * w), torch.ones(2))
        go(hooked(lambda x: x * w, post=lambda gi, go: (None,)), torch.ones(2))
        go(hooked(lambda x: x * w, post=lambda gi, go: (torch.ones(2),)), torch.ones(2))
        go(hooked(lambda x: x * w, post=lambda gi, go: torch.ones(2)), torch.ones(2))
        go(hooked(lambda: w * 2))
        go(hooked(lambda x: x * 2, pre=lambda go: torch.ones(1, 2)), x())
        go(hooked(lambda x: x * 2, pre=lambda go: (go[0], go[0])), x())
        go(hooked(lambda x: x * 2, post=lambda gi, go: gi[0]), x())
        go(hooked(lambda x: x * 2, post=lambda gi, go: torch.ones(1, 2)), x())
        go(hooked(lambda x: x * 2, post=lambda gi, go: (None,)), x())
        go(hooked(lambda x: x * 2, post=lambda gi, go: 3), x())
        go(hooked(lambda x: x * 2, post=lambda gi, go: [gi[0]]), x())
        go(hooked(lambda x, y: x * 2), x(), x())
        go(hooked(lambda x, y: (x * 2, y.detach())), x(), x())
        go(hooked(lambda x: x), x())
        go(hooked(lambda x: (x, x)), x())
        go(hooked(lambda x: x.detach()), x())
        go(hooked(lambda l: l[0] * 2), [x()])
        go(hooked(lambda x: x.unbind()), x())
        import collections
        P = collections.namedtuple("P", "p q")
        go(hooked(lambda x: P(x * 2, x * 3)), x())
        m = hooked(lambda x: x * 2)
        y = m(m(x())); y.sum().backward(); print("twice")
        m = hooked(lambda x: x * x)
        z = x()
        y = m(z)
        g, = torch.autograd.grad(y.sum(), z, create_graph=True)
        print(g)
        g.sum().backward()
        print(z.grad)
        m = hooked(lambda x: x * 2)
        y = m(z); y.sum().backward(retain_graph=True); y.sum().backward()
        with torch.no_grad(): print(m(z).requires_grad)
        z = x(); y = m(z); print(torch.autograd.grad(y.sum(), z))
        y = m(z); print(torch.autograd.grad(y.sum(), y))
    """,
    "in place with backward hooks": """
        nn = torch.nn
        def x(): return torch.tensor([[1.0, -2.0]], requires_grad=True)
        lin = nn.Linear(2, 2)
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
        net[0].register_full_backward_hook(lambda m, gi, go: print("lin", len(gi)))
        attempt(lambda: net(x()).sum().backward())
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
        net[1].register_full_backward_hook(lambda m, gi, go: print("relu", len(gi)))
        attempt(lambda: net(x()).sum().backward())
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
        net[0].register_full_backward_pre_hook(lambda m, go: print("lin", len(go)))
        attempt(lambda: net(x()).sum().backward())
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        net.register_full_backward_hook(lambda m, gi, go: print("net", len(gi)))
        y = net(x())
        attempt(lambda: y.mul_(2))
        attempt(lambda: y.detach_())
        print(y._is_view(), y.grad_fn.name(), y._base is None)
        z = y * 1; z.mul_(2); attempt(lambda: z.sum().backward())
        with torch.no_grad(): y.mul_(2)
    """,
    "old backward hooks": """
        nn = torch.nn
        lin = nn.Linear(2, 2)
        for p in lin.parameters(): p.data.fill_(1.)
        x = torch.ones(1, 2, requires_grad=True)
        h = lin.register_backward_hook(lambda m, gi, go: print("old",
            [None if g is None else tuple(g.shape) for g in gi], go))
        lin(x).sum().backward()
        attempt(lambda: lin.register_full_backward_hook(print))
        h.remove()
        attempt(lambda: lin.register_full_backward_hook(print))
        l2 = nn.Linear(2, 2); l2.register_full_backward_hook(print)
        attempt(lambda: l2.register_backward_hook(print))
        class M(nn.Module):
            def __init__(self, f): super().__init__(); self.f = f
            def forward(self, *a, **k): return self.f(*a, **k)
        def try_(f, *args):
            m = M(f); m.register_backward_hook(lambda m, gi, go: print("old", len(gi), len(go)))
            def run():
                out = m(*args)
                while not isinstance(out, torch.Tensor): out = out["a"] if isinstance(out, dict) else out[0]
                out.sum().backward()
            attempt(run)
        try_(lambda x: x * 2, x)
        try_(lambda x: x * 2 * 3, x * 1)
        try_(lambda x: x * 2, x * 1)
        try_(lambda x: (x * 2, x * 3), x * 1)
        try_(lambda x: [x * 2], x)
        try_(lambda x: {"a": x * 2}, x)
        try_(lambda x, y: x * 2, x, 3)
        try_(lambda x: ([x * 2],), x)
        m = M(lambda x: x * 2); m.register_backward_hook(lambda m, gi, go: (gi[0] * 100, None))
        x.grad = None; m(x).sum().backward(); print(x.grad)
        y = m(x); del m
        attempt(lambda: y.sum().backward())
    """,
    "module lifetimes and copies": """
        import copy, gc, weakref
        nn = torch.nn
        gc.disable()
        lin = nn.Linear(2, 2)
        def hook(m, a, o): print("hook")
        lin.register_forward_hook(hook)
        l2 = copy.deepcopy(lin)
        l2(torch.ones(1, 2))
        print(len(l2._forward_hooks))
        lin.register_full_backward_hook(lambda m, gi, go: None)
        x = torch.ones(1, 2, requires_grad=True)
        y = lin(x)
        r = weakref.ref(lin)
        del lin
        print(r() is None)
        y.sum().backward()
        del y
        print(r() is None)
        gc.enable()
        print(sorted(k for k in vars(nn.Linear(1, 1)) if "hook" in k and "state_dict" not in k))
        o = torch.optim.SGD([x], 0.1)
        h = o.register_step_pre_hook(lambda o, a, k: print("pre step"))
        h2 = o.register_step_post_hook(lambda o, a, k: print("post step"))
        o.step(); h.remove(); o.step()
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
