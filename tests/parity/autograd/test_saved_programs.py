"""Programs with hooks on saved tensors, and with writes to them, say what they say under PyTorch."""

from __future__ import annotations

import textwrap

import pytest
import torch

import retrograd
from programs.running import transcript

SETUP = """
    graph = torch.autograd.graph
    x = torch.tensor([1., 2.], requires_grad=True)
    w = torch.nn.Parameter(torch.tensor([3., 4.]))

    def hooks(name=""):
        def pack(t):
            node = type(t.grad_fn).__name__
            print("pack", name, t.dtype, t.requires_grad, t.is_leaf, node, torch.is_grad_enabled())
            return t
        def unpack(t):
            print("unpack", name, tuple(t.shape), torch.is_grad_enabled())
            return t
        return graph.saved_tensors_hooks(pack, unpack)

    def mutated(f):
        x.grad = None
        with graph.allow_mutation_on_saved_tensors() as context:
            b = x.clone()
            f(b, context)
            print(len(context.cloned), len(context.original))
        return x.grad
"""
PROGRAMS = {
    "order and modes": """
        with hooks("1"):
            y = x * w
            with hooks("2"):
                z = y.exp() * (y * 2)
            s = (z ** y + x / w).sum()
        s.backward(retain_graph=True)
        s.backward()
        attempt(s.backward)
        print(x.grad, w.grad)
    """,
    "double backward": """
        with hooks():
            y = x * w
            (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        g.sum().backward()
        print(x.grad, w.grad)
    """,
    "what is returned": """
        for what in (lambda t: 3, lambda t: None, lambda t: t.double(), lambda t: torch.ones(3), lambda t: t.long(),
                     lambda t: torch.ones(()), lambda t: torch.ones(2, 2)):
            x.grad = None
            with graph.saved_tensors_hooks(lambda t: t, what):
                y = x * w
            attempt(lambda: (y.sum().backward(), x.grad))
    """,
    "writes by hooks": """
        def double(t):
            with torch.no_grad():
                return t.mul_(2)
        for f in (lambda: x * w, lambda: x.exp(), lambda: torch.relu(x), lambda: x * torch.ones(2)):
            with graph.saved_tensors_hooks(double, lambda t: t):
                attempt(f)
    """,
    "in place": """
        with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            a = x * 1
            a.mul_(w)
            a.exp_()
            a[:1].mul_(x[1:])
            a.tanh_()
        a.sum().backward()
        print(x.grad, w.grad)
    """,
    "custom functions": """
        class Product(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                out = a * b
                ctx.save_for_backward(a, out, None, a.detach() * 2)
                return out
            @staticmethod
            def backward(ctx, g):
                a, out, nothing, other = ctx.saved_tensors
                print(a.grad_fn, a.requires_grad, type(out.grad_fn).__name__, nothing, other)
                return g * out, g * a
        with hooks():
            y = Product.apply(x, w)
        y.sum().backward()
        y = Product.apply(x, w)
        first, second, nothing, other = y.grad_fn._raw_saved_tensors
        first.register_hooks(lambda t: print("packed", t is x) or t.detach() * 3, lambda t: t)
        attempt(lambda: nothing.register_hooks(lambda t: t, lambda t: t))
        attempt(lambda: first.register_hooks(lambda t: t, lambda t: t))
        print(y.grad_fn.saved_tensors[0])
        y.sum().backward()
        print(x.grad, w.grad)
        attempt(lambda: y.grad_fn._raw_saved_tensors)
        attempt(lambda: y.grad_fn.saved_tensors)
    """,
    "one value": """
        y = x * w
        raw = y.grad_fn._raw_saved_self
        raw.register_hooks(lambda t: print("packed", t is x, t.requires_grad) or t * 2,
                           lambda t: print("unpacked") or t)
        value = y.grad_fn._saved_self
        print(value, value is x, value.is_leaf, value.grad_fn)
        attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
        y.sum().backward()
        print(x.grad, w.grad)
        attempt(lambda: y.grad_fn._saved_self)
        attempt(lambda: (x * torch.ones(2)).grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
        y = x * w
        raw = y.grad_fn._raw_saved_other
        y.sum().backward()
        attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))
        attempt(lambda: y.grad_fn._saved_nothing)
        with hooks():
            y = x * w
        attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    """,
    "disabled": """
        def use():
            with graph.save_on_cpu():
                return x * w
        with graph.disable_saved_tensors_hooks("first"):
            with graph.disable_saved_tensors_hooks("second"):
                attempt(use)
            attempt(use)
        def disable():
            with graph.disable_saved_tensors_hooks("inside"):
                pass
        with hooks():
            attempt(disable)
        attempt(use)
    """,
    "rounded quotients": """
        for mode in ('floor', 'trunc'):
            for other in (x.detach() + 1, (x.detach() + 1).requires_grad_(), x.new_ones(()).requires_grad_(), 2.):
                z = torch.div(x, other, rounding_mode=mode)
                z.sum().backward()
                print(x.grad, getattr(other, 'grad', None))
                attempt(lambda: z.sum().backward())
                z = torch.div(x, other, rounding_mode=mode)
                with torch.no_grad():
                    other *= 2
                attempt(lambda: z.sum().backward())
            y = x * 1
            y.div_(2., rounding_mode=mode)
            y.sum().backward()
            attempt(lambda: y.sum().backward())
    """,
    "writes that are allowed": """
        def several(b, context):
            first = (b ** 2).sum()
            b.sin_()
            second = (b * b).sum()
            b.cos_()
            print(len(context.cloned), len(context.original))
            second.backward(retain_graph=True)
            first.backward()
        def views(b, context):
            y = (b[:1] ** 2).sum() + (b * b).sum()
            b.sin_()
            y.backward()
        def indices(b, context):
            y = (b ** 2).sum()
            b[0] = 5.
            b[b > 1] = 0
            b.fill_(3)
            y.backward()
        def results(b, context):
            y = b.exp()
            b.zero_()
            out = (y * 2).sum()
            y.mul_(3)
            out.backward()
        def unrecorded(b, context):
            y = (x ** 2).sum()
            with torch.no_grad():
                x.sub_(5)
            y.backward()
            x.data.add_(5)
        def cleared(b, context):
            y = (b ** 2).sum()
            context.clear()
            attempt(y.backward)
        def nested(b, context):
            graph.allow_mutation_on_saved_tensors().__enter__()
        def late(b, context):
            return (b ** 2).sum()
        for f in (several, views, indices, results, unrecorded, cleared):
            attempt(lambda: mutated(f))
        left = []
        attempt(lambda: mutated(lambda b, context: left.append((b ** 2).sum())))
        attempt(lambda: left[0].backward())
        attempt(lambda: mutated(nested))
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_programs_say_the_same(program: str) -> None:
    source = textwrap.dedent(SETUP) + textwrap.dedent(program)
    assert transcript(retrograd, source) == transcript(torch, source)
