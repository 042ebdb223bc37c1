"""What custom Functions save, by program: the same is said with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "saved kinds": """
        def go(save, back=lambda ctx, g: (facts(*[s for s in ctx.saved_tensors if s is not None]), g)[1], x=None):
            def program():
                y = leaf() * 1 if x is None else x
                def fwd(ctx, x):
                    out = x * 2
                    save(ctx, x, out)
                    return out
                out = made(fwd, back).apply(y)
                facts(out)
                print(len(out.grad_fn.saved_tensors) if out.grad_fn else None)
                if out.grad_fn and out.grad_fn.saved_tensors:
                    s = out.grad_fn.saved_tensors
                    print(
                        [t is y for t in s],
                        [t is out for t in s],
                        [a is b for a, b in zip(s, out.grad_fn.saved_tensors)],
                    )
                if out.requires_grad:
                    out.sum().backward(retain_graph=True)
                    out.sum().backward()
                    attempt(lambda: out.grad_fn.saved_tensors)
                    attempt(out.sum().backward)
            attempt(program)
        go(lambda ctx, x, out: ctx.save_for_backward(x))
        go(lambda ctx, x, out: ctx.save_for_backward(x), x=leaf())
        go(lambda ctx, x, out: ctx.save_for_backward(x, x, x))
        go(lambda ctx, x, out: ctx.save_for_backward(out, x, out))
        go(lambda ctx, x, out: ctx.save_for_backward(x * 5))
        go(lambda ctx, x, out: ctx.save_for_backward(None))
        go(lambda ctx, x, out: ctx.save_for_backward())
        go(lambda ctx, x, out: None)
        go(lambda ctx, x, out: (ctx.save_for_backward(x), ctx.save_for_backward(out)))
        go(lambda ctx, x, out: (ctx.save_for_backward(x), ctx.save_for_backward()))
        go(lambda ctx, x, out: ctx.save_for_backward(3))
        go(lambda ctx, x, out: ctx.save_for_backward([x]))
        go(lambda ctx, x, out: ctx.save_for_backward((x, out)))
        go(lambda ctx, x, out: ctx.save_for_backward(x, "s"))
        go(lambda ctx, x, out: ctx.save_for_backward(x.view(-1), out.view(-1), x.detach()))
        go(lambda ctx, x, out: ctx.save_for_backward(3), x=torch.ones(3))
        go(lambda ctx, x, out: ctx.save_for_forward(x))
        go(lambda ctx, x, out: ctx.save_for_forward(3))
        go(lambda ctx, x, out: ctx.save_for_forward(None))
        go(lambda ctx, x, out: (ctx.save_for_backward(x), ctx.save_for_forward(out)))
        go(lambda ctx, x, out: ctx.save_for_backward(torch.tensor([1, 2]), x > 1))
        go(lambda ctx, x, out: ctx.save_for_backward(torch.nn.Parameter(torch.ones(2))))
    """,
    "saved then modified": """
        def go(save, change, x=None):
            def program():
                x = leaf()
                y = x * 1
                def fwd(ctx, y):
                    out = y * 2
                    ctx.m = y * 5
                    save(ctx, y, out)
                    return out
                out = made(fwd, lambda ctx, g: (print(len(ctx.saved_tensors)), g)[1]).apply(y)
                change(x, y, out)
                try:
                    out.sum().backward()
                except RuntimeError as e:
                    print(str(e).split(" Hint")[0])
            attempt(program)
        go(lambda ctx, y, out: ctx.save_for_backward(y), lambda x, y, out: y.mul_(2))
        go(lambda ctx, y, out: ctx.save_for_backward(y), lambda x, y, out: y.zero_().add_(x))
        go(lambda ctx, y, out: ctx.save_for_backward(out), lambda x, y, out: out.mul_(2))
        go(lambda ctx, y, out: ctx.save_for_backward(out), lambda x, y, out: out.detach().mul_(2))
        go(lambda ctx, y, out: ctx.save_for_backward(out), lambda x, y, out: out.data.mul_(2))
        go(lambda ctx, y, out: ctx.save_for_backward(ctx.m), lambda x, y, out: out.grad_fn.m.mul_(2))
        go(lambda ctx, y, out: ctx.save_for_backward(y), lambda x, y, out: x.data.mul_(2))
        def nograd(x, y, out):
            with torch.no_grad():
                y.mul_(2)
        go(lambda ctx, y, out: ctx.save_for_backward(y), nograd)
        go(lambda ctx, y, out: (ctx.save_for_backward(y), y.mul_(1)), lambda x, y, out: None)
        x = leaf()
        y = made(
            lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: g * ctx.saved_tensors[0]
        ).apply(x)
        with torch.no_grad():
            x.add_(1)
        attempt(lambda: y.sum().backward())
        attempt(lambda: y.grad_fn.saved_tensors)
        a, b = made(
            lambda ctx, x: (lambda p, q: (ctx.save_for_backward(p, q), (p, q))[1])(x * 2, x * 3),
            lambda ctx, g, h: (ctx.saved_tensors, g)[1],
        ).apply(x)
        b.mul_(2)
        try:
            b.sum().backward()
        except RuntimeError as e:
            print(str(e).split(" Hint")[0])
        d = torch.ones(3, dtype=torch.float64)
        y = made(
            lambda ctx, x: (ctx.save_for_backward(d), x * 2)[1], lambda ctx, g: g * ctx.saved_tensors[0]
        ).apply(x)
        d.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as e:
            print(str(e).split(" Hint")[0])
    """,
    "double backward through saved": """
        class Cube(Function):
            @staticmethod
            def forward(ctx, x):
                y = x**3
                ctx.save_for_backward(x, y)
                return y
            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                facts(x, y)
                return g * 3 * y / x
        x = leaf()
        y = Cube.apply(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        facts(g)
        (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        facts(h)
        class Inter(Function):
            @staticmethod
            def forward(ctx, x):
                m = x * 2
                ctx.save_for_backward(m)
                return m * x, m
            @staticmethod
            def backward(ctx, g, gm):
                (m,) = ctx.saved_tensors
                return g * 2 * m + gm * 2
        y, m = Inter.apply(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        facts(g)
        grads(g, x)
        class Inner(Function):
            @staticmethod
            def forward(ctx, x):
                m = x * 2
                ctx.save_for_backward(m)
                return m * x
            @staticmethod
            def backward(ctx, g):
                (m,) = ctx.saved_tensors
                return g * 2 * m
        y = Inner.apply(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        facts(g)
        attempt(lambda: grads(g, x))
        v = torch.ones(3, requires_grad=True)
        (g,) = torch.autograd.grad(Cube.apply(x), x, v, create_graph=True)
        grads(g, x, v)
    """,
    "integer and empty": """
        i = torch.arange(3)
        y = made(lambda ctx, i, x: x * i, lambda ctx, g: (g, g * 2)).apply(i, leaf())
        attempt(lambda: y.sum().backward())
        y = made(lambda ctx, i: i * 2, lambda ctx, g: g).apply(i)
        facts(y)
        e = torch.ones(0, requires_grad=True)
        y = made(lambda ctx, e: (e * 2, e.sum()), lambda ctx, g, h: (print(g, h), g)[1]).apply(e)
        facts(*y)
        grads(y[1], e)
        s = torch.tensor(2.0, requires_grad=True)
        y = made(lambda ctx, s: s * 2, lambda ctx, g: torch.ones(1)).apply(s)
        attempt(lambda: torch.autograd.grad(y, s))
        y = made(lambda ctx, s: s * 2, lambda ctx, g: torch.ones(2, 2)).apply(s)
        attempt(lambda: torch.autograd.grad(y, s))
        y = made(lambda ctx, s: 2.5, lambda ctx, g: g).apply(s)
        print(y)
        y = made(lambda ctx, s: (s.long(), s > 1, s * 2), lambda ctx, *g: (print(g), g[2])[1]).apply(s)
        facts(*y)
        grads(y[2], s)
        y = made(
            lambda ctx, s: (ctx.set_materialize_grads(False), (s.long(), s > 1, s * 2, s * 3, None))[1],
            lambda ctx, *g: (print(g), g[2])[1],
        ).apply(s)
        grads(y[2], s)
        grads(y[3], s)
    """,
    "materialize": """
        x = leaf()
        for on in (True, False):
            for nondiff in (True, False):
                def fwd(ctx, x):
                    ctx.set_materialize_grads(on)
                    out = x * 2, x[0:1] * 3, torch.ones(2, dtype=torch.float64), 5
                    if nondiff:
                        ctx.mark_non_differentiable(out[1])
                    return out
                out = made(fwd, lambda ctx, *g: (print(g), g[0])[1]).apply(x)
                facts(*out)
                grads(out[0], x)
                attempt(lambda: grads(out[1], x))
                grads(out[2], x)
        def fwd(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2
        y = made(fwd, lambda ctx, g: (print(g), g)[1]).apply(x)
        z = made(lambda ctx, y: y * 2, lambda ctx, g: None).apply(y)
        grads(z, x)
        y = made(lambda ctx, x: x * 2, lambda ctx, g: (print(g), g)[1]).apply(x)
        z = made(lambda ctx, y: y * 2, lambda ctx, g: None).apply(y)
        grads(z, x)
        z.sum().backward()
        print(x.grad)
        w = x * 2
        z = made(lambda ctx, y: y * 2, lambda ctx, g: None).apply(w)
        grads(z, x)
        y = made(
            lambda ctx, x: (x * 2, x * 3),
            lambda ctx, g, h: (print(g.requires_grad, h.requires_grad, h.grad_fn), g)[1],
        ).apply(x)
        torch.autograd.grad(y[0].sum(), x, create_graph=True)
    """,
    "once differentiable": """
        once = torch.autograd.function.once_differentiable
        x = leaf()
        def go(back, n=1):
            def program():
                F = made(
                    lambda ctx, x: (ctx.save_for_backward(x), x * x)[1] if n == 1 else (x * x, x * 2), once(back)
                )
                y = F.apply(x)
                loss = y.sum() if n == 1 else (y[0] * y[1]).sum()
                print(torch.autograd.grad(loss, x, retain_graph=True, allow_unused=True))
                (g,) = torch.autograd.grad(loss, x, create_graph=True, allow_unused=True)
                facts(g)
                (g2,) = torch.autograd.grad((loss**2), x, create_graph=True, allow_unused=True)
                facts(g2)
                attempt(lambda: torch.autograd.grad(g2.sum(), x))
                attempt(lambda: g2.sum().backward())
            attempt(program)
        go(lambda ctx, g: (print(torch.is_grad_enabled(), g.requires_grad), 2 * g * ctx.saved_tensors[0])[1])
        go(lambda ctx, g, h: g, 2)
        go(lambda ctx, g: None)
        go(lambda ctx, g: (g, None))
        go(lambda ctx, g: (g,))
        go(lambda ctx, g: [g])
        go(lambda ctx, g: 3)
        go(lambda ctx, g: g.long())
        print(once(lambda ctx, g: g).__name__)
        class K(Function):
            @staticmethod
            def forward(ctx, x, k):
                return x * k
            @staticmethod
            @once
            def backward(ctx, g):
                return g * 2, None
        v = torch.ones(3, requires_grad=True)
        (g,) = torch.autograd.grad(K.apply(x, 3), x, v, create_graph=True)
        facts(g)
        attempt(lambda: torch.autograd.grad(g.sum(), v))
        class Two(Function):
            @staticmethod
            def forward(ctx, x, k):
                return x * k
            @staticmethod
            @once
            def backward(ctx, g):
                return g * 2, g * 3
        k = leaf()
        ga, gb = torch.autograd.grad(Two.apply(x, k), (x, k), v, create_graph=True)
        facts(ga, gb)
        attempt(lambda: torch.autograd.grad(ga.sum(), v))
        attempt(lambda: torch.autograd.grad(gb.sum(), v))
        attempt(lambda: gb.sum().backward())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
