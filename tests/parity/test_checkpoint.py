"""Checkpointed programs compute, and run their functions, with retrograd as with PyTorch."""

import textwrap

import pytest
import torch
import torch.utils.checkpoint

import retrograd
from checkpoint_prelude import PRELUDE
from programs import transcript

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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PRELUDE + textwrap.dedent(PROGRAMS[name])
    assert transcript(retrograd, program) == transcript(torch, program)
