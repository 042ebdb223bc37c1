"""Gradients on their way through custom Functions, by program: the same is said as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "gradients do not alias": """
        x, y = leaf(), leaf()
        F = made(lambda ctx, x, y: x * y, lambda ctx, g: (g, g))
        F.apply(x, y).backward(torch.ones(3))
        x.grad.add_(1)
        print(x.grad, y.grad)
        one = torch.ones(3)
        x, y = leaf(), leaf()
        F.apply(x, y).backward(one)
        x.grad.add_(1)
        print(x.grad, y.grad, one)
        S = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: ctx.saved_tensors[0])
        x = leaf()
        S.apply(x).sum().backward()
        x.grad.add_(10)
        print(x, x.grad, x.grad.requires_grad)
        def keep(ctx, g):
            ctx.kept = g * 3
            return ctx.kept
        x = leaf()
        y = made(lambda ctx, x: x * 2, keep).apply(x)
        y.sum().backward()
        x.grad.add_(10)
        print(x.grad, y.grad_fn.kept)
        x = leaf()
        y = made(lambda ctx, x: x * 2, lambda ctx, g: torch.ones(1).expand(3)).apply(x)
        y.sum().backward()
        x.grad.add_(1)
        print(x.grad, x.grad.stride())
        m = torch.ones(2, 3, requires_grad=True)
        y = made(lambda ctx, x: x * 2, lambda ctx, g: torch.arange(6.0).view(3, 2).t()).apply(m)
        y.sum().backward()
        print(m.grad, m.grad.stride())
    """,
    "cotangents": """
        x = leaf()
        def back(ctx, g):
            print(g, g.stride(), g.is_contiguous(), g.requires_grad, g.is_leaf, g._version)
            return g
        F = made(lambda ctx, x: x * 2, back)
        F.apply(x).sum().backward()
        F.apply(x)[0].backward()
        F.apply(x).backward(torch.ones(3))
        (F.apply(x) * 2).backward(torch.ones(3))
        y = F.apply(x)
        (y + y).backward(torch.ones(3))
        F.apply(F.apply(x)).backward(torch.ones(3))
        def inplace(ctx, g):
            return g.mul_(2)
        I = made(lambda ctx, x: x * 2, inplace)
        one = torch.ones(3)
        x = leaf()
        I.apply(x).backward(one)
        print(one, x.grad)
        attempt(lambda: I.apply(x).sum().backward())
        x = leaf()
        (I.apply(x) * 3).backward(torch.ones(3))
        print(x.grad)
    """,
    "aliases of apply": """
        import functools
        cube = made(lambda ctx, x, k: x**k, lambda ctx, g: (g * 3, None)).apply
        x = leaf()
        grads(cube(x, 3), x)
        grads(functools.partial(cube, k=3)(x) if False else functools.partial(cube, x)(3), x)
        class M(torch.nn.Module):
            def forward(self, x):
                return cube(x, 2)
        grads(M()(x), x)
        class NG(Function):
            @staticmethod
            @torch.no_grad()
            def forward(ctx, x):
                return x * 2
            @staticmethod
            @torch.enable_grad()
            def backward(ctx, g):
                print(torch.is_grad_enabled())
                return g
        grads(NG.apply(x), x)
    """,
    "backward with inputs": """
        x, y = leaf(), leaf()
        F = made(lambda ctx, x, y: x * y, lambda ctx, g: (print(ctx.needs_input_grad), g, g * 2)[1:])
        z = F.apply(x * 1, y)
        z.sum().backward(inputs=[y])
        print(x.grad, y.grad)
        m = x * 1
        z = F.apply(m, y)
        z.sum().backward(inputs=[m])
        print(m.grad, x.grad, y.grad)
        z = F.apply(x, x)
        z.sum().backward()
        print(x.grad)
        a = made(lambda ctx, x: x * 2, lambda ctx, g: (print("a"), g)[1]).apply(x)
        b = made(lambda ctx, x: x * 2, lambda ctx, g: (print("b"), g)[1]).apply(x)
        c = made(lambda ctx, a, b: a * b, lambda ctx, g: (print("c"), None, g)[1:]).apply(a, b)
        c.sum().backward()
        print(x.grad)
        c = made(lambda ctx, a, b: a * b, lambda ctx, g: (print("c"), None, None)[1:]).apply(a, b)
        x.grad = None
        attempt(lambda: c.sum().backward())
        print(x.grad)
    """,
    "undefined gradients pass through": """
        x = leaf()
        def show(name):
            return lambda ctx, *g: (print(name, g), g[0])[1]
        def quiet(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2
        a = made(quiet, show("a")).apply(x)
        b = a * 3
        c = made(quiet, lambda ctx, g: None).apply(b)
        grads(c, x)
        grads(c, a)
        c = made(lambda ctx, b: b * 2, lambda ctx, g: None).apply(a)
        grads(c, x)
        c.sum().backward()
        print(x.grad)
        x.register_hook(lambda g: print("leaf", g))
        a = made(quiet, lambda ctx, g: None).apply(x)
        attempt(lambda: a.sum().backward())
        print(x.grad)
        y = leaf()
        w = made(quiet, lambda ctx, g: None).apply(y)
        w.sum().backward()
        print(y.grad)
    """,
    "threads": """
        import threading
        x = leaf()
        S = made(
            lambda ctx, x, k: (ctx.save_for_backward(x), x * k)[1], lambda ctx, g: (g * ctx.saved_tensors[0], None)
        )
        y = S.apply(x, 2)
        seen = []
        def work():
            seen.append(torch.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist())
        ts = [threading.Thread(target=work) for _ in range(4)]
        for t in ts:
            t.start()
        for t in ts:
            t.join()
        print(seen)
    """,
    "complex and mixed": """
        z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        class CMul(Function):
            @staticmethod
            def forward(ctx, z, w):
                ctx.save_for_backward(z, w)
                return z * w
            @staticmethod
            def backward(ctx, g):
                z, w = ctx.saved_tensors
                return g * w.conj(), (g * z.conj()).real
        w = torch.tensor([2.0, 5.0], requires_grad=True)
        y = CMul.apply(z, w)
        facts(y)
        print(torch.autograd.grad(y.abs().sum(), (z, w)))
        h = torch.ones(2, dtype=torch.float64, requires_grad=True)
        y = CMul.apply(z, h)
        facts(y)
        print(torch.autograd.grad(y.abs().sum(), (z, h)))
        y = made(
            lambda ctx, w, h: (w.double() * h, w.half()), lambda ctx, g, k: (print(g.dtype, k.dtype), g, g)[1:]
        ).apply(w, h)
        facts(*y)
        print(torch.autograd.grad(y[0].sum() + y[1].double().sum(), (w, h)))
    """,
    "twice through the same": """
        x = leaf()
        class Sq(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return Sq2.apply(g, x)
        class Sq2(Function):
            @staticmethod
            def forward(ctx, g, x):
                ctx.save_for_backward(g, x)
                return g * 2 * x
            @staticmethod
            def backward(ctx, gg):
                g, x = ctx.saved_tensors
                return gg * 2 * x, gg * 2 * g
        y = Sq.apply(Sq.apply(x))
        g = y
        for _ in range(4):
            (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
            facts(g)
    """,
    "deep reentrancy": """
        class Deep(Function):
            @staticmethod
            def forward(ctx, x):
                with torch.enable_grad():
                    ctx.x = x.detach().requires_grad_() - 1
                return ctx.x.detach()
            @staticmethod
            def backward(ctx, g):
                if ctx.x < 0:
                    return g
                with torch.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
                return g
        for depth in (10.0, 300.0, 2000.0):
            v = torch.tensor(depth, requires_grad=True)
            Deep.apply(v).sum().backward()
            print(v.grad, torch.is_grad_enabled())
        class Failing(Function):
            @staticmethod
            def forward(ctx, x):
                with torch.enable_grad():
                    ctx.x = x.detach().requires_grad_() - 1
                return ctx.x.detach()
            @staticmethod
            def backward(ctx, g):
                if ctx.x < 0:
                    raise ValueError("at the bottom")
                with torch.enable_grad():
                    Failing.apply(ctx.x).sum().backward()
                return g
        attempt(lambda: Failing.apply(torch.tensor(200.0, requires_grad=True)).sum().backward())
        print(torch.is_grad_enabled())
    """,
    "deep through hooks": """
        def again(depth):
            with torch.enable_grad():
                deeper(depth)
        def deeper(depth):
            x = torch.tensor(1.0, requires_grad=True)
            y = x * 2
            if depth:
                y.register_hook(lambda g: again(depth - 1))
            y.backward()
            return x.grad
        print(deeper(300))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
