"""What programs do with hooks: steps of optimizers, Functions with hooks, kept gradients, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "function hooks": """
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(a)
                return a * 2, b * 3
            @staticmethod
            def backward(ctx, g, h):
                print("backward", g, h, torch.is_grad_enabled())
                return g * 2, h * 3
        a = torch.ones(2, requires_grad=True); b = torch.ones(2, requires_grad=True)
        x, y = F.apply(a, b)
        n = x.grad_fn
        n.register_prehook(lambda gs: print("pre", gs))
        n.register_hook(lambda gi, go: print("post", gi, go))
        n.register_hook(lambda gi, go: (gi[0] * 10, None))
        y.register_hook(lambda g: print("y", g)); x.register_hook(lambda g: print("x", g))
        x.retain_grad()
        x.sum().backward(); print(a.grad, b.grad, x.grad)
        x, y = F.apply(a, torch.ones(2))
        x.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
        (x + y).sum().backward()
        print(x.grad_fn.next_functions[1], x.grad_fn.metadata)
        x.grad_fn.metadata["k"] = 1
        print(y.grad_fn.metadata)
    """,
    "hook on ctx": """
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2
            @staticmethod
            def backward(ctx, g):
                ctx.register_hook(lambda gi, go: print("late"))
                return g
        a = torch.ones(2, requires_grad=True)
        F.apply(a).sum().backward()
    """,
    "checkpoint like": """
        w = torch.ones(2, requires_grad=True)
        class C(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * w.detach()
            @staticmethod
            def backward(ctx, g):
                x, = ctx.saved_tensors
                with torch.enable_grad():
                    d = x.detach().requires_grad_()
                    y = d * w
                y.backward(g)
                return d.grad
        x = torch.ones(2, requires_grad=True)
        y = x
        for _ in range(5): y = C.apply(y)
        y.sum().backward()
        print(x.grad, w.grad)
    """,
    "pre hooks vs accumulate of shared": """
        x = torch.ones(2, requires_grad=True)
        calls = []
        x.register_hook(lambda g: calls.append(g.clone()))
        y = x * 2 + x * 3 + x
        y.sum().backward()
        print(calls)
        y = x * 2
        z = y * 3 + y * 4
        y.register_hook(lambda g: calls.append(g))
        z.sum().backward()
        print(calls)
    """,
    "hook keeps sum": """
        x = torch.ones(2, requires_grad=True)
        kept = []
        y = x * 2
        y.register_hook(lambda g: kept.append(g))
        z = (y * 3).sum() + (y * 4).sum() + (y * 5).sum()
        z.backward(retain_graph=True)
        z.backward()
        print(kept, x.grad)
        kept[0].zero_()
        print(x.grad, kept[1])
        x.register_hook(lambda g: kept.append(g))
        x.grad = None
        (x * 2).sum().backward()
        (x * 2).sum().backward()
        print(kept[-2], kept[-1], x.grad)
    """,
    "post accumulate optimizer": """
        p = [torch.ones(2, requires_grad=True) for _ in range(3)]
        opts = {q: torch.optim.SGD([q], 0.1) for q in p}
        def step(q):
            opts[q].step(); opts[q].zero_grad()
        for q in p: q.register_post_accumulate_grad_hook(step)
        (p[0] * p[1] * 2 + p[2]).sum().backward()
        print(p, [q.grad for q in p])
    """,
    "deepcopy and hooks": """
        import copy
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g: print("x"))
        y = copy.deepcopy(x)
        print(y._backward_hooks is None)
        y.sum().backward()
        (x * 1).sum().backward()
        z = x.detach().requires_grad_()
        z.sum().backward()
        attempt(lambda: copy.deepcopy(x * 2))
    """,
    "retain grad details": """
        x = torch.ones(2, requires_grad=True)
        x.retain_grad(); print(x.retains_grad)
        y = x * 2; print(y.retains_grad)
        y.retain_grad(); y.retain_grad(); print(y.retains_grad)
        y.sum().backward(retain_graph=True); y.sum().backward(retain_graph=True); print(y.grad)
        y.grad = None; y.sum().backward(retain_graph=True); print(y.grad)
        y.grad.zero_(); print(y.grad)
        attempt(lambda: torch.ones(2).retain_grad())
        a, b = (x * 1).unbind()
        b.retain_grad(); a.backward(); print(b.grad, a.retains_grad)
        with torch.no_grad(): attempt(lambda: (x * 2).retain_grad())
        v = x[0]; v.retain_grad(); (v * 3).backward(); print(v.grad)
        u = x.view(2); u.retain_grad(); (u * 3).sum().backward(); print(u.grad)
        y = x * 2; y.retain_grad(); y.requires_grad; g = torch.autograd.grad(y.sum(), x); print(y.grad)
        y = x * 2; y.retain_grad()
        y.register_hook(lambda g: None); y.sum().backward(inputs=[x]); print(y.grad)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
