"""When hooks on tensors, nodes and leaves are called, and after writes in place, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "order leaf nonleaf": """
        def mk():
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            y = x * 2
            z = y * 3
            return x, y, z
        def h(name, f=None):
            def hook(g):
                print(name, g)
                return None if f is None else f(g)
            return hook
        def nh(name):
            return lambda gi, go: print(name, gi, go)
        def pre(name):
            return lambda go: print(name, go)
        for how in ("backward", "grad", "grad both", "inputs leaf", "inputs non-leaf", "inputs both", "create",
            "create grad"):
            x, y, z = mk()
            print("-----", how)
            acc = x.view_as(x).grad_fn.next_functions[0][0]
            y.register_hook(h("y1"))
            y.grad_fn.register_prehook(pre("ypre"))
            y.grad_fn.register_hook(nh("ypost"))
            y.register_hook(h("y2", lambda g: g * 2))
            y.retain_grad()
            y.register_hook(h("y3", lambda g: g * 2))
            z.register_hook(h("z"))
            z.grad_fn.register_prehook(pre("zpre"))
            z.grad_fn.register_hook(nh("zpost"))
            acc.register_prehook(pre("accpre"))
            acc.register_hook(nh("accpost"))
            x.register_hook(h("x1", lambda g: g + 1))
            x.register_post_accumulate_grad_hook(lambda p: print("post", p.grad))
            x.register_hook(h("x2", lambda g: g + 1))
            s = z.sum()
            if how == "backward": s.backward()
            elif how == "grad": print(torch.autograd.grad(s, x))
            elif how == "grad both": print(torch.autograd.grad(s, [x, y]))
            elif how == "inputs leaf": s.backward(inputs=[x])
            elif how == "inputs non-leaf": s.backward(inputs=[y])
            elif how == "inputs both": s.backward(inputs=[x, y])
            elif how == "create": s.backward(create_graph=True)
            else: print(torch.autograd.grad(s, [x, y], create_graph=True))
            print(x.grad, y.grad)
    """,
    "order grad to y only with leaf hooks": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        z = y * 3
        y.register_hook(lambda g: (print("y", g), g * 5)[1])
        y.grad_fn.register_prehook(lambda gs: (print("pre", gs), (gs[0] * 7,))[1])
        y.grad_fn.register_hook(lambda gi, go: print("post"))
        y.retain_grad()
        print(torch.autograd.grad(z.sum(), y, retain_graph=True), y.grad)
        print(torch.autograd.grad(z.sum(), [y, y], retain_graph=True), y.grad)
        print(torch.autograd.grad(z.sum(), [y, x], retain_graph=True), y.grad)
        x.register_hook(lambda g: (print("x", g), g * 5)[1])
        acc = x.view_as(x).grad_fn.next_functions[0][0]
        acc.register_prehook(lambda gs: (print("apre", gs), (gs[0] * 7,))[1])
        acc.register_hook(lambda gi, go: print("apost"))
        print(torch.autograd.grad(z.sum(), [y, x], retain_graph=True), y.grad)
        z.sum().backward(inputs=[y], retain_graph=True)
        print(x.grad, y.grad)
        z.sum().backward(inputs=[x], retain_graph=True)
        print(x.grad, y.grad)
    """,
    "several outputs": """
        x = torch.arange(6.).reshape(3, 2).requires_grad_()
        a, b, c = (x * 1).unbind()
        c.register_hook(lambda g: print("c", g))
        a.register_hook(lambda g: print("a", g))
        a.retain_grad()
        b.register_hook(lambda g: print("b", g))
        c.register_hook(lambda g: print("c2", g))
        a.grad_fn.register_prehook(lambda gs: print("pre", gs))
        a.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
        (a * b).sum().backward(retain_graph=True)
        print(a.grad)
        print(torch.autograd.grad((a * b).sum(), [a, b], retain_graph=True))
        print(torch.autograd.grad((a * b).sum(), [c, a], retain_graph=True, allow_unused=True))
        print(torch.autograd.grad((a * b).sum(), [x, c, a], retain_graph=True, allow_unused=True))
        b.retain_grad()
        c.retain_grad()
        (a * c).sum().backward()
        print(a.grad, b.grad, c.grad)
    """,
    "several outputs replace": """
        x = torch.arange(6.).reshape(3, 2).requires_grad_()
        a, b, c = (x * 1).unbind()
        a.grad_fn.register_prehook(lambda gs: (gs[0], gs[0], gs[0]))
        attempt(lambda: (a * 2).sum().backward())
        print(x.grad)
        a, b, c = (x * 1).unbind()
        a.grad_fn.register_prehook(lambda gs: (gs[0], None, None))
        attempt(lambda: (a * 2 + b).sum().backward())
        print(x.grad)
        a, b, c = (x * 1).unbind()
        b.register_hook(lambda g: torch.ones(2))
        attempt(lambda: (a * 2).sum().backward())
        print(x.grad)
        v, i = (x * 1).sort(0)
        print(i.requires_grad, i.grad_fn)
        v.grad_fn.register_prehook(lambda gs: print("pre", gs))
        v.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
        v.sum().backward()
        print(x.grad)
    """,
    "pre hook none": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.grad_fn.register_prehook(lambda gs: (None,))
        y.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
        x.register_hook(lambda g: print("x", g))
        x.register_post_accumulate_grad_hook(lambda p: print("acc", p.grad))
        y.sum().backward()
        print(x.grad)
        y = x * 2
        y.register_hook(lambda g: None)
        y.grad_fn.register_hook(lambda gi, go: (None, None))
        y.sum().backward()
        print(x.grad)
        y = x * 2
        attempt(lambda: torch.autograd.grad(y.sum(), x))
        y.grad_fn.register_hook(lambda gi, go: (None, None))
        attempt(lambda: torch.autograd.grad(y.sum(), x))
    """,
    "acc node prehook with grad": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        acc = x.view_as(x).grad_fn.next_functions[0][0]
        print(acc.name(), acc.next_functions, acc.variable is x)
        acc.register_prehook(lambda gs: (print("pre", gs), (gs[0] * 10,))[1])
        acc.register_hook(lambda gi, go: print("post", gi, go))
        print(torch.autograd.grad((x * 2).sum(), x))
        (x * 2).sum().backward()
        print(x.grad)
        (x * 2).sum().backward(inputs=[x])
        print(x.grad)
        (x * 2).sum().backward(inputs=x)
        print(x.grad)
        acc.register_hook(lambda gi, go: (torch.ones(2),))
        attempt((x * 2).sum().backward)
        acc2 = x.view_as(x).grad_fn.next_functions[0][0]
        print(acc2 is acc, acc2 == acc)
        del acc, acc2
        (x * 2).sum().backward()
        print(x.grad)
    """,
    "leaf as root": """
        x = torch.tensor([1.0], requires_grad=True)
        x.register_hook(lambda g: print("x", g))
        x.register_post_accumulate_grad_hook(lambda p: print("acc", p.grad))
        acc = x.view_as(x).grad_fn.next_functions[0][0]
        acc.register_prehook(lambda gs: print("pre", gs))
        acc.register_hook(lambda gi, go: print("post", gi, go))
        x.backward()
        print(x.grad)
        g = torch.tensor([3.0])
        x.backward(g)
        print(x.grad)
        print(torch.autograd.grad(x, x))
        print(torch.autograd.grad([x, x * 2], x))
        torch.autograd.backward([x, x * 2, x])
        print(x.grad)
    """,
    "retained root": """
        x = torch.tensor([1.0], requires_grad=True)
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: print("y", g))
        y.backward(retain_graph=True)
        print(y.grad, x.grad)
        print(torch.autograd.grad(y, y, retain_graph=True))
        print(torch.autograd.grad(y, [y, x], retain_graph=True))
        print(y.grad)
        attempt(lambda: torch.autograd.grad(y, torch.ones(1, requires_grad=True)))
        attempt(lambda: torch.autograd.grad(y, torch.ones(1, requires_grad=True), allow_unused=True))
        y.backward(inputs=[y])
        print(y.grad, x.grad)
        y = x * 2
        attempt(lambda: y.backward(inputs=[torch.ones(1, requires_grad=True)]))
        y.register_hook(lambda g: print("y", g))
        y.retain_grad()
        attempt(lambda: y.backward(inputs=[torch.ones(1, requires_grad=True)]))
        print(y.grad)
    """,
    "same hook many": """
        x = torch.tensor([1.0], requires_grad=True)
        calls = []
        def hook(g): calls.append(g.item()); return g * 2
        a = x.register_hook(hook); b = x.register_hook(hook)
        (x * 3).backward()
        print(calls, x.grad)
        a.remove()
        (x * 3).backward()
        print(calls, x.grad, x._backward_hooks is None, len(x._backward_hooks))
        b.remove()
        print(x._backward_hooks)
        (x * 3).backward()
        print(calls, x.grad)
        class C:
            def m(self, g): print("method", g)
            def __call__(self, g): print("callable", g)
        c = C()
        import functools
        x.register_hook(c.m); x.register_hook(c)
        x.register_hook(functools.partial(lambda k, g: print(k, g), "partial"))
        (x * 3).backward()
        attempt(lambda: x.register_hook(3))
        attempt((x * 3).backward)
    """,
    "inplace hooks": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: print("early", g))
        d1 = y._backward_hooks
        print(type(d1), len(d1))
        y.retain_grad()
        y.mul_(3)
        print(y._backward_hooks is d1, y._backward_hooks)
        y.register_hook(lambda g: print("late", g))
        print(y._backward_hooks is d1, len(y._backward_hooks), y.retains_grad)
        y.mul_(5)
        y.register_hook(lambda g: print("latest", g))
        y.sum().backward()
        print(y.grad)
    """,
    "inplace via view": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        v = y[:1]
        v.register_hook(lambda g: print("v early", g))
        y.register_hook(lambda g: print("y early", g))
        v.mul_(3)
        v.register_hook(lambda g: print("v late", g))
        y.register_hook(lambda g: print("y late", g))
        print(y.grad_fn.name(), v.grad_fn.name())
        (y * 1).sum().backward(retain_graph=True)
        (v * 1).sum().backward(retain_graph=True)
        w = y[1:]
        w.register_hook(lambda g: print("w", g))
        y.mul_(2)
        w.register_hook(lambda g: print("w late", g))
        y.register_hook(lambda g: print("y latest", g))
        w.sum().backward(retain_graph=True)
        y.sum().backward()
        print(x.grad)
    """,
    "detach_": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: print("y", g))
        y.retain_grad()
        z = y * 2
        print(y.detach_() is y, y.requires_grad, y.is_leaf, y.retains_grad, len(y._backward_hooks))
        z.sum().backward()
        print(y.grad, x.grad)
        attempt(lambda: y.register_hook(print))
        y.requires_grad_()
        y.register_hook(lambda g: print("new", g))
        (y * 5).sum().backward()
        print(y.grad)
        x.detach_()
        print(x.requires_grad, x.is_leaf, x.grad)
        a, b = (torch.ones(2, requires_grad=True) * 2).unbind()
        attempt(a.detach_)
        v = (torch.ones(2, requires_grad=True) * 2)[0]
        attempt(v.detach_)
    """,
    "leaf becomes nonleaf": """
        w = torch.ones(2, requires_grad=True)
        x = torch.zeros(2)
        x.mul_(w)
        x.register_hook(lambda g: print("x", g))
        x.sum().backward()
        print(w.grad)
        y = torch.zeros(2, requires_grad=True)
        y.register_hook(lambda g: print("y", g))
        with torch.no_grad():
            y.add_(1)
        (y * 2).sum().backward()
        print(y.grad, y._backward_hooks is None)
        y.requires_grad_(False)
        print(y.grad, y._backward_hooks is None)
        y.requires_grad_()
        (y * 2).sum().backward()
        print(y.grad)
    """,
    "leaf hook, then made nonleaf": """
        y = torch.zeros(2, requires_grad=True)
        y.register_hook(lambda g: print("y", g))
        y.register_post_accumulate_grad_hook(lambda p: print("post", p.grad))
        y.requires_grad_(False)
        w = torch.ones(2, requires_grad=True)
        y.add_(w)
        (y * 2).sum().backward()
        print(w.grad, y._backward_hooks)
        y.register_hook(lambda g: print("y2", g))
        (y * 2).sum().backward()
    """,
    "retain_grad moves": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.retain_grad()
        z = y * y
        y.add_(1)
        y = x * 2
        y.retain_grad()
        z = y * 3
        y.add_(1)
        z.sum().backward()
        print(y.grad)
        attempt(lambda: torch.autograd.grad(z, y))
        y = x.clone()
        y.retain_grad()
        v = y[0]
        v.retain_grad()
        v.zero_()
        v.register_hook(lambda g: print("v", g))
        y.sum().backward(retain_graph=True)
        print(y.grad, v.grad)
        v.backward()
        print(y.grad, v.grad)
    """,
    "data set and hooks": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda g: print("x", g))
        y = x * 2
        x.data = torch.tensor([5.0, 6.0])
        y.sum().backward()
        print(x.grad)
        (x * x).sum().backward()
        print(x.grad)
    """,
    "hook on base, writes to view only": """
        x = torch.ones(4, requires_grad=True)
        y = x * 1
        y.register_hook(lambda g: print("y0", g))
        v = y.view(2, 2)
        w = v[0]
        w.register_hook(lambda g: print("w0", g))
        w.retain_grad()
        v.retain_grad()
        y.retain_grad()
        w.mul_(2)
        w.mul_(3)
        y.sum().backward(retain_graph=True)
        print(y.grad, v.grad, w.grad)
        w.sum().backward(retain_graph=True)
        print(y.grad, v.grad, w.grad)
        v.sum().backward(retain_graph=True)
        print(y.grad, v.grad, w.grad)
        print(x.grad)
        print(torch.autograd.grad(y.sum(), [v, w], retain_graph=True, allow_unused=True))
        print(torch.autograd.grad(v.sum(), [y, v], retain_graph=True, allow_unused=True))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
