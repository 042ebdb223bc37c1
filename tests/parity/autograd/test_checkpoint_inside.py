"""What may happen inside a checkpointed function and around it, with retrograd as with PyTorch."""

import logging
import textwrap

import pytest
import torch
import torch.utils.checkpoint

import retrograd
from checkpoint_prelude import PRELUDE
from programs.running import transcript

PROGRAMS = {
    "random numbers": """
        for kind in KINDS:
            for preserve in (True, False):
                torch.manual_seed(3)
                x = leaf()
                def f(x):
                    noise = torch.randn(2)
                    print(noise)
                    return (x * noise).exp()
                y = checkpoint(f, x, use_reentrant=kind, preserve_rng_state=preserve)
                print(torch.rand(2))
                y.sum().backward()
                print(x.grad, torch.rand(2))
        dropout = torch.nn.Dropout(0.5)
        for kind in KINDS:
            torch.manual_seed(0)
            x = torch.ones(8, requires_grad=True)
            y = checkpoint(lambda x: dropout(x * x).exp(), x, use_reentrant=kind)
            y.sum().backward()
            print(y, x.grad, torch.rand(1))
    """,
    "hooks": """
        for kind in KINDS:
            x = leaf()
            def f(x):
                y = x * x
                if y.requires_grad:
                    y.register_hook(lambda g: print("inside", g))
                return y.exp()
            z = checkpoint(f, x, use_reentrant=kind)
            z.register_hook(lambda g: print("outside", g))
            x.register_hook(lambda g: (print("leaf", g), g * 2)[1])
            z.sum().backward()
            print(x.grad)
    """,
    "in-place operations and views": """
        for kind in KINDS:
            x = leaf(0.1, 0.2, 0.3)
            def f(x):
                y = x * 2
                y.mul_(x)
                y[0] = x.sum()
                y[1:].exp_()
                return y.sin()
            checkpoint(said("f", f), x, use_reentrant=kind).sum().backward()
            print(x.grad)
            y = checkpoint(said("view", lambda x: x[1:]), x * 1, use_reentrant=kind)
            print(y._is_view(), type(y.grad_fn).__name__)
            y.sum().backward()
            print(x.grad)
            z = x * 1
            attempt(lambda: checkpoint(lambda z: z.mul_(x), z, use_reentrant=kind).sum().backward())
            print(z, x.grad)
    """,
    "an input that is written to afterwards": """
        for kind in KINDS:
            x = leaf()
            y = x * 2
            z = checkpoint(said("f", lambda y: y.sin() * y), y, use_reentrant=kind)
            y.mul_(2)
            attempt(z.sum().backward)
            attempt(z.sum().backward)
            z = checkpoint(said("f", lambda y: y.sin() * y), x, use_reentrant=kind)
            with torch.no_grad():
                x.add_(1)
            attempt(z.sum().backward)
            print(x.grad)
    """,
    "an exception in the forward run": """
        def state():
            return torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        def failing(x):
            y = x.sin() * x
            raise KeyError("no")
        for kind in KINDS:
            x = leaf()
            attempt(lambda: checkpoint(failing, x, use_reentrant=kind))
            print(state())
            y = x.sin() * x
            y.sum().backward()
            print(x.grad)
            with torch.no_grad():
                attempt(lambda: checkpoint(failing, x, use_reentrant=kind))
    """,
    "an exception in the recomputation": """
        for kind in KINDS:
            x, runs = leaf(), []
            def f(x):
                runs.append(torch.rand(1).item())
                y = x.sin() * x
                with torch.no_grad():
                    torch.rand(3)
                    if len(runs) == 2:
                        raise KeyError("no")
                return y.exp()
            torch.manual_seed(1)
            y = checkpoint(f, x, use_reentrant=kind)
            torch.rand(1)
            attempt(lambda: y.sum().backward(retain_graph=True))
            print(torch.is_grad_enabled(), x.grad, runs, torch.rand(1))
            attempt(lambda: y.sum().backward())
            print(x.grad, len(runs))
            (x * x).sum().backward()
            print(x.grad)
    """,
    "a mismatch": """
        def differing(first, then, **options):
            runs = []
            def f(x):
                runs.append(1)
                return (first if len(runs) == 1 else then)(x)
            x = leaf()
            y = checkpoint(f, x, use_reentrant=False, **options)
            attempt(y.sum().backward)
            print(x.grad, len(runs), torch.is_grad_enabled())
        for options in ({}, {"early_stop": False}, {"determinism_check": "none"}):
            differing(lambda x: x.sin().exp(), lambda x: x.sin(), **options)
            differing(lambda x: x.sin(), lambda x: x.sin().exp(), **options)
            differing(lambda x: x.sin() * x, lambda x: x[:1].sin() * x, **options)
            differing(lambda x: x.sin(), lambda x: x.double().sin(), **options)
            differing(lambda x: x.sin(), lambda x: x.cos(), **options)
            differing(lambda x: x.sin(), lambda x: x, **options)
        differing(lambda x: x.sin(), lambda x: x[:1].sin(), debug=True)
        with C.set_checkpoint_debug_enabled(True):
            differing(lambda x: x.sin().exp(), lambda x: x.sin(), debug=False)
            with C.set_checkpoint_debug_enabled(None):
                differing(lambda x: x.sin().exp(), lambda x: x.sin())
        with C.set_checkpoint_debug_enabled(False):
            differing(lambda x: x.sin().exp(), lambda x: x.sin(), debug=True)
        print(C.CheckpointError.__mro__[1])
    """,
    "contexts": """
        import contextlib
        @contextlib.contextmanager
        def named(name):
            print(name, "in", torch.is_grad_enabled())
            try:
                yield
            except Exception as error:
                print("error in", name)
                raise
            finally:
                print(name, "out")
        f = said("f", lambda x: x.sin() * x + 1)
        pair = lambda: (named("forward"), named("again"))
        y = checkpoint(f, leaf(), use_reentrant=False, context_fn=pair, early_stop=False)
        y.sum().backward()
        attempt(lambda: checkpoint(f, leaf(), use_reentrant=False, context_fn=lambda: None))
        attempt(lambda: checkpoint(lambda x: 1 / 0, leaf(), use_reentrant=False, context_fn=pair))
        attempt(lambda: checkpoint(lambda x: 1 / 0, leaf(), use_reentrant=False, context_fn=lambda: (
            contextlib.suppress(ZeroDivisionError), contextlib.nullcontext())))
        def no_recording():
            return contextlib.nullcontext(), torch.no_grad()
        y = checkpoint(f, leaf(), use_reentrant=False, context_fn=no_recording)
        attempt(y.sum().backward)
    """,
    "hooks on saved tensors around and inside": """
        hooks = torch.autograd.graph.saved_tensors_hooks
        def pair(name):
            return hooks(lambda t: (print(name, "packs", t.detach()), t.detach() * 1)[1],
                         lambda t: (print(name, "unpacks"), t)[1])
        for kind in KINDS:
            x = leaf()
            with pair("outside"):
                y = checkpoint(said("f", lambda x: (x * x).exp()), x, use_reentrant=kind)
            y.sum().backward()
            print(x.grad)
            def f(x):
                with pair("inside"):
                    y = x.sin()
                return y.exp()
            checkpoint(said("f", f), x, use_reentrant=kind).sum().backward()
            print(x.grad)
            with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
                attempt(lambda: checkpoint(torch.sin, x, use_reentrant=kind))
            y = checkpoint(torch.sin, x, use_reentrant=kind)
            with torch.autograd.graph.disable_saved_tensors_hooks("nor here"):
                attempt(y.sum().backward)
    """,
    "custom Functions inside": """
        class Cube(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * x * x
                ctx.save_for_backward(x, y)
                return y
            @staticmethod
            def backward(ctx, g):
                x, y = ctx.saved_tensors
                print("backward", x, y.detach(), x.requires_grad)
                return g * 3 * x * x
        class Twice(Cube):
            @staticmethod
            def backward(ctx, g):
                ctx.saved_tensors
                return g * ctx.saved_tensors[0]
        for kind in KINDS:
            x = leaf()
            checkpoint(said("f", lambda x: Cube.apply(x).sin()), x, use_reentrant=kind).sum().backward()
            print(x.grad)
            attempt(lambda: checkpoint(Twice.apply, x, use_reentrant=kind).sum().backward())
    """,
    "saved values looked at from outside": """
        x = leaf()
        y = checkpoint(said("f", lambda x: x.sin().exp()), x, use_reentrant=False)
        print(y.grad_fn._saved_result.detach(), y.grad_fn._saved_result.detach())
        y.sum().backward()
        print(x.grad)
    """,
    "a backward inside": """
        def f(x):
            y = x.sin()
            z = y.cos()
            (g,) = torch.autograd.grad(z.sum(), x, retain_graph=keep)
            return (g if keep else x.cos() * g), z * 2
        for stop in (True, False):
            for keep in (True, False):
                x = leaf()
                g, z = checkpoint(said("f", f), x, use_reentrant=False, early_stop=stop)
                print(g, z)
                attempt(lambda: (z if keep else g).sum().backward())
                print(x.grad)
    """,
    "modules": """
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Dropout(0.3),
                                    torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
        class Counting(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(3, 3)
                self.register_buffer("count", torch.zeros(()))
            def forward(self, x):
                self.count += 1
                return self.linear(x).exp()
        x = torch.randn(5, 3, requires_grad=True)
        for kind in KINDS:
            torch.manual_seed(1)
            out = checkpoint(model, x, use_reentrant=kind)
            out.pow(2).sum().backward()
            print([p.grad for p in model.parameters()], x.grad)
            model.zero_grad()
            counting = Counting()
            checkpoint(counting, x, use_reentrant=kind).sum().backward()
            print(counting.count, counting.linear.bias.grad)
            for segments in (1, 2, 3, 6):
                torch.manual_seed(1)
                out = C.checkpoint_sequential(model, segments, x, use_reentrant=kind)
                out.pow(2).sum().backward()
                print(segments, out, type(out.grad_fn).__name__, x.grad)
            functions = [said(str(i), f) for i, f in enumerate([torch.sin, torch.exp, torch.cos, torch.tanh])]
            C.checkpoint_sequential(functions, 2, x[0, 0], use_reentrant=kind).backward()
            for segments in (0, 7, -1):
                attempt(lambda: C.checkpoint_sequential(functions, segments, x[0, 0], use_reentrant=kind))
    """,
    "all kinds of operations": """
        def f(x):
            a = torch.cat([x, x * 2]).reshape(2, 3)
            b = torch.nn.functional.softmax(a, 1) @ a.T
            c = a.max(1).values + torch.where(a > 2, a, -a).sum(1) + a[[0, 1], [1, 2]]
            d, i = torch.sort(a.flatten())
            e = torch.logsumexp(b, 0) * b.std(0) / (1 + c.abs()) + torch.nn.functional.linear(c, b, c)
            return e.prod() + d[::2].cumsum(0).sum() + x.norm() + torch.clamp(x, 0.5, 2).var()
        for kind in KINDS:
            x = leaf(0.3, 1.5, 2.5).double().detach().requires_grad_()
            y = checkpoint(said("f", f), x, use_reentrant=kind)
            y.backward()
            print(y, x.grad)
        x = leaf(0.3, 1.5, 2.5).double().detach().requires_grad_()
        (g,) = torch.autograd.grad(checkpoint(f, x, use_reentrant=False), x, create_graph=True)
        print(torch.autograd.grad(g.sum(), x))
    """,
    "threads": """
        import threading
        def in_thread(function):
            thread = threading.Thread(target=function)
            thread.start()
            thread.join()
        for kind in KINDS:
            x = leaf()
            results = []
            in_thread(lambda: results.append(checkpoint(said("f", lambda x: x.sin() * x), x, use_reentrant=kind)))
            in_thread(lambda: results[0].sum().backward())
            print(x.grad)
            with C.set_checkpoint_early_stop(False):
                in_thread(lambda: results.append(checkpoint(said("f", lambda x: x.sin() * x), x, use_reentrant=False)))
            results[1].sum().backward()
            y = checkpoint(said("f", lambda x: x.sin() * x), x, use_reentrant=False).sum()
            with torch.no_grad():
                y.backward()
            print(x.grad)
    """,
    "a function that catches everything": """
        def f(x):
            try:
                y = x.sin() * x
            except ValueError:
                print("caught")
            return y
        checkpoint(f, leaf(), use_reentrant=False).sum().backward()
    """,
    "a default dtype and shapes of every kind": """
        for kind in KINDS:
            for shape in ((), (0,), (2, 0, 3), (1,), (2, 3)):
                for dtype in (torch.float64, torch.float32):
                    x = torch.ones(shape, dtype=dtype, requires_grad=True)
                    checkpoint(lambda x: (x * x).sum(), x, use_reentrant=kind).backward()
                    print(x.grad)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)       # PyTorch's debug=True logs what cannot be formatted
    program = PRELUDE + textwrap.dedent(PROGRAMS[name])
    assert transcript(retrograd, program) == transcript(torch, program)
