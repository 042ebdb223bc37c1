"""Custom Functions that write to their inputs, by program: the same is said with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "dirty basics": """
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)
            @staticmethod
            def backward(ctx, g):
                print("back", g)
                return g * 2
        for make in (
            lambda: leaf(),
            lambda: leaf() * 1,
            lambda: torch.ones(3),
            lambda: (leaf() * 1)[0:2],
            lambda: leaf()[0:2],
            lambda: (leaf() * 1).unbind()[1],
            lambda: torch.ones(3)[0:2],
            lambda: (leaf() * 1).view(-1)[1:].view(-1),
            lambda: leaf().detach(),
            lambda: (leaf() * 1).detach()[0:2],
            lambda: torch.arange(3),
            lambda: (leaf() * 1).chunk(2)[0],
            lambda: (leaf() * 1).expand(2, 3),
            lambda: torch.ones(()),
        ):
            print("-----")
            def go():
                x = make()
                base = x._base
                facts(x)
                z = Double.apply(x)
                print(z is x, "base", base is None or base is z._base)
                facts(z)
                if base is not None:
                    facts(base)
                z = Double.apply(z)
                facts(z)
                if base is not None:
                    facts(base)
                if z.requires_grad:
                    w = z * 1
                    w.sum().backward()
            attempt(go)
        with torch.no_grad():
            x = leaf()
            z = Double.apply(x)
            print(z is x)
            facts(z)
            v = leaf()[0:2]
            z = Double.apply(v)
            print(z is v)
            facts(z)
        attempt(lambda: facts(Double.apply(z)))
        with torch.no_grad():
            v = (leaf() * 1)[0:2]
        attempt(lambda: facts(Double.apply(v)))
        v = (leaf() * 1)[0:2]
        with torch.no_grad():
            Double.apply(v)
        facts(v)
    """,
    "dirty values": """
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)
            @staticmethod
            def backward(ctx, g):
                return g * 2
        x = leaf()
        y = x * 1
        a, b = y[0:2], y[1:3]
        Double.apply(a)
        facts(a, b, y)
        Double.apply(b)
        facts(a, b, y)
        grads((a, b, y), x)
        y = x * 1
        Double.apply(Double.apply(y))
        grads(y, x)
        y = x * 1
        v = y.view(3, 1)
        Double.apply(y)
        facts(v, y)
        grads((v,), x)
        m = torch.ones(2, 3, requires_grad=True)
        y = m * 1
        Double.apply(y.t()[1])
        facts(y)
        grads(y, m)
        Double.apply(y.select(0, 1).view(-1)[0:2])
        facts(y)
        (g,) = torch.autograd.grad((y * y).sum(), m, create_graph=True)
        print(g)
        y = m * 1
        attempt(lambda: Double.apply(y.unbind()[0]))
        facts(y)
        r = torch.ones(3)
        Double.apply(r[0:2])
        facts(r)
        class AddIn(Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.mark_dirty(x)
                x.add_(y * 3)
                return x
            @staticmethod
            def backward(ctx, g):
                print(ctx.needs_input_grad)
                return g, g * 3
        r = torch.ones(3)
        AddIn.apply(r, x)
        facts(r)
        grads(r, x)
        r = torch.ones(3)
        v = r[0:2]
        AddIn.apply(v, x[0:2])
        facts(v, r)
        grads(r, x)
        grads(v, x)
        r = x * 1
        v = r[0:2]
        AddIn.apply(v, torch.ones(2))
        facts(v, r)
        grads((r,), x)
        class AddInSecond(Function):
            @staticmethod
            def forward(ctx, y, x):
                ctx.mark_dirty(x)
                x.add_(y * 3)
                return x
            @staticmethod
            def backward(ctx, g):
                return g * 3, g
        r = x * 1
        AddInSecond.apply(x, r)
        facts(r)
        grads(r, x)
        r = x * 1
        v = r[0:2]
        AddInSecond.apply(x[1:3], v)
        facts(v)
        facts(r)
        attempt(lambda: grads(r, x))
    """,
    "dirty misuse": """
        x = leaf()
        def run(f, back=lambda ctx, *g: g[0], *args):
            def go():
                y = x * 1
                out = made(f, back).apply(y, *args)
                facts(y, *(out if isinstance(out, tuple) else (out,)))
                grads(out, x)
            attempt(go)
            print(torch.is_grad_enabled())
        run(lambda ctx, y: (ctx.mark_dirty(y), y.mul_(2), y * 1)[2])
        run(lambda ctx, y: (ctx.mark_dirty(y), y)[1])
        run(lambda ctx, y: (ctx.mark_dirty(y), (y, y))[1])
        run(lambda ctx, y: (ctx.mark_dirty(y, y), y)[1])
        run(lambda ctx, y: (ctx.mark_dirty(y), (y, y * 2))[1])
        run(lambda ctx, y: (ctx.mark_dirty(y), y.view(-1))[1])
        run(lambda ctx, y: (ctx.mark_dirty(y), ctx.mark_non_differentiable(y), y)[2])
        run(lambda ctx, y: (lambda z: (ctx.mark_dirty(z), z)[1])(y * 2))
        run(lambda ctx, y: (lambda z: (ctx.mark_dirty(z), z)[1])(y[0:2]))
        run(lambda ctx, y: (ctx.mark_non_differentiable(y), y)[1])
        run(lambda ctx, y: (ctx.mark_dirty(y), 3)[1])
        run(lambda ctx, y: (y.mul_(2), y)[1])
        run(lambda ctx, y: (y.mul_(2), y * 1)[1])
        run(
            lambda ctx, y, z: (ctx.mark_dirty(y, z), y.mul_(2), z.mul_(3), (y, z))[3],
            lambda ctx, g, h: (g * 2, h * 3),
            torch.ones(3),
        )
        run(
            lambda ctx, y, z: (ctx.mark_dirty(y, z), y.mul_(2), z.mul_(3), (z, y))[3],
            lambda ctx, g, h: (h * 2, g * 3),
            torch.ones(3),
        )
        def view(ctx, y):
            ctx.mark_dirty(y)
            y.mul_(2)
            return y, y * 1
        def go():
            y = (x * 1)[0:2]
            out = made(view, lambda ctx, g, h: g).apply(y)
        attempt(go)
        attempt(lambda: made(view, lambda ctx, g, h: g).apply(torch.ones(3)[0:2]))
        attempt(lambda: made(view, lambda ctx, g, h: g).apply(torch.ones(3)))
        def two(ctx, a, b):
            ctx.mark_dirty(a)
            return a.mul_(b)
        y = x * 1
        attempt(lambda: facts(made(two, lambda ctx, g: (g, g)).apply(y, y)))
        y = x * 1
        attempt(lambda: facts(made(two, lambda ctx, g: (g, g)).apply(y[0:2], y[1:3])))
        facts(y)
    """,
    "dirty with save": """
        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(x)
                ctx.mark_dirty(x)
                ctx.save_for_backward(x)
                return x
            @staticmethod
            def backward(ctx, g):
                (y,) = ctx.saved_tensors
                facts(y)
                return g * y
        x = leaf()
        y = x * 1
        Exp.apply(y)
        grads(y, x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        facts(g)
        grads(g, x)
        y = x * 1
        v = y[0:2]
        Exp.apply(v)
        attempt(lambda: grads(y, x))
        y = x * 1
        Exp.apply(y)
        y.mul_(2)
        attempt(lambda: grads(y, x))
    """,
    "copy slices through functions": """
        x = leaf()
        def dirty(back):
            def fwd(ctx, v):
                ctx.mark_dirty(v)
                return v.mul_(2)
            return made(fwd, back)
        for back in (
            lambda ctx, g: None,
            lambda ctx, g: (None,),
            lambda ctx, g: torch.ones(3, 2),
            lambda ctx, g: torch.ones(3),
            lambda ctx, g: torch.ones(1),
            lambda ctx, g: torch.ones(()),
            lambda ctx, g: g.double(),
            lambda ctx, g: (g, g),
            lambda ctx, g: (g, None),
            lambda ctx, g: 3,
            lambda ctx, g: (print(g, g.is_contiguous()), g * 7)[1],
        ):
            y = x * 1
            dirty(back).apply(y[0:2])
            grads(y, x)
        y = x * 1
        D = dirty(lambda ctx, g: g * g)
        D.apply(y[0:2])
        (g,) = torch.autograd.grad(y, x, torch.ones(3, requires_grad=True), create_graph=True)
        print(g)
        y = x * 1
        D.apply(y[0:2])
        y.sum().backward()
        attempt(lambda: y.sum().backward())
        y = x * 1
        v = y[0:2]
        D.apply(v)
        v.mul_(3)
        D.apply(v)
        y.add_(1)
        facts(y, v)
        grads(y, x)
        grads(v, x)
        y = x * 1
        p, q, r = y.unbind()
        attempt(lambda: D.apply(p))
        facts(y)
        attempt(lambda: facts(q))
        y = x * 1
        h = []
        y.register_hook(lambda g: h.append(g.tolist()))
        D2 = dirty(lambda ctx, g: g * 5)
        D2.apply(y)
        y.register_hook(lambda g: h.append(g.tolist()))
        y.sum().backward()
        print(h)
        y = x * 1
        y.retain_grad()
        D2.apply(y)
        y.sum().backward()
        print(y.grad, y.retains_grad)
        y = x * 1
        y.retain_grad()
        D2.apply(y[0:2])
        y.sum().backward()
        print(y.grad)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
