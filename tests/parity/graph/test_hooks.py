"""Programs with hooks on tensors and nodes say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "hooks on tensors": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: (print("first", g), g * 10)[1])
        y.retain_grad()
        handle = y.register_hook(lambda g: (print("second", g), g + 1)[1])
        z = (y * y).sum()
        z.backward(retain_graph=True)
        print(y.grad, x.grad)
        handle.remove()
        handle.remove()
        z.backward(retain_graph=True)
        print(y.grad)
        print(torch.autograd.grad(z, y, retain_graph=True), torch.autograd.grad(z, [x, y]))
        with x.register_hook(lambda g: g * 0):
            (x * 2).sum().backward()
        (x * 2).sum().backward()
        print(x.grad)
        y = x * x
        calls = []
        def adding(g):
            calls.append("adding")
            y.register_hook(lambda g: calls.append("added"))
        y.register_hook(adding)
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        print(calls)
        y = x * x
        handles = []
        handles.append(y.register_hook(lambda g: handles[1].remove()))
        handles.append(y.register_hook(lambda g: print("ran")))
        y.sum().backward()
        (x * x).register_hook(lambda g: g.mul_(10))
        a, b = (x * 2).unbind()
        b.register_hook(lambda g: print("b", g))
        a.register_hook(lambda g: print("a", g))
        (a * 2).backward()
        attempt(lambda: torch.ones(2).register_hook(print))
        attempt(lambda: torch.ones(2).retain_grad())
    """,
    "what hooks may return": """
        def run(f, **hooks):
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            y = x * 2
            if "tensor" in hooks:
                y.register_hook(hooks["tensor"])
            if "before" in hooks:
                y.grad_fn.register_prehook(hooks["before"])
            if "after" in hooks:
                y.grad_fn.register_hook(hooks["after"])
            attempt(y.sum().backward)
            print(x.grad)
        three, double = torch.ones(3), torch.ones(2).double()
        for value in (3, three, double, double.long(), (double,), None):
            run(None, tensor=lambda g: value)
        for value in (3, double, [double], (), (3,), (None,), (three,), (double,), (three, three)):
            run(None, before=lambda gs: value)
            run(None, after=lambda grads, gs: value)
        run(None, before=lambda gs: (gs[0] * 10,))
        run(None, after=lambda grads, gs: (grads[0] * 10, None))
        run(None, after=lambda grads, gs: (None, three))
        run(None, after=lambda grads, gs: print(grads, gs))
        class Hook:
            def __call__(self, g):
                return torch.ones(3)
        def named(g):
            return torch.ones(3)
        run(None, tensor=Hook())
        run(None, tensor=named)
    """,
    "hooks on nodes": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.grad_fn.register_hook(lambda grads, gs: print("after", grads, gs))
        y.grad_fn.register_prehook(lambda gs: (print("before", gs), (gs[0] * 100,))[1])
        y.register_hook(lambda g: (print("tensor", g), g + 1)[1])
        y.retain_grad()
        y.sum().backward()
        print(x.grad, y.grad)
        end = (x * 2).grad_fn.next_functions[0][0]
        end.register_prehook(lambda gs: (gs[0] * 3,))
        end.register_hook(lambda grads, gs: print("end", grads, gs, x.grad))
        x.grad = None
        x.register_post_accumulate_grad_hook(lambda x: print("accumulated", x.grad))
        (x * 2).sum().backward()
        del end
        (x * 2).sum().backward()
        a, b = (x * 2).unbind()
        node = a.grad_fn
        node.register_prehook(lambda gs: print("before", gs))
        node.register_hook(lambda grads, gs: print("after", grads, gs))
        (b * 2).backward()
        print(node.metadata)
        node.metadata["note"] = 1
        print(a.grad_fn.metadata)
        attempt(lambda: (x * 2).register_post_accumulate_grad_hook(print))
        attempt(lambda: torch.ones(2).register_post_accumulate_grad_hook(print))
    """,
    "hooks that raise": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        def fail(g):
            raise ValueError("no")
        y = x * x
        z = y * 3
        handle = y.register_hook(fail)
        attempt(z.sum().backward)
        print(x.grad, torch.is_grad_enabled())
        handle.remove()
        attempt(z.sum().backward)
        print(x.grad)
        handle = x.register_hook(fail)
        y = (x * x).sum()
        attempt(y.backward)
        print(x.grad)
        handle.remove()
        attempt(y.backward)
        y = x * 2
        y.grad_fn.register_hook(lambda grads, gs: fail(None))
        attempt(y.sum().backward)
        print(x.grad)
    """,
    "passes within passes": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor([3.0], requires_grad=True)
        def inner(g):
            print(torch.is_grad_enabled())
            with torch.enable_grad():
                (w * w).sum().backward()
            print(w.grad, torch.is_grad_enabled())
            return g * 2
        y = x * x
        y.register_hook(inner)
        y.sum().backward()
        print(x.grad)
        def into_the_same(g):
            with torch.enable_grad():
                (x * 5).sum().backward()
        x.grad = None
        y = x * x
        y.register_hook(into_the_same)
        y.sum().backward()
        print(x.grad)
        y = x * x
        y.register_hook(lambda g: (x * 5).sum().backward())
        attempt(y.sum().backward)
        print(torch.is_grad_enabled())
        y = x * x
        y.register_hook(lambda g: print(torch.is_grad_enabled()))
        y.sum().backward(retain_graph=True)
        torch.autograd.grad(y.sum(), x, create_graph=True)
    """,
    "retain_grad and writing in place": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: print("early", g))
        y.mul_(3)
        y.register_hook(lambda g: print("late", g))
        (y * y).sum().backward()
        print(y.grad, x.grad)
        y = x * 2
        v = y[0]
        v.retain_grad()
        y.retain_grad()
        v.mul_(3)
        (y * y).sum().backward()
        print(y.grad, v.grad)
        y = x * 2
        v = y[0]
        v.retain_grad()
        y.retain_grad()
        v.mul_(3)
        (v * v).backward()
        print(y.grad, v.grad)
        y = x * 2
        v = y[0:1]
        v.retain_grad()
        v.register_hook(lambda g: print("early", g))
        y.mul_(3)
        (v * v).sum().backward()
        print(v.grad)
    """,
    "gradients that never come": """
        class Stop(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: None)
        class Say(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x, materialize: (ctx.set_materialize_grads(materialize), x * 2)[1])
            backward = staticmethod(lambda ctx, g: (print("said", g), (g, None))[1])
        for materialize in (True, False):
            x = torch.ones(2, requires_grad=True)
            x.register_hook(lambda g: print("x", g))
            x.register_post_accumulate_grad_hook(lambda x: print("accumulated", x.grad))
            y = Say.apply(x, materialize)
            y.register_hook(lambda g: print("y", g))
            y.retain_grad()
            m = y * 3
            m.grad_fn.register_prehook(lambda gs: print("before", gs))
            m.grad_fn.register_hook(lambda grads, gs: print("after", grads, gs))
            Stop.apply(m).sum().backward()
            print(x.grad, y.grad)
            print(torch.autograd.grad(Stop.apply(Say.apply(x, materialize)).sum(), x, allow_unused=True))
        m = x * 2
        m.register_hook(lambda g: torch.ones(2))
        attempt(Stop.apply(m).sum().backward)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
