"""How gradients are accumulated, shared and assigned, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "accumulate order": """
        for n in (2, 3):
            xs = [torch.ones(1, requires_grad=True) for _ in range(n)]
            order = []
            for i, x in enumerate(xs): x.register_hook(lambda g, i=i: order.append(i))
            torch.cat(xs).sum().backward()
            print(n, order)
            order.clear()
            torch.stack([x * 1 for x in xs]).sum().backward()
            print(n, order)
            order.clear()
            ys = [torch.ones(1, requires_grad=True) * 1 for _ in range(n)]
            a = torch.ones(1, requires_grad=True)
            z = torch.stack([x for x in xs])
            w = (a * 1) + z.sum() + torch.cat(xs).sum()
            w.sum().backward()
            print(n, order)
            order.clear()
            b = torch.ones(1, requires_grad=True)
            b.register_hook(lambda g: order.append("b"))
            y = xs[0] * b
            y.register_hook(lambda g: order.append("y"))
            u = torch.cat([y, xs[1] * 2, *xs])
            u.sum().backward()
            print(n, order)
        a = torch.ones(1, requires_grad=True)
        b = torch.ones(1, requires_grad=True)
        c = torch.ones(1, requires_grad=True)
        order = []
        for n, t in zip("abc", (a, b, c)): t.register_hook(lambda g, n=n: order.append(n))
        torch.addcmul(a, b, c).backward(); print(order); order.clear()
        (a * b).backward(); print(order); order.clear()
        (b * a).backward(); print(order); order.clear()
        (b * a + c).backward(); print(order); order.clear()
        (c + b * a).backward(); print(order); order.clear()
        torch.autograd.backward([a, b, c]); print(order); order.clear()
        torch.autograd.backward([c, b * 1, a, b]); print(order); order.clear()
        torch.lerp(a, b, c).backward(); print(order); order.clear()
        print(torch.autograd.grad(a * b * c, [c, a])); print(order); order.clear()
        torch.nn.functional.linear(torch.ones(1, 1), torch.ones(1, 1, requires_grad=True), a).sum().backward()
        print(order)
        lin = torch.nn.Linear(2, 2)
        for n, p in lin.named_parameters(): p.register_post_accumulate_grad_hook(lambda p, n=n: order.append(n))
        lin(torch.ones(3, 2)).sum().backward(); print(order)
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2))
        order.clear()
        for n, p in net.named_parameters(): p.register_post_accumulate_grad_hook(lambda p, n=n: order.append(n))
        net(torch.ones(3, 2)).sum().backward(); print(order)
    """,
    "grad identity": """
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        g = x.grad; v = g._version; p = g.data_ptr()
        (x * 3).sum().backward()
        print(x.grad is g, g._version - v, g.data_ptr() == p, g)
        (x * 3).sum().backward(create_graph=True)
        print(x.grad is g, x.grad, g, x.grad.requires_grad)
        g2 = x.grad
        (x * 3).sum().backward()
        print(x.grad is g2, x.grad, x.grad.requires_grad)
        x.grad = None
        (x * x).sum().backward(create_graph=True)
        g3 = x.grad
        print(g3.requires_grad, g3)
        attempt(lambda: (x * 3).sum().backward())
        print(x.grad is g3, x.grad.requires_grad, x.grad)
        x.grad = torch.ones(2, requires_grad=True)
        g4 = x.grad
        attempt(lambda: (x * 3).sum().backward())
        print(x.grad is g4, x.grad.requires_grad, x.grad, g4)
        x.grad = torch.ones(2, requires_grad=True) * 1
        g4 = x.grad
        attempt(lambda: (x * 3).sum().backward())
        print(x.grad is g4, x.grad.requires_grad, x.grad, g4)
        x.grad = torch.ones(4)[::2]
        g4 = x.grad
        (x * 3).sum().backward(create_graph=True); print(x.grad is g4, x.grad.stride(), x.grad)
        x.grad = torch.ones(1).expand(2)
        g4 = x.grad
        attempt(lambda: (x * 3).sum().backward()); print(x.grad is g4, x.grad.stride(), x.grad)
        y = torch.ones(2, requires_grad=True)
        x.grad = None
        (x * 3).sum().backward()
        y.grad = x.grad
        (y * 5).sum().backward()
        print(x.grad, y.grad, x.grad is y.grad)
        base = torch.zeros(4)
        x.grad = base[:2]; y.grad = base[1:3]
        (x * 3 + y * 5).sum().backward()
        print(base, x.grad._base is base)
        x.grad = x.detach()
        g = x.grad
        attempt(lambda: (x * 3).sum().backward()); print(x, x.grad is g)
    """,
    "steal": """
        def show(t): return None if t is None else (t.tolist(), t.stride(), t.requires_grad)
        for keep in (True, False):
            x = torch.ones(2, 3, requires_grad=True)
            seen = []
            x.register_hook(lambda g: (seen.append(g.data_ptr()), kept.append(g) if keep else None, None)[2])
            kept = []
            (x * torch.ones(2, 3)).sum().backward()
            print(x.grad.data_ptr() == seen[0], show(x.grad))
            kept.clear()
        x = torch.ones(2, requires_grad=True)
        g = torch.tensor([1., 2.])
        x.backward(g); print(x.grad is g, x.grad.data_ptr() == g.data_ptr())
        x.grad = None
        (x + 0).backward(g); print(x.grad.data_ptr() == g.data_ptr())
        x.grad = None
        x.clone().backward(g); print(x.grad.data_ptr() == g.data_ptr())
        w = torch.ones(2, requires_grad=True)
        x.grad = None
        (x + w).sum().backward(); print(x.grad.data_ptr() == w.grad.data_ptr(), x.grad.stride(), w.grad.stride())
        x.grad = w.grad = None
        (x + w).backward(torch.tensor([1., 2.])); print(x.grad.data_ptr() == w.grad.data_ptr())
        x = torch.ones(3, 2, requires_grad=True)
        x.t().backward(torch.ones(2, 3)); print(show(x.grad))
        x.grad = None
        (x.t() * torch.ones(2, 3)).sum().backward(); print(show(x.grad))
        x = torch.ones(3, 2).t().requires_grad_()
        (x * 2).sum().backward(); print(show(x.grad))
        x = torch.ones(3, 2)[:, :1].requires_grad_()
        (x * 2).sum().backward(); print(show(x.grad))
        x = torch.ones(1).expand(3).requires_grad_()
        (x * 2).sum().backward(); print(show(x.grad))
        x = torch.ones(2, 3, 4).permute(1, 2, 0).requires_grad_()
        (x * 2).sum().backward(); print(show(x.grad))
        x.grad = None
        (x * 2).sum().backward(create_graph=True); print(show(x.grad))
        x = torch.ones(3, 2).t().requires_grad_()
        (x * 2).sum().backward(create_graph=True); print(show(x.grad))
        x = torch.ones(4)[::2].requires_grad_()
        (x * 2).sum().backward(); print(show(x.grad))
        x = torch.ones(3, requires_grad=True)
        x.sum().backward(); print(show(x.grad))
        y = (torch.ones(3, requires_grad=True) * 2); y.retain_grad()
        y.sum().backward(); print(show(y.grad))
        y = (torch.ones(3, requires_grad=True) * 2); y.retain_grad()
        g = torch.ones(3); y.backward(g); print(y.grad is g, y.grad.data_ptr() == g.data_ptr())
        y = (torch.ones(3, requires_grad=True) * 2); y.retain_grad()
        y.sum().backward(retain_graph=True)
        g = y.grad
        y.sum().backward(retain_graph=True)
        print(y.grad is g, g, y.grad, g._version)
        y.sum().backward(create_graph=True); print(y.grad is g, y.grad.requires_grad)
        x = torch.ones(3, requires_grad=True)
        r = torch.autograd.grad(x.sum(), x)[0]; print(show(r))
        g = torch.ones(3)
        r = torch.autograd.grad(x, x, g)[0]; print(r is g, r.data_ptr() == g.data_ptr())
        r = torch.autograd.grad(x * 1, x, g)[0]; print(r is g, r.data_ptr() == g.data_ptr())
        r = torch.autograd.grad(x + 0, x, g)[0]; print(r is g, r.data_ptr() == g.data_ptr())
        r = torch.autograd.grad(x + 0, [x, x], g); print(r[0] is r[1], r[0].data_ptr() == r[1].data_ptr())
        w = torch.ones(3, requires_grad=True)
        r = torch.autograd.grad(x + w, [x, w], g); print(r[0] is r[1], r[0].data_ptr() == r[1].data_ptr())
        g = torch.ones(3, requires_grad=True)
        r = torch.autograd.grad(x + 0, x, g); print(r[0] is g, show(r[0]))
        r = torch.autograd.grad(x + 0, x, g, create_graph=True); print(r[0] is g, show(r[0]))
        x.backward(g); print(x.grad is g, show(x.grad))
        x.grad = None
        x.backward(g, create_graph=True); print(x.grad is g, show(x.grad), x.grad.grad_fn)
        x = torch.ones((), requires_grad=True)
        x.grad = None
        x.backward(); print(show(x.grad))
    """,
    "assign grad": """
        x = torch.ones(2, requires_grad=True)
        def s(v, t=x):
            attempt(lambda: setattr(t, "grad", v)); print(t.grad)
        for v in (torch.ones(2), 3, "a", [1, 2], torch.ones(3), torch.ones(2).double(), torch.ones(2).long(),
            torch.ones(2, dtype=torch.complex64), x, x.detach(), x * 2, torch.ones(2,
                requires_grad=True), None, torch.ones(2, 1), torch.ones(1), torch.ones(()),
                    torch.nn.Parameter(torch.ones(2)), torch.ones(2).half()):
            s(v)
        y = torch.ones(2)
        s(torch.ones(2), y); print(y.requires_grad)
        z = x * 2
        attempt(lambda: setattr(z, "grad", torch.ones(2)))
        attempt(lambda: z.grad)
        z.grad = None
        attempt(lambda: z.grad)
        s(torch.ones(2));
        del x.grad
        print(x.grad)
        del x.grad
        i = torch.ones(2).long()
        s(torch.ones(2).long(), i)
        s(torch.ones(2), i)
        c = torch.ones(2, dtype=torch.complex64, requires_grad=True)
        s(torch.ones(2), c); s(torch.ones(2, dtype=torch.complex64), c)
    """,
    "leaf conditions": """
        x = torch.ones(2, requires_grad=True)
        y = (x * 2).sum()
        x.requires_grad_(False)
        y.backward(); print(x.grad)
        x.requires_grad_()
        y = (x * 2).sum()
        x.requires_grad_(False); x.requires_grad_(True)
        y.backward(); print(x.grad)
        x.grad = None
        y = (x * 2).sum(); x.data = torch.ones(3)
        attempt(y.backward); print(x.grad)
        x = torch.ones(2, requires_grad=True)
        y = (x * 2).sum(); x.data = torch.ones(2).double()
        attempt(y.backward); print(x.grad, x.dtype)
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward(); x.data = torch.ones(3)
    """,
    "mixed dtypes": """
        for a in (torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128):
            for b in (torch.float16, torch.float32, torch.float64, torch.complex64):
                if torch.float16 in (a, b) and (a.is_complex or b.is_complex): continue
                x = torch.ones(2, dtype=a, requires_grad=True); w = torch.ones((), dtype=b, requires_grad=True)
                seen = []
                y = x * w
                y.register_hook(lambda g: seen.append(g.dtype))
                x.register_hook(lambda g: seen.append(g.dtype))
                w.register_hook(lambda g: seen.append(g.dtype))
                attempt(y.abs().sum().backward)
                if a is torch.float16 and b.is_complex or b is torch.float16 and a.is_complex: continue
                print(a, b, y.dtype, seen, x.grad.dtype, w.grad.dtype)
        x = torch.ones(2, requires_grad=True)
        y = x.double().half().to(torch.complex64)
        y.register_hook(lambda g: print(g.dtype))
        y.backward(torch.ones(2, dtype=torch.complex64) * 2j)
        print(x.grad)
        y = x.double(); y.backward(torch.ones(2)); print(x.grad.dtype)
        y = x * 1; attempt(lambda: y.backward(torch.ones(2).double())); print(x.grad.dtype)
        y = x * 1; y.retain_grad(); y.backward(torch.ones(2).double()); print(y.grad.dtype)
        x.grad = None; x.backward(torch.ones(2).double()); print(x.grad)
        x.grad = None; x.backward(torch.ones(2).long()); print(x.grad)
    """,
    "undefined through multi outputs": """
        x = torch.arange(6.).reshape(3, 2).requires_grad_()
        def show(t): print(None if t is None else t.tolist())
        for f in (lambda x: x.unbind()[1], lambda x: x.split(2)[1], lambda x: x.sort(0)[0][0], lambda x: x.max(0)[0],
            lambda x: x.topk(2,
                0)[0][1], lambda x: x.chunk(3)[2], lambda x: x.median(0)[0], lambda x: torch.aminmax(x)[0],
                    lambda x: torch.var_mean(x)[0], lambda x: torch.std_mean(x)[1], lambda x: x.tensor_split(2)[1]):
            x.grad = None
            f(x).sum().backward(); show(x.grad)
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a * 2, b * 3, a + b
            @staticmethod
            def backward(ctx, *gs):
                print([None if g is None else g.tolist() for g in gs]); return gs[0], None
        class U(F):
            @staticmethod
            def forward(ctx, a, b):
                ctx.set_materialize_grads(False)
                return a * 2, b * 3, a + b
        a = torch.ones(2, requires_grad=True); b = torch.ones(2, requires_grad=True)
        for C in (F, U):
            o = C.apply(a, b)
            o[1].sum().backward(); show(a.grad); show(b.grad)
            print(o[0].grad_fn._input_metadata[2].shape)
            attempt(lambda: torch.autograd.grad(C.apply(a, b)[1].sum(), [a, b]))
            attempt(lambda: torch.autograd.grad(C.apply(a, b)[1].sum(), [a, b], allow_unused=True))
            attempt(lambda: torch.autograd.grad(C.apply(a, b)[0].sum(), [a, b], materialize_grads=True))
            o = C.apply(a * 1, b * 1)
            torch.autograd.backward([o[0].sum(), o[2].sum()])
            show(a.grad); show(b.grad)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
