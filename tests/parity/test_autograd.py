"""Programs about gradients, hooks, accumulation and grad modes say the same with retrograd as with PyTorch."""

import pytest
from programs import transcript

import retrograd

torch = pytest.importorskip("torch")

PROGRAMS = {
    "accumulation": """
        x = torch.tensor([1., 2.], requires_grad=True)
        (x * 3).sum().backward(); first = x.grad; print(first, first.requires_grad)
        (x * 3).sum().backward(); print(x.grad is first, x.grad, first._version)
        x.grad = None
        seed = torch.tensor([1., 10.]); x.backward(seed); seed.zero_(); print(x.grad)
        x.grad = torch.zeros(2); x.expand(3, 2).sum().backward(); print(x.grad, x.grad.stride())
        half = torch.ones(2, dtype=torch.half, requires_grad=True); (half.float() * 2).sum().backward(); print(half.grad)
        (first,) = torch.autograd.grad((x * x).sum(), x); print(first, x.grad)
    """,
    "layout of a gradient": """
        for p in (torch.ones(3, 2).t(), torch.ones(6)[::2], torch.ones(2, 3, 4).permute(2, 0, 1), torch.ones(2, 1).expand(2, 3)):
            p.requires_grad_()
            (p * 2).sum().backward(); print(p.grad.stride())
            p.grad = None; (p * torch.ones(p.shape)).sum().backward(); print(p.grad.stride())
    """,
    "create_graph": """
        import warnings
        x = torch.tensor([1., 2.], requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (x * x).sum().backward(create_graph=True); first = x.grad; print(first)
            (x * x).sum().backward(); print(x.grad is first, x.grad)
            (x * x).sum().backward(create_graph=True); print(x.grad is first, x.grad)
            x.grad = None; x.sum().backward(create_graph=True); print(x.grad)
        y = x ** 3
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True); print(first)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True); print(second)
        (third,) = torch.autograd.grad(second.sum(), x); print(third)
        (product,) = torch.autograd.grad(x * x, x, torch.ones(2, requires_grad=True), create_graph=True); print(product)
    """,
    "order of accumulation": """
        def order(f):
            leaves = [torch.ones(2, requires_grad=True) for _ in "abc"]
            seen = []
            for name, leaf in zip("abc", leaves):
                leaf.register_post_accumulate_grad_hook(lambda leaf, name=name: seen.append(name))
                leaf.register_hook(lambda grad, name=name: seen.append("hook of " + name))
            f(*leaves).sum().backward(); print(seen)
        order(lambda a, b, c: a * b * c)
        order(lambda a, b, c: a * b + c)
        order(lambda a, b, c: a + (b + c))
        order(lambda a, b, c: (a * b).exp() * (c + a))
        order(lambda a, b, c: c + b * (a * b))
        order(lambda a, b, c: torch.stack([c, b, a]))
        order(lambda a, b, c: a + b + c + a + b + c)
        order(lambda a, b, c: b)
        order(lambda a, b, c: torch.cat([a * 2, b, c * 3]) * torch.cat([c, b, a]))
    """,
    "a second pass fails only where something was saved": """
        x = torch.tensor([1., 2.], requires_grad=True)
        def twice(f):
            y = f(x).sum(); y.backward(); y.backward(); return "done"
        for f in (
            lambda x: x + x, lambda x: x * 2, lambda x: x * x, lambda x: x - 3, lambda x: x.exp(), lambda x: -x,
            lambda x: x.view(2, 1), lambda x: x[0], lambda x: x.sum(0), lambda x: x / 2, lambda x: 2 / x,
            lambda x: x.abs(), lambda x: x ** 2, lambda x: x.clone(), lambda x: x.double(), lambda x: torch.cat([x, x]),
            lambda x: x.mean(), lambda x: x.prod(), lambda x: x.max(), lambda x: x.max(0)[0], lambda x: x.expand(3, 2),
            lambda x: x.relu(), lambda x: x.clamp(0, 1), lambda x: x.unbind()[0], lambda x: x.cumsum(0), lambda x: x @ x,
            lambda x: x.sqrt(), lambda x: x.softmax(0), lambda x: x.norm(), lambda x: x * torch.ones(2),
            lambda x: torch.ones(2) / x, lambda x: torch.where(x > 0, x, x),
        ):
            attempt(lambda: twice(f))
        y = (x * x).sum(); y.backward(retain_graph=True); y.backward(); attempt(y.backward)
        y = (x * x).sum(); torch.autograd.grad(y, x, create_graph=True); y.backward(); attempt(y.backward)
    """,
    "inputs": """
        x = torch.tensor([1., 2.], requires_grad=True); w = torch.ones(2, requires_grad=True)
        def fresh(): x.grad = None; y = x * w; return y, (y * y).sum()
        y, z = fresh(); z.backward(inputs=[y]); print(x.grad, y.grad, w.grad, y.retains_grad)
        y, z = fresh(); z.backward(inputs=x); print(x.grad, w.grad)
        y, z = fresh(); torch.autograd.backward(z, inputs=(x, y)); print(x.grad, y.grad, w.grad)
        y, z = fresh(); print(torch.autograd.grad(z, [x, y, x]))
        y, z = fresh(); print(torch.autograd.grad(z, w, retain_graph=True), torch.autograd.grad([z, y.sum()], [y, w]))
        y, z = fresh(); z.backward(inputs=[torch.ones(2, requires_grad=True)]); print(x.grad)
        y, z = fresh()
        attempt(lambda: z.backward(inputs=[])); attempt(lambda: torch.autograd.backward(z, inputs=[]))
        attempt(lambda: z.backward(inputs=[torch.ones(2)])); attempt(lambda: z.backward(inputs=[3]))
        attempt(lambda: z.backward(inputs=3)); attempt(lambda: torch.autograd.grad(z, []))
        attempt(lambda: torch.autograd.grad(z, 3)); attempt(lambda: torch.autograd.grad(z, [x, None]))
        attempt(lambda: torch.autograd.grad(z, torch.ones(2)))
    """,
    "unused inputs": """
        x = torch.tensor([1., 2.], requires_grad=True); unused = torch.ones(3, requires_grad=True)
        grad, total = torch.autograd.grad, lambda: (x * x).sum()
        attempt(lambda: grad(total(), [x, unused])); attempt(lambda: grad([], x))
        print(grad(total(), [x, unused], allow_unused=True), grad(total(), [x, unused], materialize_grads=True))
        attempt(lambda: grad(total(), unused, allow_unused=False, materialize_grads=True))
        attempt(lambda: grad(total(), [x], only_inputs=False))
    """,
    "cotangents": """
        x = torch.tensor([1., 2.], requires_grad=True); grad, one, two = torch.autograd.grad, torch.ones(()), torch.ones(2)
        attempt(lambda: grad(x * x, x)); attempt(lambda: grad(x * x, x, two)); attempt(lambda: grad(x * x, x, [two]))
        attempt(lambda: grad((x.sum(), x * x), x, [None, two])); attempt(lambda: grad((x.sum(), x * x), x, two))
        attempt(lambda: grad(x, x, torch.ones(3))); attempt(lambda: grad(x, x, two.double()))
        attempt(lambda: grad(x, x, two.long())); attempt(lambda: grad(x, x, two * 1j))
        attempt(lambda: grad(x * 1j, x, two)); attempt(lambda: grad((x * 1j).sum(), x))
        attempt(lambda: grad(x, x, 3)); attempt(lambda: grad(x, x, [3])); attempt(lambda: x.sum().backward(two))
        attempt(lambda: x.backward()); attempt(lambda: x.sum().backward(3)); attempt(lambda: x.sum().backward([one]))
        attempt(lambda: torch.autograd.backward([x.sum(), x.sum()], [one])); attempt(lambda: torch.autograd.backward([]))
        attempt(lambda: torch.autograd.backward(x.sum(), grad_variables=one, grad_tensors=one))
        attempt(lambda: two.sum().backward()); attempt(lambda: two.long().sum().backward()); attempt(lambda: grad([3], x))
        attempt(lambda: grad(x * x, x, torch.eye(2), is_grads_batched=True))
        attempt(lambda: grad(x, x, torch.ones(3, 3), is_grads_batched=True))
        attempt(lambda: grad(x.sum(), [x, torch.ones(1, requires_grad=True)], two, is_grads_batched=True, allow_unused=True))
    """,
    "what may be set": """
        def put(tensor, name, value): setattr(tensor, name, value)
        w = torch.ones(2, requires_grad=True); y = w * 2; c = torch.ones(2); i = torch.tensor([1, 2])
        for value in (True, False, None, 3):
            attempt(lambda: put(c, "requires_grad", value)); attempt(lambda: put(y, "requires_grad", value))
            attempt(lambda: put(i, "requires_grad", value)); attempt(lambda: i.requires_grad_(value))
            attempt(lambda: y.requires_grad_(value)); print(c.requires_grad)
        for value in (None, 3, w, torch.ones(3), torch.ones(2).double(), torch.ones(2)):
            attempt(lambda: put(w, "grad", value)); print(w.grad)
        del w.grad; print(w.grad)
        print(y.grad); y.retain_grad(); print(y.grad); attempt(lambda: put(y, "grad", torch.ones(2))); print(y.grad)
        attempt(lambda: torch.tensor([1], requires_grad=True)); c = torch.ones(2); c.grad = torch.ones(2); print(c.grad)
    """,
    "hooks on tensors": """
        x = torch.tensor([1., 2.], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: (print("first", g), g * 10)[1])
        y.retain_grad()
        handle = y.register_hook(lambda g: (print("second", g), g + 1)[1])
        z = (y * y).sum(); z.backward(retain_graph=True); print(y.grad, x.grad)
        handle.remove(); handle.remove(); z.backward(retain_graph=True); print(y.grad)
        print(torch.autograd.grad(z, y, retain_graph=True), torch.autograd.grad(z, [x, y]))
        with x.register_hook(lambda g: g * 0): (x * 2).sum().backward()
        (x * 2).sum().backward(); print(x.grad)
        y = x * x; calls = []
        def adding(g): calls.append("adding"); y.register_hook(lambda g: calls.append("added"))
        y.register_hook(adding); y.sum().backward(retain_graph=True); y.sum().backward(); print(calls)
        y = x * x; handles = []
        handles.append(y.register_hook(lambda g: handles[1].remove())); handles.append(y.register_hook(lambda g: print("ran")))
        y.sum().backward(); (x * x).register_hook(lambda g: g.mul_(10))
        a, b = (x * 2).unbind(); b.register_hook(lambda g: print("b", g)); a.register_hook(lambda g: print("a", g))
        (a * 2).backward(); attempt(lambda: torch.ones(2).register_hook(print)); attempt(lambda: torch.ones(2).retain_grad())
    """,
    "what hooks may return": """
        def run(f, **hooks):
            x = torch.tensor([1., 2.], requires_grad=True); y = x * 2
            if "tensor" in hooks: y.register_hook(hooks["tensor"])
            if "before" in hooks: y.grad_fn.register_prehook(hooks["before"])
            if "after" in hooks: y.grad_fn.register_hook(hooks["after"])
            attempt(y.sum().backward); print(x.grad)
        three, double = torch.ones(3), torch.ones(2).double()
        for value in (3, three, double, double.long(), (double,), None): run(None, tensor=lambda g: value)
        for value in (3, double, [double], (), (3,), (None,), (three,), (double,), (three, three)):
            run(None, before=lambda gs: value)
            run(None, after=lambda grads, gs: value)
        run(None, before=lambda gs: (gs[0] * 10,)); run(None, after=lambda grads, gs: (grads[0] * 10, None))
        run(None, after=lambda grads, gs: (None, three)); run(None, after=lambda grads, gs: print(grads, gs))
        class Hook:
            def __call__(self, g): return torch.ones(3)
        def named(g): return torch.ones(3)
        run(None, tensor=Hook()); run(None, tensor=named)
    """,
    "hooks on nodes": """
        x = torch.tensor([1., 2.], requires_grad=True)
        y = x * 2
        y.grad_fn.register_hook(lambda grads, gs: print("after", grads, gs))
        y.grad_fn.register_prehook(lambda gs: (print("before", gs), (gs[0] * 100,))[1])
        y.register_hook(lambda g: (print("tensor", g), g + 1)[1]); y.retain_grad()
        y.sum().backward(); print(x.grad, y.grad)
        end = (x * 2).grad_fn.next_functions[0][0]
        end.register_prehook(lambda gs: (gs[0] * 3,)); end.register_hook(lambda grads, gs: print("end", grads, gs, x.grad))
        x.grad = None; x.register_post_accumulate_grad_hook(lambda x: print("accumulated", x.grad))
        (x * 2).sum().backward(); del end; (x * 2).sum().backward()
        a, b = (x * 2).unbind(); node = a.grad_fn
        node.register_prehook(lambda gs: print("before", gs)); node.register_hook(lambda grads, gs: print("after", grads, gs))
        (b * 2).backward(); print(node.metadata); node.metadata["note"] = 1; print(a.grad_fn.metadata)
        attempt(lambda: (x * 2).register_post_accumulate_grad_hook(print))
        attempt(lambda: torch.ones(2).register_post_accumulate_grad_hook(print))
    """,
    "hooks that raise": """
        x = torch.tensor([1., 2.], requires_grad=True)
        def fail(g): raise ValueError("no")
        y = x * x; z = y * 3; handle = y.register_hook(fail); attempt(z.sum().backward)
        print(x.grad, torch.is_grad_enabled()); handle.remove(); attempt(z.sum().backward); print(x.grad)
        handle = x.register_hook(fail); y = (x * x).sum(); attempt(y.backward); print(x.grad); handle.remove(); attempt(y.backward)
        y = x * 2; y.grad_fn.register_hook(lambda grads, gs: fail(None)); attempt(y.sum().backward); print(x.grad)
    """,
    "passes within passes": """
        x = torch.tensor([1., 2.], requires_grad=True); w = torch.tensor([3.], requires_grad=True)
        def inner(g):
            print(torch.is_grad_enabled())
            with torch.enable_grad(): (w * w).sum().backward()
            print(w.grad, torch.is_grad_enabled()); return g * 2
        y = x * x; y.register_hook(inner); y.sum().backward(); print(x.grad)
        def into_the_same(g):
            with torch.enable_grad(): (x * 5).sum().backward()
        x.grad = None; y = x * x; y.register_hook(into_the_same); y.sum().backward(); print(x.grad)
        y = x * x; y.register_hook(lambda g: (x * 5).sum().backward()); attempt(y.sum().backward); print(torch.is_grad_enabled())
        y = x * x; y.register_hook(lambda g: print(torch.is_grad_enabled())); y.sum().backward(retain_graph=True)
        torch.autograd.grad(y.sum(), x, create_graph=True)
    """,
    "retain_grad and writing in place": """
        x = torch.tensor([1., 2.], requires_grad=True)
        y = x * 2; y.retain_grad(); y.register_hook(lambda g: print("early", g)); y.mul_(3)
        y.register_hook(lambda g: print("late", g)); (y * y).sum().backward(); print(y.grad, x.grad)
        y = x * 2; v = y[0]; v.retain_grad(); y.retain_grad(); v.mul_(3); (y * y).sum().backward(); print(y.grad, v.grad)
        y = x * 2; v = y[0]; v.retain_grad(); y.retain_grad(); v.mul_(3); (v * v).backward(); print(y.grad, v.grad)
        y = x * 2; v = y[0:1]; v.retain_grad(); v.register_hook(lambda g: print("early", g)); y.mul_(3)
        (v * v).sum().backward(); print(v.grad)
    """,
    "gradient edges": """
        edge = torch.autograd.graph.get_gradient_edge; Node = torch.autograd.graph.Node
        x = torch.tensor([1., 2.], requires_grad=True); y = x * 2; a, b = y.unbind(); z = a * b
        print(edge(x), edge(y), edge(b).output_nr, edge(b)._fields); attempt(lambda: edge(torch.ones(2)))
        print(torch.autograd.grad(z, [edge(b), edge(x), a], retain_graph=True), torch.autograd.grad(edge(b), x, retain_graph=True))
        torch.autograd.backward(edge(z), inputs=[edge(x)], retain_graph=True); print(x.grad)
        attempt(lambda: torch.autograd.grad(edge(y), x)); print(isinstance(y.grad_fn, Node), isinstance(edge(x).node, Node))
        Variable = torch.autograd.Variable
        print(Variable(y), Variable(x, requires_grad=True), isinstance(x, Variable), Variable(x) is x, Variable(x).requires_grad)
        attempt(lambda: Variable(3)); attempt(lambda: Variable())
    """,
    "grad modes": """
        x = torch.tensor([1., 2.], requires_grad=True); on = torch.is_grad_enabled
        with torch.no_grad():
            print(on(), (x * 2).requires_grad)
            with torch.enable_grad(): print(on())
            print(on())
        @torch.no_grad()
        def parenthesised(): "text"; return on()
        @torch.no_grad
        def bare(): return on()
        @torch.set_grad_enabled(False)
        def set_off(): return on()
        @torch.no_grad()
        def deep(n): return [on()] + (deep(n - 1) if n else [])
        print(parenthesised(), bare(), set_off(), deep(2), parenthesised.__name__, parenthesised.__doc__, on())
        torch.set_grad_enabled(False); print(on()); torch.set_grad_enabled(True); print(on())
        switch = torch.set_grad_enabled(False); print(on())
        with switch: print(on())
        print(on()); torch.set_grad_enabled(True)
        try:
            with torch.no_grad(): raise ValueError
        except ValueError: print(on())
        attempt(lambda: torch.set_grad_enabled()); attempt(lambda: torch.set_grad_enabled(1)); print(on())
    """,
    "generators under a grad mode": """
        on = torch.is_grad_enabled
        @torch.no_grad()
        def talk():
            try:
                got = yield on()
                print("got", got, on()); yield on()
            except ValueError as error: print("caught", error, on()); yield "after"
            finally: print("finally", on())
        g = talk(); print(next(g), on(), g.send(5), on()); g.close()
        g = talk(); next(g); print(g.throw(ValueError("thrown")), on()); attempt(lambda: list(g))
        @torch.no_grad()
        def returning(): yield 1; return 7
        def outer(): print("returned", (yield from returning()))
        print(list(outer()))
        @torch.no_grad()
        def failing(): yield 1; raise KeyError("k")
        g = failing(); next(g); attempt(lambda: next(g)); print(on())
    """,
    "gradients that never come": """
        class Stop(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: None)
        class Say(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x, materialize: (ctx.set_materialize_grads(materialize), x * 2)[1])
            backward = staticmethod(lambda ctx, g: (print("said", g), (g, None))[1])
        for materialize in (True, False):
            x = torch.ones(2, requires_grad=True); x.register_hook(lambda g: print("x", g))
            x.register_post_accumulate_grad_hook(lambda x: print("accumulated", x.grad))
            y = Say.apply(x, materialize); y.register_hook(lambda g: print("y", g)); y.retain_grad()
            m = y * 3; m.grad_fn.register_prehook(lambda gs: print("before", gs))
            m.grad_fn.register_hook(lambda grads, gs: print("after", grads, gs))
            Stop.apply(m).sum().backward(); print(x.grad, y.grad)
            print(torch.autograd.grad(Stop.apply(Say.apply(x, materialize)).sum(), x, allow_unused=True))
        m = x * 2; m.register_hook(lambda g: torch.ones(2)); attempt(Stop.apply(m).sum().backward)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
