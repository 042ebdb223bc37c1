"""Checkpointed programs compute, and run their functions, with retrograd as with PyTorch."""

import textwrap

import pytest
import torch
import torch.utils.checkpoint

import retrograd
from checkpoint_prelude import PRELUDE
from programs.running import transcript

PROGRAMS = {
    "values, gradients and when the function is run": """
        for kind in KINDS:
            for function in (lambda x: x.sin() * x, lambda x: (x * x).exp(), lambda x: x * 2, lambda x: x,
                             lambda x: x.sum(), lambda x: x.exp().log().sqrt()):
                x = leaf()
                y = checkpoint(said("f", function), x, use_reentrant=kind)
                print(y, y.requires_grad, y.is_leaf, type(y.grad_fn).__name__)
                attempt(y.sum().backward)
                print(x.grad)
    """,
    "without use_reentrant": """
        x = leaf()
        checkpoint(said("f", torch.sin), x).sum().backward()
        C.checkpoint_sequential([torch.sin, torch.exp], 2, x).sum().backward()
        print(x.grad)
    """,
    "options that do not go together": """
        x = leaf()
        f = said("f", torch.sin)
        for options in ({"a": 1, "b": 2}, {"debug": True}, {"context_fn": lambda: C.noop_context_fn()},
                        {"determinism_check": "odd"}, {"early_stop": False}, {"preserve_rng_state": False}):
            attempt(lambda: checkpoint(f, x, use_reentrant=True, **options))
        for options in ({"determinism_check": "odd"}, {"debug": True, "context_fn": lambda: C.noop_context_fn()},
                        {"context_fn": C.noop_context_fn, "debug": True}):
            attempt(lambda: checkpoint(f, x, use_reentrant=False, **options))
        attempt(lambda: C.checkpoint_sequential([f], 1, x, use_reentrant=False, debug=True))
        attempt(lambda: C.detach_variable([x]))
        a, b, c = C.detach_variable((x, 3, x.detach()))
        print(a, b, c, a is x)
        C.check_backward_validity([x])
        C.check_backward_validity([x.detach(), 1])
    """,
    "arguments and results of all kinds": """
        for kind in KINDS:
            x, y = leaf(), torch.tensor([3.0, 4.0])
            def f(a, b, c, d, e):
                return a * b, None, [a * 2], 7, (a * c["x"]).sum(), b * 2, d
            result = checkpoint(said("f", f), x, y, {"x": x}, None, "text", use_reentrant=kind)
            print(result)
            print([r.requires_grad for r in result if torch.is_tensor(r)])
            (result[0].sum() + result[4]).backward()
            print(x.grad, y.grad)
        x, y = leaf(), leaf(3.0, 4.0)
        out = checkpoint(said("f", lambda a, *, b, n=1: (a * b) ** n), x, b=y, n=3, use_reentrant=False)
        out.sum().backward()
        print(x.grad, y.grad)
    """,
    "inputs that require no grad": """
        for kind in KINDS:
            weight, x = leaf(3.0, 4.0), torch.tensor([1.0, 2.0])
            y = checkpoint(said("f", lambda x: x * weight * weight), x, use_reentrant=kind)
            print(y)
            attempt(y.sum().backward)
            print(weight.grad)
    """,
    "in no_grad and inference mode": """
        for kind in KINDS:
            for mode in (torch.no_grad, torch.inference_mode):
                with mode():
                    x = leaf()
                    y = checkpoint(said("f", lambda x: x.sin() * x), x, use_reentrant=kind)
                    print(y, y.requires_grad)
        def contexts():
            print("contexts")
            return said_context("forward"), said_context("again")
        import contextlib
        @contextlib.contextmanager
        def said_context(name):
            print(name, "in")
            yield
            print(name, "out")
        with torch.no_grad():
            print(checkpoint(torch.sin, leaf(), use_reentrant=False, context_fn=contexts))
        checkpoint(said("f", lambda x: x.sin() * x), leaf(), use_reentrant=False, context_fn=contexts).sum().backward()
    """,
    "recording in the function": """
        for kind in KINDS:
            x = leaf()
            def f(x):
                with torch.no_grad():
                    a = x * 3
                with torch.enable_grad():
                    b = x * x
                    print(b.requires_grad)
                return a * b + b.detach() * x
            checkpoint(said("f", f), x, use_reentrant=kind).sum().backward()
            print(x.grad)
            y = checkpoint(lambda x: (x * x).detach(), x, use_reentrant=kind)
            print(y)
            attempt(y.sum().backward)
            a, b = checkpoint(lambda x: ((x * x).detach(), x * 5), x, use_reentrant=kind)
            print(a.requires_grad, b.requires_grad)
            attempt(lambda: (a * b).sum().backward())
            print(x.grad)
    """,
    "several passes": """
        for kind in KINDS:
            x = leaf()
            y = checkpoint(said("f", lambda x: x.sin() * x), x, use_reentrant=kind).sum()
            attempt(lambda: y.backward(retain_graph=True))
            attempt(lambda: y.backward(retain_graph=True))
            attempt(y.backward)
            attempt(y.backward)
            print(x.grad)
        x = leaf()
        a, b = checkpoint(said("f", lambda x: (x.sin() * x, x.exp() * x)), x, use_reentrant=False)
        a.sum().backward()
        b.sum().backward()
        print(x.grad)
        attempt(a.sum().backward)
    """,
    "autograd.grad and chosen inputs": """
        for kind in KINDS:
            x, w = leaf(), leaf(3.0, 4.0)
            f = said("f", lambda x: (x * w).exp() * x)
            attempt(lambda: torch.autograd.grad(checkpoint(f, x, use_reentrant=kind).sum(), x))
            attempt(lambda: torch.autograd.grad(checkpoint(f, x, use_reentrant=kind).sum(), [x, w]))
            attempt(lambda: checkpoint(f, x, use_reentrant=kind).sum().backward(inputs=[x]))
            attempt(lambda: checkpoint(f, x, use_reentrant=kind).sum().backward(inputs=[w]))
            attempt(lambda: torch.autograd.backward(checkpoint(f, x, use_reentrant=kind).sum()))
            print(x.grad, w.grad)
            y = x * 2
            attempt(lambda: torch.autograd.grad(checkpoint(f, y, use_reentrant=kind).sum(), y))
    """,
    "a pass that goes to all leaves inside one that does not": """
        class Inner(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                with torch.enable_grad():
                    y = ctx.saved_tensors[0].detach().requires_grad_()
                    checkpoint(said("f", torch.exp), y, use_reentrant=True).sum().backward()
                return g * y.grad
        x = leaf()
        Inner.apply(x).sum().backward()
        print(x.grad)
        attempt(lambda: torch.autograd.grad(Inner.apply(x).sum(), x))
    """,
    "double backward": """
        x = leaf()
        y = checkpoint(said("f", lambda x: x.sin() * x * x), x, use_reentrant=False)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        print(g)
        (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        print(h)
        print(torch.autograd.grad(h.sum(), x))
        z = checkpoint(said("f", lambda x: x.sin() * x * x), x * 1, use_reentrant=False)
        (g,) = torch.autograd.grad(z.sum(), x, create_graph=True)
        g.pow(2).sum().backward()
        print(x.grad)
        x = leaf()
        y = checkpoint(said("f", lambda x: x.sin() * x * x), x, use_reentrant=True)
        with warnings.catch_warnings(action="ignore"):          # of create_graph, which PyTorch gives at another time
            y.sum().backward(create_graph=True)
        print(x.grad, x.grad.requires_grad)
    """,
    "nested": """
        for outer in KINDS:
            for inner in KINDS:
                x = leaf()
                def f(x):
                    y = x.sin() * x
                    z = checkpoint(said("inner", lambda y: y.exp() * y), y, use_reentrant=inner)
                    return z.cos() * z
                y = checkpoint(said("outer", f), x * 1, use_reentrant=outer)
                attempt(lambda: y.sum().backward(retain_graph=True))
                attempt(lambda: y.sum().backward())
                print(x.grad)
        def deep(x, n):
            if n == 0:
                return x.sin() * x
            return checkpoint(said(f"level {n}", lambda x: deep(x.cos() * x, n - 1).exp()), x, use_reentrant=False)
        for stop in (True, False):
            x = leaf()
            with C.set_checkpoint_early_stop(stop):
                deep(x, 4).sum().backward()
            print(x.grad)
    """,
    "a nested checkpoint whose input is the outer's": """
        x = leaf()
        def f(x):
            return checkpoint(said("inner", lambda x: x.exp() * x), x, use_reentrant=False)
        checkpoint(said("outer", f), x, use_reentrant=False).sum().backward()
        print(x.grad)
        (g,) = torch.autograd.grad(checkpoint(said("outer", f), x, use_reentrant=False).sum(), x, create_graph=True)
        print(torch.autograd.grad(g.sum(), x))
    """,
    "early stop": """
        def f(x):
            print("begins")
            y = x.sin() * x
            print("in the middle")
            z = y * 2
            print("ends")
            return z
        for stop in (True, False):
            checkpoint(f, leaf(), use_reentrant=False, early_stop=stop).sum().backward()
            with C.set_checkpoint_early_stop(stop):
                y = checkpoint(f, leaf(), use_reentrant=False, early_stop=not stop).sum()
            y.backward()
            with C.set_checkpoint_early_stop(stop), C.set_checkpoint_early_stop(None):
                checkpoint(f, leaf(), use_reentrant=False, early_stop=stop).sum().backward()
        def g(x):
            try:
                return f(x)
            finally:
                print("cleaned up")
        checkpoint(g, leaf(), use_reentrant=False).sum().backward()
    """,
    "what is no function, no tensor or no result": """
        for kind in KINDS:
            attempt(lambda: checkpoint(lambda: leaf() * 2, use_reentrant=kind))
            attempt(lambda: checkpoint(None, leaf(), use_reentrant=kind))
            attempt(lambda: checkpoint(use_reentrant=kind))
            attempt(lambda: checkpoint(lambda x: None, leaf(), use_reentrant=kind))
            attempt(lambda: checkpoint(lambda x: [x * 2], leaf(), use_reentrant=kind)[0].sum().backward())
            attempt(lambda: checkpoint(lambda x: {"a": x * 2}, leaf(), use_reentrant=kind)["a"].sum().backward())
            attempt(lambda: checkpoint(lambda x: (x, x), leaf(), use_reentrant=kind))
            attempt(lambda: checkpoint(lambda x: (x.long(), x * 2), leaf(), use_reentrant=kind))
            attempt(lambda: checkpoint(lambda x: (x.long() * 1), leaf(), use_reentrant=kind))
            attempt(lambda: checkpoint(lambda x, y: x * y, 3, 4, use_reentrant=kind))
    """,
    "operations of several results": """
        for kind in KINDS:
            x = leaf(1.0, 5.0, 3.0)
            def f(x):
                a, b = x.max(0)
                u = x.unbind()
                t, i = x.topk(2)
                return a * t.sum() + u[0] * u[2].exp() + x.cumprod(0).sum() + torch.stack(u).std()
            y = checkpoint(said("f", f), x, use_reentrant=kind)
            y.backward()
            print(y, x.grad)
    """,
    "parameters, leaves and their hooks": """
        for kind in KINDS:
            x = leaf()
            w = leaf(2.0, 3.0)
            w.requires_grad_(False)
            def f(x):
                y = x * w
                with torch.set_grad_enabled(False):
                    z = y.exp()
                return y * z
            y = checkpoint(said("f", f), x, use_reentrant=kind)
            y.retain_grad()
            y.sum().backward()
            print(x.grad, y.grad, w.grad)
            x.grad = None
            x.register_post_accumulate_grad_hook(lambda t: print("post", t.grad))
            checkpoint(said("f", f), x, use_reentrant=kind).sum().backward()
            y = checkpoint(f, x, use_reentrant=kind)
            z = checkpoint(f, y, use_reentrant=kind)
            (y * z).sum().backward()
            print(x.grad)
            p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
            seen = []
            def g(p):
                seen.append(type(p).__name__)
                return p * p
            checkpoint(g, p, use_reentrant=kind).sum().backward()
            print(seen, p.grad)
    """,
    "keywords, functional and gradcheck": """
        x = leaf()
        k = x * 2
        def f(a, *, b):
            return a * b
        y = checkpoint(f, x, b=k, use_reentrant=False)
        k.mul_(3)
        attempt(y.sum().backward)
        print(x.grad)
        @C.set_checkpoint_early_stop(False)
        def h():
            return checkpoint(said("g", lambda x: x.sin() * 2), x, use_reentrant=False)
        h().sum().backward()
        y = checkpoint(said("g", lambda x: x.sin() * x), x, use_reentrant=False)
        g1 = torch.autograd.grad(y, x, torch.ones(2), retain_graph=True)
        print(g1)
        def exp(x):
            return checkpoint(torch.exp, x, use_reentrant=False)
        print(torch.autograd.functional.jacobian(exp, x.detach()))
        print(torch.autograd.functional.hessian(lambda x: exp(x).sum(), x.detach()))
        print(torch.autograd.gradcheck(exp, x.detach().double().requires_grad_()))
    """,
    "checkpoints inside Functions, generators and recursion": """
        x = leaf()
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with torch.enable_grad():
                    ctx.x = x.detach().requires_grad_()
                    ctx.y = checkpoint(said("in", lambda x: x.sin() * x), ctx.x, use_reentrant=False)
                return ctx.y.detach()
            @staticmethod
            def backward(ctx, g):
                ctx.y.backward(g, retain_graph=True)
                return ctx.x.grad
        checkpoint(said("out", lambda x: F.apply(x) * 2), x, use_reentrant=False).sum().backward()
        print(x.grad)
        checkpoint(said("out", lambda x: F.apply(x) * 2), x, use_reentrant=True).sum().backward()
        print(x.grad)
        def gen(x):
            for i in range(3):
                yield x.sin() * i
        def f(x):
            s = 0
            for v in gen(x):
                s = s + v
            return s
        checkpoint(said("gen", f), x, use_reentrant=False).sum().backward()
        print(x.grad)
        def rec(x, n):
            return x if n == 0 else checkpoint(rec, x.sin() * x, n - 1, use_reentrant=n % 2 == 0)
        rec(x, 5).sum().backward()
        print(x.grad)
    """,
    "autocast around the function, or around the backward pass": """
        w = torch.linspace(-1, 1, 9).view(3, 3).requires_grad_()
        def f(x):
            print(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled())
            return torch.nn.functional.linear(x, w).sin()
        for kind in KINDS:
            for dtype in (torch.bfloat16, torch.float16):
                with torch.autocast("cpu", dtype=dtype, cache_enabled=False):
                    y = checkpoint(f, torch.ones(2, 3, requires_grad=True), use_reentrant=kind)
                    print(y.dtype)
                y.float().sum().backward()
                print(w.grad)
            y = checkpoint(f, torch.ones(2, 3, requires_grad=True), use_reentrant=kind)
            with torch.autocast("cpu"):
                y.sum().backward()
            print(w.grad.dtype, torch.is_autocast_enabled("cpu"))
            w.grad = None
    """,
    "functions that write to their inputs": """
        x = leaf()
        y = checkpoint(lambda x: x.mul(2).relu_().exp_(), x, use_reentrant=False)
        y.sum().backward()
        print(x.grad)
        z = x * 1
        def f(z):
            z.exp_()
            return z * z
        for kind in KINDS:
            z = x * 1
            y = checkpoint(said("f", f), z, use_reentrant=kind)
            attempt(y.sum().backward)
            print(z, x.grad)
        z = x * 1
        def g():
            z.add_(1)
            return z * z
        y = checkpoint(said("g", g), use_reentrant=False)
        attempt(y.sum().backward)
        print(x.grad, z)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PRELUDE + textwrap.dedent(PROGRAMS[name])
    assert transcript(retrograd, program) == transcript(torch, program)
