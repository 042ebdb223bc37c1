"""Passes inside hooks, in threads and through deep graphs; nodes as users see and call them, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "raise keyboard": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        def fail(g): raise KeyboardInterrupt
        h = x.register_hook(fail)
        try: (x * 2).sum().backward()
        except KeyboardInterrupt as e: print("interrupted", torch.is_grad_enabled())
        h.remove()
        (x * 2).sum().backward()
        print(x.grad)
        def stop(g): raise StopIteration(3)
        h = x.register_hook(stop)
        attempt((x * 2).sum().backward)
        h.remove()
        def ex(g): raise SystemExit(3)
        h = x.register_hook(ex)
        try: (x * 2).sum().backward()
        except SystemExit as e: print("exit", e.code)
    """,
    "reentrant": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        depth = []
        def mk(n):
            y = x * 2
            def hook(g):
                depth.append(n)
                if n:
                    with torch.enable_grad():
                        mk(n - 1).sum().backward()
            y.register_hook(hook)
            return y
        mk(3).sum().backward()
        print(x.grad, depth)
        x.grad = None
        depth.clear()
        mk(200).sum().backward()
        print(x.grad, len(depth))
        y = x * x
        z = (y * y).sum()
        y.register_hook(lambda g: print(torch.autograd.grad(z, y,
            retain_graph=True)) if len(depth) == 201 and depth.append(1) is None else None)
        z.backward(retain_graph=True)
        def same(g):
            attempt(z.backward)
        h = x.register_hook(same)
        w = (x * 3).sum()
        h2 = None
        x.grad = None
        def once(g):
            h.remove()
            z.backward(retain_graph=True)
            print("inner", x.grad)
        h.remove()
        h = x.register_hook(once)
        w.backward()
        print(x.grad)
    """,
    "modes in hooks": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        def hook(g): print(torch.is_grad_enabled(), g.requires_grad, g.grad_fn is not None,
            torch.is_inference_mode_enabled())
        y.register_hook(hook); x.register_hook(hook)
        x.register_post_accumulate_grad_hook(lambda p: print("pa", torch.is_grad_enabled(), p.grad.requires_grad))
        (y * y).sum().backward(retain_graph=True)
        (y * y).sum().backward(create_graph=True)
        with torch.no_grad():
            s = y
            y.sum().backward(retain_graph=True) if False else None
        z = (y * y).sum()
        with torch.no_grad(): z.backward(retain_graph=True)
        with torch.no_grad(): z.backward(create_graph=True)
        def setmode(g): torch.set_grad_enabled(True)
        x.register_hook(setmode)
        z = (y * y).sum()
        z.backward()
        print(torch.is_grad_enabled())
        x2 = torch.tensor([1.0, 2.0], requires_grad=True)
        y2 = x2 * 2
        y2.register_hook(lambda g: (torch.set_grad_enabled(True), None)[1])
        y2.grad_fn.register_prehook(lambda g: print(torch.is_grad_enabled()))
        x2.register_hook(lambda g: print(torch.is_grad_enabled()))
        attempt(lambda: (y2 * y2).sum().backward())
        print(torch.is_grad_enabled(), x2.grad)
    """,
    "cycles and lifetime": """
        import weakref, gc
        gc.disable()
        class H:
            def __call__(self, g): pass
        h = H(); r = weakref.ref(h)
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(h)
        y.grad_fn.register_prehook(h); y.grad_fn.register_hook(lambda gi, go, h=h: None)
        y.retain_grad()
        del h
        s = y.sum(); s.backward(retain_graph=True)
        wy = weakref.ref(y)
        del y
        print(wy() is None, r() is None)
        s.backward()
        del s
        print(r() is None)
        h = H(); r = weakref.ref(h)
        x.register_hook(h); x.register_post_accumulate_grad_hook(h)
        del h, x
        print(r() is None)
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        hd = y.grad_fn.register_hook(lambda gi, go: None)
        f = weakref.ref(y.grad_fn) if False else None
        del y
        print(hd.hooks_dict_ref() is None)
        hd.remove()
        gc.enable()
    """,
    "node interface": """
        import weakref
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        n = y.grad_fn
        Node = torch.autograd.graph.Node
        print(isinstance(n, Node), isinstance(n.next_functions[0][0], Node), issubclass(type(n), Node), isinstance(3,
            Node), isinstance(x, Node))
        class F(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: g * 2)
        f = F.apply(x).grad_fn
        print(isinstance(f, Node), issubclass(type(f), Node), f.name(), type(f).__name__)
        print(n is y.grad_fn, n == y.grad_fn, hash(n) == hash(y.grad_fn), n != (x * 2).grad_fn, len({n, y.grad_fn}))
        attempt(lambda: weakref.ref(n))
        attempt(lambda: weakref.ref(f)() is f)
        print(n.metadata, n.metadata is y.grad_fn.metadata)
        n.metadata["a"] = 1
        print(y.grad_fn.metadata)
        print(type(n._sequence_nr()), (x * 2).grad_fn._sequence_nr() - n._sequence_nr() > 0)
        a = x * 2; b = a * 2
        print(b.grad_fn._sequence_nr() - a.grad_fn._sequence_nr())
        print(n.next_functions[0][0]._sequence_nr())
        q = torch.ones(3, 2, requires_grad=True).unbind()
        print([tuple(k.shape) for k in q[0].grad_fn._input_metadata])
        print(f._input_metadata[0].shape, f._sequence_nr() >= 0)
        attempt(lambda: n.register_hook(3))
        attempt(lambda: setattr(n, "foo", 3))
        attempt(lambda: f._forward_cls)
        for k in ("name", "next_functions", "metadata", "register_hook", "register_prehook", "_register_hook_dict",
            "_sequence_nr", "_input_metadata"):
            print(k, hasattr(n, k), hasattr(f, k), hasattr(n.next_functions[0][0], k))
        attempt(lambda: y.grad_fn.foo)
    """,
    "call nodes": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        n = (x * 2).grad_fn
        attempt(lambda: n(torch.ones(2)))
        attempt(lambda: (x * x).grad_fn(torch.ones(2)))
        attempt(lambda: x.exp().grad_fn(torch.ones(2)))
        attempt(lambda: n())
        attempt(lambda: n(3))
        attempt(lambda: n(None))
        attempt(lambda: n(torch.ones(2), torch.ones(2)))
        attempt(lambda: n(torch.ones(3)))
        attempt(lambda: (x + x).grad_fn(torch.ones(2)))
        attempt(lambda: (x.sum()).grad_fn(torch.ones(())))
        acc = n.next_functions[0][0]
        attempt(lambda: acc(torch.ones(2)))
        print(x.grad)
        a, b = x.unbind()
        attempt(lambda: a.grad_fn(torch.ones(()), torch.ones(())))
        attempt(lambda: a.grad_fn(torch.ones(()), None))
        class F(torch.autograd.Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            backward = staticmethod(lambda ctx, g: g * 2)
        f = F.apply(x).grad_fn
        attempt(lambda: f(torch.ones(2)))
        n.register_prehook(lambda gs: print("pre", gs))
        n.register_hook(lambda gi, go: print("post", gi, go))
        attempt(lambda: n(torch.ones(2)))
        attempt(lambda: n(torch.ones(2, requires_grad=True)))
        y = x * x
        g = y.grad_fn
        y.sum().backward()
        attempt(lambda: g(torch.ones(2)))
        w = x.clone()
        w[:1].mul_(3)
        attempt(lambda: w.grad_fn(torch.ones(2)))
    """,
    "deep": """
        x = torch.ones(1, requires_grad=True)
        y = x
        for _ in range(200000): y = y + 1
        n = []
        y.backward(); print(x.grad)
        del y
        print("released")
    """,
    "deep hooks and grad": """
        x = torch.ones(1, requires_grad=True)
        y = x
        n = []
        for i in range(20000):
            y = y * 1
            if i % 1000 == 0: y.register_hook(lambda g, i=i: n.append(i))
        g, = torch.autograd.grad(y, x, retain_graph=True)
        print(g, len(n), n[:3])
        y.backward(inputs=[x]); print(x.grad)
        def down(n, x):
            class F(torch.autograd.Function):
                @staticmethod
                def forward(ctx, a): return a * 1
                @staticmethod
                def backward(ctx, g):
                    if n:
                        with torch.enable_grad():
                            a = g.detach().requires_grad_()
                            return torch.autograd.grad(down(n - 1, a), a, g)[0]
                    return g * 2
            return F.apply(x)
        x.grad = None
        down(300, x).backward(); print(x.grad)
    """,
    "nested order and modes": """
        x = torch.ones(1, requires_grad=True)
        log = []
        def nest(n):
            y = x * 2
            def hook(g):
                log.append(("in", n, torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
                if n:
                    with torch.enable_grad(): z = nest(n - 1)
                    z.backward()
                log.append(("out", n, torch.is_grad_enabled()))
            y.register_hook(hook)
            return y
        nest(60).backward(create_graph=False)
        print(log[:3], log[-3:], len(log), x.grad)
    """,
    "threads separate graphs": """
        import threading
        out = {}
        def work(i):
            x = torch.full((3,), float(i), requires_grad=True)
            seen = []
            y = x * x
            y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
            for _ in range(50): (y * 2).sum().backward(retain_graph=True)
            out[i] = (x.grad.tolist(), set(seen), torch.is_grad_enabled())
        ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in ts: t.start()
        for t in ts: t.join()
        print(sorted(out.items()))
    """,
    "threads shared leaves": """
        import threading, sys
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        w = torch.zeros(50, requires_grad=True)
        b = torch.zeros(1, requires_grad=True)
        calls = []
        def work(i):
            for _ in range(100):
                ((w * (i + 1)).sum() + b * 2).sum().backward()
        ts = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in ts: t.start()
        for t in ts: t.join()
        sys.setswitchinterval(before)
        print(set(w.grad.tolist()), b.grad)
    """,
    "threads shared graph": """
        import threading, sys
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        w = torch.ones(10, requires_grad=True)
        y = w * w
        n = [0]
        lock = threading.Lock()
        def count(g):
            with lock: n[0] += 1
        y.register_hook(count)
        a, c = y.split(5)
        z = (a * c).sum()
        got = []
        def work():
            for _ in range(50):
                g, = torch.autograd.grad(z, w, retain_graph=True)
                got.append(tuple(g.tolist()))
                z.backward(retain_graph=True)
        ts = [threading.Thread(target=work) for i in range(5)]
        for t in ts: t.start()
        for t in ts: t.join()
        sys.setswitchinterval(before)
        print(set(got), n, set(w.grad.tolist()))
    """,
    "threads and modes": """
        import threading
        res = {}
        x = torch.ones(2, requires_grad=True)
        barrier = threading.Barrier(2)
        def work(i):
            with torch.set_grad_enabled(bool(i)):
                barrier.wait()
                h = []
                with torch.enable_grad():
                    z = x * 3
                    z.register_hook(lambda g: (barrier.wait(), h.append((torch.is_grad_enabled(), g.requires_grad)),
                        None)[2])
                z.backward(torch.ones(2), create_graph=bool(i))
                res[i] = h, torch.is_grad_enabled()
        ts = [threading.Thread(target=work, args=(i,)) for i in (0, 1)]
        for t in ts: t.start()
        for t in ts: t.join()
        print(sorted(res.items()))
    """,
    "raise in the middle": """
        x = torch.ones(2, requires_grad=True)
        w = torch.ones(2, requires_grad=True)
        v = torch.ones(2, requires_grad=True)
        class Boom(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a): return a * 1
            @staticmethod
            def backward(ctx, g):
                if on[0]: raise ValueError("boom")
                return g
        for order in range(3):
            for p in (x, w, v): p.grad = None
            on = [True]
            a = Boom.apply(x * 2)
            b = a * w
            c = b * v
            if order == 1: c = v * b
            if order == 2: c = (v * 2) * b
            attempt(c.sum().backward)
            print(x.grad, w.grad, v.grad)
            on[0] = False
            attempt(c.sum().backward)
            print(x.grad, w.grad, v.grad)
            c = Boom.apply(x * 2).sum()
            c.backward()
            print(x.grad)
    """,
    "double backward with hooks": """
        x = torch.tensor([2.0], requires_grad=True)
        y = x * x
        y.register_hook(lambda g: g * 3)
        x.register_hook(lambda g: g + x)
        g, = torch.autograd.grad(y, x, create_graph=True)
        print(g)
        gg, = torch.autograd.grad(g, x, create_graph=True)
        print(gg)
        x = torch.tensor([2.0], requires_grad=True)
        w = torch.tensor([5.0], requires_grad=True)
        y = x * x
        y.grad_fn.register_hook(lambda gi, go: tuple(None if g is None else g * w for g in gi))
        y.grad_fn.register_prehook(lambda go: tuple(g * w for g in go))
        g, = torch.autograd.grad(y, x, create_graph=True)
        print(g, torch.autograd.grad(g, [x, w]))
        y = x * w
        y.retain_grad()
        y.backward(create_graph=True, retain_graph=True)
        print(y.grad, y.grad.requires_grad, x.grad)
        y.backward(create_graph=True)
        print(y.grad, y.grad.grad_fn, x.grad)
        y = x * w
        y.register_hook(lambda g: g.detach() * 2)
        print(torch.autograd.grad(y, x, create_graph=True))
        seen = []
        y = x * w
        y.register_hook(lambda g: seen.append((g.requires_grad, g.grad_fn)))
        (y * y).backward(create_graph=True)
        print(seen)
    """,
    "warn once": """
        torch.set_warn_always(False)
        x = torch.ones(1, requires_grad=True)
        torch.set_warn_always(True)
        print(torch.is_warn_always_enabled())
        (x * x).backward(create_graph=True)
        torch.autograd.backward(x * x, create_graph=True)
        torch.set_warn_always(False)
        (x * x).backward(create_graph=True)
        torch.set_warn_always(True)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
