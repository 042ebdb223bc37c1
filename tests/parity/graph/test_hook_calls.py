"""What hooks may return, write to and remove, and what is left after one that raises, as in PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "handles": """
        import pickle, copy, weakref, gc
        from collections import OrderedDict
        x = torch.ones(2, requires_grad=True)
        h = x.register_hook(lambda g: g * 2)
        print(type(h), h.id >= 0, h.hooks_dict_ref() is x._backward_hooks, h.extra_dict_ref, h.id in x._backward_hooks)
        h2 = x.register_hook(print)
        print(h2.id - h.id)
        s = h2.__getstate__()
        print(s[0] is x._backward_hooks, s[1] == h2.id, s[2])
        h3 = type(h).__new__(type(h)); h3.__setstate__((x._backward_hooks, h2.id))
        print(len(x._backward_hooks)); h3.remove(); h3.remove(); h2.remove(); print(len(x._backward_hooks))
        h3.__setstate__((None, 5)); h3.remove(); print(h3.hooks_dict_ref())
        h3.__setstate__((None, 5, ({},))) if False else None
        y = x * 2
        hy = y.register_hook(lambda g: print("y", g))
        d = hy.hooks_dict_ref
        del y
        gc.collect()
        print(d() is None)
        hy.remove()
        y = x * 2
        hy = y.register_hook(lambda g: print("y", g))
        s = y.sum(); del y
        print(hy.hooks_dict_ref() is None)
        s.backward()
        print(hy.hooks_dict_ref() is None)
        with x.register_hook(lambda g: g * 100) as hh:
            print(hh is not None)
            (x * 1).sum().backward()
        print(x.grad, hh.id in x._backward_hooks)
        RH = torch.utils.hooks.RemovableHandle
        dd, ee = OrderedDict(), OrderedDict()
        r = RH(dd, extra_dict=ee); dd[r.id] = 1; ee[r.id] = 2
        r.remove(); print(dd, ee)
        r = RH(dd, extra_dict=[ee]); dd[r.id] = 1; ee[r.id] = 2
        r.remove(); print(dd, ee)
        print(RH.next_id > r.id)
    """,
    "node hooks handles": """
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        h1 = y.grad_fn.register_hook(lambda gi, go: print("a"))
        h2 = y.grad_fn.register_hook(lambda gi, go: print("b"))
        print(h2.id - h1.id, type(h1.hooks_dict_ref()), len(h1.hooks_dict_ref()))
        p = y.grad_fn.register_prehook(lambda go: print("p"))
        print(type(p.hooks_dict_ref()), len(p.hooks_dict_ref()))
        h1.remove()
        y.sum().backward(retain_graph=True)
        p.remove()
        y.sum().backward()
        x2 = torch.ones(2, requires_grad=True)
        ph = x2.register_post_accumulate_grad_hook(lambda p: print("post"))
        print(type(ph.hooks_dict_ref()), x2._post_accumulate_grad_hooks is ph.hooks_dict_ref(),
            x._post_accumulate_grad_hooks)
        y2 = x2 * 2
        print(y2._post_accumulate_grad_hooks if hasattr(y2, "_post_accumulate_grad_hooks") else None)
    """,
    "hooks changing hooks": """
        x = torch.ones(2, requires_grad=True)
        hs = []
        def selfremove(g): print("self"); hs[0].remove(); return g * 2
        hs.append(x.register_hook(selfremove))
        def removenext(g): print("removenext"); hs[2].remove()
        hs.append(x.register_hook(removenext))
        hs.append(x.register_hook(lambda g: print("next")))
        def adder(g):
            print("adder"); x.register_hook(lambda g: print("added")); return None
        hs.append(x.register_hook(adder))
        (x * 2).sum().backward(); print("--")
        (x * 2).sum().backward(); print("--")
        y = x * 2
        def pre_adds_post(gs):
            y.grad_fn.register_hook(lambda gi, go: print("post added", go))
            y.grad_fn.register_prehook(lambda gs: print("pre added"))
        y.grad_fn.register_prehook(pre_adds_post)
        y.register_hook(lambda g: (y.grad_fn.register_prehook(lambda gs: print("pre from tensor")), None)[1])
        y.sum().backward(retain_graph=True); print("--")
        y.sum().backward()
        y = x * 2
        h = y.grad_fn.register_hook(lambda gi, go: (print("post1"), h.remove(), h2.remove(), None)[3])
        h2 = y.grad_fn.register_hook(lambda gi, go: print("post2"))
        y.sum().backward(retain_graph=True); print("--")
        y.sum().backward()
        z = torch.ones(2, requires_grad=True)
        pa = z.register_post_accumulate_grad_hook(lambda p: (print("pa1"), pb.remove(), None)[2])
        pb = z.register_post_accumulate_grad_hook(lambda p: print("pb"))
        (z * 2).sum().backward(); print("--")
        (z * 2).sum().backward()
    """,
    "returned the same object": """
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: g)
        seen = []
        y.register_hook(lambda g: seen.append(g))
        y.register_hook(lambda g: print(g is seen[0]))
        y.grad_fn.register_prehook(lambda gs: print(gs[0] is seen[0]))
        y.grad_fn.register_prehook(lambda gs: gs)
        y.grad_fn.register_hook(lambda gi, go: print(go[0] is seen[0]))
        y.grad_fn.register_hook(lambda gi, go: gi)
        y.grad_fn.register_hook(lambda gi, go: [gi[0]] )
        attempt(y.sum().backward)
        print(x.grad)
    """,
    "bad returns": """
        def run(reg):
            x = torch.ones(2, requires_grad=True)
            y = x * 2
            reg(x, y)
            attempt(y.sum().backward)
            print(x.grad, torch.is_grad_enabled())
        for value in (3, "a", torch.ones(3), torch.ones(2).double(), torch.ones(2).long(), (torch.ones(2),),
            torch.ones(1), torch.ones(2, 1), torch.ones(()), torch.ones(2, dtype=torch.complex64), True, []):
            run(lambda x, y: y.register_hook(lambda g: value))
            run(lambda x, y: x.register_hook(lambda g: value))
            run(lambda x, y: y.grad_fn.register_prehook(lambda gs: (value,)))
            run(lambda x, y: y.grad_fn.register_hook(lambda gi, go: (value, None)))
            run(lambda x, y: y.grad_fn.register_hook(lambda gi, go: value))
            run(lambda x, y: x.view_as(x).grad_fn.next_functions[0][0].register_prehook(lambda gs: (value,)))
            run(lambda x, y: x.register_post_accumulate_grad_hook(lambda p: value))
        class L(list): pass
        class Tp(tuple): pass
        run(lambda x, y: y.grad_fn.register_prehook(lambda gs: Tp(gs)))
        run(lambda x, y: y.grad_fn.register_hook(lambda gi, go: Tp((gi[0] * 3, None))))
        run(lambda x, y: y.register_hook(lambda: 3))
        run(lambda x, y: y.register_hook(lambda a, b: 3))
        run(lambda x, y: y.register_hook("x"))
        run(lambda x, y: y.register_hook(lambda g: torch.ones(2, requires_grad=True)))
        run(lambda x, y: x.register_hook(lambda g: torch.ones(2, requires_grad=True)))
        run(lambda x, y: x.register_hook(lambda g: x))
        run(lambda x, y: y.grad_fn.register_hook(lambda gi, go: (torch.ones(2, requires_grad=True) * 2, None)))
    """,
    "replaced values alias": """
        x = torch.ones(2, requires_grad=True)
        r = torch.tensor([5., 6.])
        x.register_hook(lambda g: r)
        (x * 2).sum().backward()
        print(x.grad, x.grad is r, x.grad.data_ptr() == r.data_ptr(), x.grad.requires_grad)
        r.zero_()
        print(x.grad)
        x = torch.ones(2, requires_grad=True)
        p = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g: p)
        (x * 2).sum().backward()
        print(x.grad, x.grad.requires_grad, x.grad.is_leaf)
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g: p * 2)
        (x * 2).sum().backward()
        print(x.grad, x.grad.requires_grad)
        x.grad = None
        (x * 2).sum().backward(create_graph=True)
        print(x.grad.requires_grad, x.grad.grad_fn is not None)
    """,
    "in-place on gradient": """
        def case(f):
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            attempt(lambda: f(x))
            print(x.grad)
        def a(x):
            y = x * 2; y.register_hook(lambda g: (g.mul_(10), None)[1]); (y * torch.tensor([1., 2.])).sum().backward()
        def b(x):
            y = x * 2; y.register_hook(lambda g: (g.mul_(10), None)[1]); y.sum().backward()
        def c(x):
            y = x * 2
            z = x * 3
            y.register_hook(lambda g: (g.mul_(10), None)[1])
            w = y + z
            (w * torch.tensor([1., 2.])).sum().backward()
        def d(x):
            y = x * 2
            z = x * 3
            z.register_hook(lambda g: (g.mul_(10), None)[1])
            w = y + z
            (w * torch.tensor([1., 2.])).sum().backward()
        def e(x):
            x.register_hook(lambda g: (g.mul_(10), None)[1]); g = torch.tensor([1., 2.]); (x + 0).backward(g); print(g)
        def f(x):
            x.register_hook(lambda g: (g.mul_(10), None)[1]); g = torch.tensor([1., 2.]); x.backward(g); print(g)
        def g_(x):
            y = x.exp(); y.register_hook(lambda g: (g.mul_(10), None)[1]); y.backward(torch.tensor([1., 2.]))
        def h(x):
            y = x * 2
            y.grad_fn.register_hook(lambda gi, go: (gi[0].mul_(10), None)[1])
            (y * torch.tensor([1., 2.])).sum().backward()
        def i(x):
            y = x * 2
            y.grad_fn.register_prehook(lambda go: (go[0].mul_(10), None)[1])
            (y * torch.tensor([1., 2.])).sum().backward()
        def j(x):
            y = x * 2
            y.retain_grad()
            y.register_hook(lambda g: (g.mul_(10), None)[1])
            (y * torch.tensor([1., 2.])).sum().backward()
            print(y.grad)
        def k(x):
            y = x * 2
            y.register_hook(lambda g: (g.mul_(10), None)[1])
            print(torch.autograd.grad((y * torch.tensor([1., 2.])).sum(), y))
        def l(x):
            y = x * 2
            y.register_hook(lambda g: (g.mul_(10), None)[1])
            z = y.reshape(2, 1)
            w = y.view(1, 2)
            (w.t() * z * torch.tensor([[1.], [2.]])).sum().backward()
        def m(x):
            y = x * 2
            y.register_hook(lambda g: g.mul_(10))
            y.register_hook(lambda g: print(g._version))
            (y * torch.tensor([1., 2.])).sum().backward(create_graph=True)
            print(x.grad.requires_grad)
        for fn in (a, b, c, d, e, f, g_, h, i, j, k, l, m): print(fn.__name__); case(fn)
    """,
    "raising": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor([3.0, 4.0], requires_grad=True)
        class Boom(Exception): pass
        def fail(*a): raise Boom("no")
        def t(place, **kw):
            for p in (x, w): p.grad = None
            a = x * 2; b = w * a; c = b * 3; s = c.sum()
            if place == "tensor": hd = a.register_hook(fail)
            if place == "pre": hd = a.grad_fn.register_prehook(fail)
            if place == "post": hd = a.grad_fn.register_hook(fail)
            if place == "post b": hd = b.grad_fn.register_hook(fail)
            if place == "leaf x": hd = x.register_hook(fail)
            if place == "leaf w": hd = w.register_hook(fail)
            if place == "pa x": hd = x.register_post_accumulate_grad_hook(fail)
            if place == "pa w": hd = w.register_post_accumulate_grad_hook(fail)
            attempt(lambda: s.backward(**kw))
            print(place, x.grad, w.grad, torch.is_grad_enabled())
            hd.remove()
            attempt(lambda: s.backward())
            print(x.grad, w.grad)
            with torch.no_grad():
                pass
            s2 = (x * w).sum()
            s2.backward(); print(x.grad, w.grad)
        for place in ("tensor", "pre", "post", "post b", "leaf x", "leaf w", "pa x", "pa w"):
            t(place); t(place, retain_graph=True); t(place, create_graph=True)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
