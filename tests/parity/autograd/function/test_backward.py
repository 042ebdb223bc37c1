"""The backward of custom Functions, by program: the same is said with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "what backward returns": """
        import warnings
        x = leaf()
        class Two(Function):
            value = None
            @staticmethod
            def forward(ctx, x, k, y):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                return Two.value
        o = torch.ones(3)
        for other in (torch.ones(3), torch.ones(3, requires_grad=True), 5):
            for value in (
                o,
                None,
                (),
                (o,),
                (o, None),
                (o, None, None),
                (o, None, o),
                (o, o, o),
                (o, None, 3),
                [o, None, o],
                (o, None, None, None),
                (o, None, None, o),
                (o, None, None, 3),
                (torch.ones(2), None, None),
                (torch.ones(3), None, torch.ones(2)),
                (torch.ones(2, 3), None, None),
                (torch.ones(1), None, None),
                (torch.ones(()), None, None),
                (torch.ones(3, 1), None, None),
                (torch.ones(0), None, None),
                (o.double(), None, None),
                (o.long(), None, None),
                (o > 0, None, None),
                (o + 1j, None, None),
                ("s", None, None),
            ):
                Two.value = value
                attempt(lambda: torch.autograd.grad(Two.apply(x, 2, other).sum(), x, allow_unused=True))
                attempt(
                    lambda: torch.autograd.grad(
                        Two.apply(x, 2, other).sum(), x, allow_unused=True, create_graph=True
                    )
                )
        c = torch.tensor([1 + 2j, 3.0])
        z = c.clone().requires_grad_()
        for back in (
            lambda ctx, g: g,
            lambda ctx, g: g.real,
            lambda ctx, g: g * 1j,
            lambda ctx, g: g.abs().double(),
        ):
            y = made(lambda ctx, z: z * 2, back).apply(z)
            attempt(lambda: torch.autograd.grad(y.sum().abs(), z))
            w = torch.ones(2, requires_grad=True)
            y = made(lambda ctx, w: w * (1 + 1j), back).apply(w)
            facts(y)
            attempt(lambda: torch.autograd.grad(y.sum().real, w))
            y = made(lambda ctx, z: z.real, back).apply(z)
            attempt(lambda: torch.autograd.grad(y.sum(), z))
        h = torch.ones(2, dtype=torch.float16, requires_grad=True)
        y = made(lambda ctx, h: h.double(), lambda ctx, g: (print(g.dtype), g)[1]).apply(h)
        facts(y)
        attempt(lambda: torch.autograd.grad(y.sum(), h))
    """,
    "errors inside": """
        x = leaf()
        def boom(*a):
            raise ValueError("mine")
        def boom_after(ctx, x):
            ctx.save_for_backward(x)
            ctx.mark_dirty(x)
            x.mul_(2)
            raise ValueError("mine")
        attempt(lambda: made(boom, boom).apply(x))
        print(torch.is_grad_enabled())
        y = x * 1
        attempt(lambda: made(boom_after, boom).apply(y))
        facts(y, x)
        grads(y, x)
        y = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], boom).apply(x)
        attempt(y.sum().backward)
        print(torch.is_grad_enabled(), y.grad_fn.saved_tensors)
        attempt(y.sum().backward)
        state = []
        def flaky(ctx, g):
            state.append(1)
            if len(state) == 1:
                raise KeyError("first")
            return g * ctx.saved_tensors[0]
        y = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], flaky).apply(x)
        z = y.exp().sum()
        attempt(lambda: y.sum().backward())
        attempt(lambda: y.sum().backward())
        print(x.grad)
        attempt(lambda: y.sum().backward())
        x.grad = None
        y = made(lambda ctx, x: x * 2, boom).apply(x)
        attempt(lambda: (y + x * 3).sum().backward())
        print(x.grad)
        with torch.no_grad():
            attempt(lambda: made(boom, boom).apply(x))
            print(torch.is_grad_enabled())
        def grad_on(ctx, g):
            torch.set_grad_enabled(True)
            return g
        y = made(lambda ctx, x: x * 2, grad_on).apply(x)
        loss = y.sum()
        with torch.no_grad():
            loss.backward()
            print(torch.is_grad_enabled())
        y.sum().backward()
        print(torch.is_grad_enabled())
        import traceback
        try:
            made(lambda ctx, x: x * 2, boom).apply(x).sum().backward()
        except ValueError as e:
            print([f.name for f in traceback.extract_tb(e.__traceback__) if f.filename == "<program>"])
    """,
    "reentrant": """
        x = leaf()
        class Re(Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                with torch.enable_grad():
                    ctx.x = x.detach().requires_grad_()
                    ctx.y = ctx.x * 2 if depth == 0 else Re.apply(ctx.x, depth - 1)
                return ctx.y.detach()
            @staticmethod
            def backward(ctx, g):
                with torch.enable_grad():
                    ctx.y.backward(g)
                return ctx.x.grad, None
        for depth in (0, 1, 5, 60):
            x.grad = None
            Re.apply(x, depth).sum().backward()
            print(x.grad)
        class G(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                with torch.enable_grad():
                    z = x.detach().requires_grad_()
                    (r,) = torch.autograd.grad((z * z).sum(), z)
                print(torch.is_grad_enabled())
                return g * r
        grads(G.apply(x), x)
        class Bad(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                with torch.enable_grad():
                    z = g.detach().requires_grad_()
                    w = made(lambda ctx, z: z * 1, lambda ctx, g: 1 / 0).apply(z)
                    w.sum().backward()
                return g
        attempt(lambda: Bad.apply(x).sum().backward())
        print(torch.is_grad_enabled())
        x.grad = None
        class Leafy(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                with torch.enable_grad():
                    (x * 100).sum().backward()
                return g
        Leafy.apply(x).sum().backward()
        print(x.grad)
    """,
    "hooks on custom nodes": """
        x = leaf()
        F = made(lambda ctx, x, k, y: (x * 2, y * 3), lambda ctx, g, h: (g * 2, None, h * 3))
        y = leaf()
        a, b = F.apply(x, 5, y)
        a.register_hook(lambda g: print("a", g))
        b.grad_fn.register_hook(lambda i, o: print("post", i, o))
        b.grad_fn.register_prehook(lambda o: print("pre", o))
        b.retain_grad()
        (a.sum() + b.sum()).backward()
        print(b.grad, a.grad_fn.next_functions)
        a, b = F.apply(x, 5, y)
        b.grad_fn.register_hook(lambda i, o: (i[1], None))
        grads((a, b), x, y)
        a, b = F.apply(x, 5, torch.ones(3))
        facts(a, b)
        h = a.grad_fn.register_hook(lambda i, o: print("post", i, o))
        grads((a, b), x)
        h.remove()
        grads((a, b), x)
        print(torch.autograd.grad(a.sum(), torch.autograd.graph.get_gradient_edge(a)))
        e = torch.autograd.graph.get_gradient_edge(b)
        print(e.output_nr, e.node is a.grad_fn)
        grads((a,), e)
        grads((a, b), e)
    """,
    "grad modes in backward": """
        x = leaf()
        def back(ctx, g):
            print(torch.is_grad_enabled(), g.requires_grad, ctx.saved_tensors[0].requires_grad)
            return g * ctx.saved_tensors[0]
        F = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], back)
        y = F.apply(x)
        torch.autograd.grad(y.sum(), x, retain_graph=True)
        torch.autograd.grad(y.sum(), x, create_graph=True)
        torch.autograd.grad(y, x, torch.ones(3, requires_grad=True), create_graph=True)
        with torch.no_grad():
            attempt(lambda: torch.autograd.grad(y, x, torch.ones(3), create_graph=True))
    """,
    "unused inputs and wanted": """
        x, y = leaf(), leaf()
        F = made(lambda ctx, x, y: x * y, lambda ctx, g: (print(ctx.needs_input_grad), g, g * 2)[1:])
        z = F.apply(x, y)
        grads(z, x)
        grads(z, y)
        grads(z, z)
        w = z * 2
        grads(w, z, x)
    """,
    "gradcheck": """
        x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        G = made(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], lambda ctx, g: g * 2 * ctx.saved_tensors[0])
        print(torch.autograd.gradcheck(G.apply, (x,)), torch.autograd.gradgradcheck(G.apply, (x,)))
        W = made(lambda ctx, x: x * x, lambda ctx, g: g * 3)
        attempt(lambda: torch.autograd.gradcheck(W.apply, (x,)))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
