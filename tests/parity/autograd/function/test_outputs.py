"""Outputs of custom Functions that are inputs, views or written to, by program: the same is said as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "inputs returned": """
        for f in (
            lambda x: x,
            lambda x: (x,),
            lambda x: (x, x),
            lambda x: (x, x * 2),
            lambda x: x.view(-1),
            lambda x: x[0:2],
            lambda x: x.detach(),
            lambda x: x.data,
            lambda x: (x * 2)[0:2],
            lambda x: (x.view(-1), x.view(-1)),
            lambda x: (x[0:1], x[1:3]),
            lambda x: x.unbind(),
            lambda x: (x * 2).unbind(),
            lambda x: x.expand(2, 3),
            lambda x: x.view_as(x),
            lambda x: x.unbind()[0],
            lambda x: (lambda y: (y, y))(x * 2),
            lambda x: (lambda y: (y, y[0:2]))(x * 2),
            lambda x: (lambda y: (y[0:2], y))(x * 2),
        ):
            for make in (
                lambda: leaf(),
                lambda: leaf() * 2,
                lambda: (leaf() * 2)[0:3],
                lambda: torch.tensor([1.0, 2.0, 3.0]),
                lambda: leaf()[0:3],
                lambda: torch.arange(3),
            ):
                for mark in (False, True):
                    def forward(ctx, x):
                        out = f(x)
                        if mark:
                            ctx.mark_non_differentiable(*(out if isinstance(out, tuple) else (out,)))
                        return out
                    x = make()
                    out = made(forward, lambda ctx, *g: sum([h.sum() for h in g]) * torch.ones(3)).apply(x)
                    outs = out if isinstance(out, tuple) else (out,)
                    print("-----", f.__code__.co_firstlineno, mark, [o is x for o in outs])
                    facts(x, *outs)
                    attempt(lambda: grads(out, x))
                    for o in outs:
                        attempt(lambda: o.mul_(2) is o)
                    facts(x, *outs)
                    attempt(lambda: grads(out, x))
    """,
    "input written after returned as is": """
        for f in (lambda x: x, lambda x: x[0:2], lambda x: (x, x * 1)):
            for mode in (torch.enable_grad, torch.no_grad):
                x = leaf() * 1
                with mode():
                    out = made(lambda ctx, x: f(x), lambda ctx, *g: torch.ones(3)).apply(x)
                outs = out if isinstance(out, tuple) else (out,)
                facts(x, *outs)
                x.mul_(3)
                facts(x)
                for o in outs:
                    attempt(lambda: facts(o))
                    attempt(lambda: facts(o * 2))
                    attempt(lambda: o.sum().backward())
                with torch.no_grad():
                    for o in outs:
                        attempt(lambda: o.mul_(2))
    """,
    "outputs written": """
        x = leaf()
        F = made(lambda ctx, x: x * 2, lambda ctx, g: g * 2)
        y = F.apply(x)
        y.mul_(3)
        facts(y)
        y[0] = 7
        facts(y)
        grads(y, x)
        G = made(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)
        y, z = G.apply(x)
        y.mul_(z)
        facts(y, z)
        grads((y, z), x)
        def fwd(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            return y
        y = made(fwd, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
        y.mul_(2)
        attempt(lambda: y.sum().backward())
        y = F.apply(x)
        w = y[0:2]
        w.mul_(5)
        facts(w, y)
        grads(y, x)
        with torch.no_grad():
            y = F.apply(x)
            y.mul_(2)
            facts(y)
        y = F.apply(x)
        y.detach_()
        facts(y)
        y = F.apply(x)
        attempt(lambda: y.requires_grad_(False))
        y.retain_grad()
        y.mul_(2)
        y.sum().backward()
        print(y.grad, x.grad)
    """,
    "setup_context and views": """
        def go(forward, setup, back=lambda ctx, *g: g[0], x=None):
            def program():
                y = leaf() * 1 if x is None else x
                out = made(forward, back, setup_context=setup).apply(y)
                facts(y, *(out if isinstance(out, tuple) else (out,)))
                grads(out, y)
            attempt(program)
        keep = lambda ctx, i, o: ctx.save_for_backward(i[0], o)
        go(lambda x: x, keep)
        go(lambda x: x, lambda ctx, i, o: ctx.save_for_forward(*i))
        go(lambda x: (x, x * 2), lambda ctx, i, o: ctx.save_for_backward(o[1]))
        go(lambda x: x.view_as(x), keep)
        go(lambda x: x, lambda ctx, i, o: ctx.mark_dirty(*i))
        go(lambda x: x.mul_(2), lambda ctx, i, o: (ctx.mark_dirty(*i), ctx.save_for_backward(o)))
        go(
            lambda x: (x * 2, x * 3),
            lambda ctx, i, o: ctx.mark_non_differentiable(o[1]),
            lambda ctx, g, h: (print(g, h), g)[1],
        )
        go(lambda x: x * 2, lambda ctx, i, o: print(type(i), o.requires_grad, o.grad_fn))
        go(lambda x: [x * 2], lambda ctx, i, o: print(type(i), type(o)))
        go(lambda x: x, keep, x=torch.ones(3))
        go(lambda x: x * 2, lambda ctx, i, o: 5)
        def bad(ctx, i, o):
            raise ValueError("in setup")
        go(lambda x: x * 2, bad)
        go(lambda x: x * 2, lambda ctx, i: 5)
    """,
    "detach in place of an intermediate": """
        x = leaf()
        def fwd(ctx, x):
            with torch.enable_grad():
                y = x * 2
                z = y * 3
            ctx.z = z
            ctx.mark_non_differentiable(y)
            return y, x * 5
        y, w = made(fwd, lambda ctx, g, h: (print(g, h), h)[1]).apply(x)
        facts(y, w, w.grad_fn.z)
        grads(w, x)
        outer = leaf() * 2
        y = made(lambda ctx, x: outer, lambda ctx, g: g * 9).apply(x)
        print(y is outer)
        facts(y, outer)
        lf = leaf()
        y = made(lambda ctx, x: lf, lambda ctx, g: g * 9).apply(x)
        print(y is lf)
        facts(y, lf)
        grads(y, x)
        outer = leaf() * 2
        v = outer[0:2]
        y = made(lambda ctx, x: v, lambda ctx, g: torch.ones(3)).apply(x)
        print(y is v)
        facts(y, outer)
        outer.mul_(2)
        attempt(lambda: facts(y))
    """,
    "inference": """
        with torch.inference_mode():
            x = torch.ones(3)
            y = made(lambda ctx, x: x, lambda ctx, g: g).apply(x)
            print(y is x, y._is_view(), y.is_inference())
            y = made(lambda ctx, x: x * 2, lambda ctx, g: g).apply(leaf())
            print(y, y.requires_grad, y.is_inference())
            y = made(lambda ctx, x: x, lambda ctx, g: g).apply(leaf())
            print(y, y.requires_grad, y.is_inference(), y._is_view())
            attempt(lambda: y.mul_(2))
    """,
    "written without a mark": """
        x = leaf()
        y = x * 1
        F = made(lambda ctx, y: y.mul_(2), lambda ctx, g: g * 2)
        z = F.apply(y)
        print(z is y)
        facts(y, z)
        attempt(lambda: grads(z, x))
        y = x * 1
        s = y * y
        F2 = made(lambda ctx, y: (y.mul_(2), y * 1)[1], lambda ctx, g: g * 2)
        z = F2.apply(y)
        facts(y, z)
        grads(z, x)
        attempt(lambda: grads(s, x))
        attempt(lambda: F2.apply(x))
        facts(x)
        y = x * 1
        v = y[0:2]
        z = F2.apply(v)
        facts(y, v, z)
    """,
    "parameters": """
        p = torch.nn.Parameter(torch.ones(3))
        F = made(lambda ctx, p: p, lambda ctx, g: g)
        y = F.apply(p)
        print(type(y).__name__, y.requires_grad, y.is_leaf)
        y = made(
            lambda ctx, p: (ctx.save_for_backward(p), p * 2)[1],
            lambda ctx, g: (print(type(ctx.saved_tensors[0]).__name__), g)[1],
        ).apply(p)
        print(type(y).__name__)
        y.sum().backward()
        print(p.grad)
        with torch.no_grad():
            y = F.apply(p)
            print(type(y).__name__, y.requires_grad)
        i = torch.arange(3)
        y = made(lambda ctx, i, p: (print(ctx.needs_input_grad), p * i)[1], lambda ctx, g: (None, g)).apply(i, p)
        facts(y)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
