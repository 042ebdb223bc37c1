"""What a program sees of a graph: nodes, their attributes and hooks, edges, and the functions about them."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "hooks of a node": """
        x = torch.tensor([1., 2.], requires_grad=True); w = torch.tensor([3., 4.], requires_grad=True)
        y = x * w
        n = y.grad_fn
        log = []
        h = n.register_hook(lambda gi, go: print('post', type(gi), gi, type(go), go))
        p = n.register_prehook(lambda go: print('pre', type(go), go))
        y.sum().backward()
        h.remove(); p.remove()
        # replacing
        y = x * w
        y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
        y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, None))
        print(torch.autograd.grad(y.sum(), (x, w), allow_unused=True))
        for bad in (lambda go: 3, lambda go: (1, 2), lambda go: (torch.ones(3),), lambda go: [go[0]],
                    lambda go: (None,), lambda go: (), lambda go: ('x',),
                    lambda go: (torch.ones(2, dtype=torch.float64),)):
            y = x * w
            y.grad_fn.register_prehook(bad)
            attempt(lambda: torch.autograd.grad(y.sum(), (x, w), allow_unused=True))
        for bad in (lambda gi, go: 3, lambda gi, go: (1, 2), lambda gi, go: (gi[0],), lambda gi, go: [gi[0], gi[1]],
                    lambda gi, go: (torch.ones(3), None), lambda gi, go: (torch.ones(2, dtype=torch.float64), None),
                    lambda gi, go: (gi[0], gi[1], None)):
            y = x * w
            y.grad_fn.register_hook(bad)
            attempt(lambda: torch.autograd.grad(y.sum(), (x, w), allow_unused=True))
        acc = (x * 1).grad_fn.next_functions[0][0]
        h = acc.register_hook(lambda gi, go: print('acc post', gi, go, x.grad))
        p = acc.register_prehook(lambda go: print('acc pre', go, x.grad))
        (x * 3).sum().backward()
        print(x.grad)
        print(acc.metadata, acc.name(), acc.next_functions, acc.variable is x)
        h.remove(); p.remove()
        acc.register_hook(lambda gi, go: (torch.ones(1),))
        attempt(lambda: (x * 3).sum().backward())
    """,
    "hooks of a node of several outputs": """
        x = torch.arange(6.).reshape(3, 2).requires_grad_()
        a, b, c = x.unbind()
        n = a.grad_fn
        numbers = lambda gs: [None if g is None else g.tolist() for g in gs]
        n.register_hook(lambda gi, go: print('post', numbers(gi), numbers(go)))
        n.register_prehook(lambda go: print('pre', numbers(go)))
        print(a.output_nr, b.output_nr, c.output_nr, b.is_leaf, b.retains_grad)
        b.retain_grad(); print(b.retains_grad)
        b.sum().backward(retain_graph=True)
        print(b.grad, x.grad)
        (a + b).sum().backward()
        v, i = x.max(0)
        m = v.grad_fn._input_metadata
        print(v.output_nr, i.output_nr, m[0].shape, len(m), i.requires_grad)
        u, s, vh = torch.linalg.svd(x)
        print([(t.output_nr, t.grad_fn.name()) for t in (u, s, vh)], len(u.grad_fn._input_metadata))
        print(u.grad_fn is s.grad_fn, u.grad_fn == s.grad_fn)
    """,
    "edges of tensors": """
        G = torch.autograd.graph
        x = torch.tensor([1., 2.], requires_grad=True)
        y = x.exp(); z = y * x
        e = G.get_gradient_edge(y)
        print(type(e).__name__, e.output_nr, e.node.name(), e._fields, len(e), type(e).__module__)
        print(G.get_gradient_edge(x).node.name(), G.get_gradient_edge(x).output_nr)
        attempt(lambda: G.get_gradient_edge(torch.ones(2)))
        attempt(lambda: G.get_gradient_edge(3))
        print(torch.autograd.grad(z.sum(), e, retain_graph=True))
        print(torch.autograd.grad(z.sum(), [e, x], retain_graph=True))
        print(torch.autograd.grad([G.get_gradient_edge(z)], [x], [torch.ones(2)], retain_graph=True))
        attempt(lambda: torch.autograd.grad([G.get_gradient_edge(z)], [x], retain_graph=True))
        attempt(lambda: torch.autograd.grad([G.get_gradient_edge(z)], [x], [torch.ones(3)], retain_graph=True))
        torch.autograd.backward(G.get_gradient_edge(z), torch.ones(2), retain_graph=True); print(x.grad)
        attempt(lambda: torch.autograd.backward(z.sum(), inputs=[e, x], retain_graph=True))
        attempt(lambda: torch.autograd.backward(z.sum(), inputs=e, retain_graph=True))
        print(x.grad)
        q = G.GradientEdge(y.grad_fn, 0); print(q == e, q.node is e.node)
        attempt(lambda: G.GradientEdge(y.grad_fn))
        print(str(G.GradientEdge(3, 0)))
    """,
    "functions about graphs": """
        G = torch.autograd.graph
        x = torch.tensor([1., 2.], requires_grad=True)
        y = x.clone(); v = y._version
        G.increment_version(y); print(y._version - v)
        G.increment_version([y, y]); print(y._version - v)
        attempt(lambda: G.increment_version(3))
        attempt(lambda: G.increment_version([3]))
        G.increment_version(x.detach()); print(x._version)
        G.increment_version(x); print(x._version)
        attempt(lambda: G.increment_version(()))
        with torch.inference_mode(): t = torch.ones(2)
        attempt(lambda: G.increment_version(t))
        z = x.exp(); w = z * 2
        G.increment_version(z)
        attempt(lambda: w.sum().backward())
        z = x.exp(); G.increment_version(z)
        attempt(lambda: z.sum().backward())
        with G.disable_saved_tensors_hooks('no hooks here'):
            attempt(lambda: G.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__())
            attempt(lambda: G.save_on_cpu().__enter__())
            with G.disable_saved_tensors_hooks('inner'):
                attempt(lambda: G.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__())
            attempt(lambda: G.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__())
        def inside():
            with G.saved_tensors_hooks(lambda t: t, lambda t: t):
                with G.disable_saved_tensors_hooks('late'): pass
        attempt(inside)
        pack = lambda t: print('pack', t.shape, t.requires_grad, t.is_leaf) or t
        with G.saved_tensors_hooks(pack, lambda t: print('unpack') or t):
            z = (x * x.exp()).sum()
        z.backward()
        with G.save_on_cpu(pin_memory=False):
            z = (x * x.exp()).sum()
        z.backward(); print(x.grad)
    """,
    "hooks on several gradients": """
        G = torch.autograd.graph
        x = torch.tensor([1., 2.], requires_grad=True); w = torch.tensor([3., 4.], requires_grad=True)
        for mode in ('all', 'any'):
            h = G.register_multi_grad_hook((x, w), lambda g: print(mode, g), mode=mode)
            (x * w).sum().backward(); x.sum().backward()
            h.remove()
        attempt(lambda: G.register_multi_grad_hook((), lambda g: print(g)))
        attempt(lambda: G.register_multi_grad_hook((), lambda g: print(g), mode='any'))
        attempt(lambda: G.register_multi_grad_hook(x, lambda g: print(g)))
        attempt(lambda: G.register_multi_grad_hook((x, 3), lambda g: print(g)))
    """,
    "facts of nodes and tensors": """
        x = torch.tensor([1., 2.], requires_grad=True)
        a = x * 1; b = a + 1; c = b.exp()
        s = [t.grad_fn._sequence_nr() for t in (a, b, c)]
        print([t - s[0] for t in s])
        n = c.grad_fn
        print(n.metadata, type(n.metadata)); n.metadata['k'] = 1; print(c.grad_fn.metadata)
        print(n.requires_grad, n.next_functions[0][0] is b.grad_fn, n.next_functions[0][0] == b.grad_fn)
        print(isinstance(n, torch.autograd.graph.Node), torch.autograd.graph.Node.__mro__[1:])
        print(len({c.grad_fn, c.grad_fn}), c.grad_fn is c.grad_fn)
        attempt(lambda: torch.autograd.graph.Node())
        attempt(lambda: n.nothing)
        attempt(lambda: setattr(n, 'foo', 3))
        attempt(lambda: n(torch.ones(2)))
        attempt(lambda: n())
        attempt(lambda: n(torch.ones(2), torch.ones(2)))
        attempt(lambda: n(torch.ones(3)))
        attempt(lambda: n(None))
        attempt(lambda: n(3))
        import copy, pickle
        attempt(lambda: copy.copy(n)); attempt(lambda: copy.deepcopy(n)); attempt(lambda: pickle.dumps(n))
        print(a.is_leaf, x.is_leaf, x.grad_fn, x.output_nr, torch.ones(2).output_nr)
        for name in ('grad_fn', 'is_leaf', 'output_nr', 'retains_grad'): attempt(lambda: setattr(a, name, True))
        print(a.retains_grad, x.retains_grad); x.retain_grad(); a.retain_grad(); print(x.retains_grad, a.retains_grad)
        attempt(lambda: torch.ones(2).retain_grad())
        d = a.detach(); print(d.retains_grad, d.grad_fn)
        print(repr(a.grad_fn)[:24], str(a.grad_fn)[:24], a)
    """,
    "the node of a Function": """
        x = torch.tensor([1., 2.], requires_grad=True)
        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b, c=3):
                print(type(ctx).__name__, ctx.needs_input_grad, ctx.name() if hasattr(ctx, 'name') else '')
                ctx.save_for_backward(a, None); ctx.k = c
                attempt(lambda: ctx.saved_tensors)
                return a * 2, a * 3
            @staticmethod
            def backward(ctx, g, h):
                print('bw', type(ctx).__name__, ctx.needs_input_grad, g, h, ctx.saved_tensors, ctx.k)
                return g * 2, None, None
        a, b = F.apply(x, 5, 6)
        n = a.grad_fn
        print(n.name(), type(n).__name__, n is b.grad_fn, a.output_nr, b.output_nr)
        print([(m.shape, str(m.dtype)) for m in n._input_metadata])
        print(n.next_functions[0][0].name(), len(n.next_functions), n.saved_tensors, n.k)
        print(n.needs_input_grad, n.to_save is None, n.dirty_tensors, n.non_differentiable)
        print([type(r).__name__ for r in n._raw_saved_tensors])
        n.register_hook(lambda gi, go: print('hook', gi, go)); n.register_prehook(lambda go: print('pre', go))
        a.sum().backward()
        attempt(lambda: n.saved_tensors); attempt(lambda: n._raw_saved_tensors)
        attempt(lambda: a.sum().backward())
        print(n._is_pure_view if hasattr(n, '_is_pure_view') else '-')
        attempt(lambda: F.apply())
        attempt(lambda: F())
        attempt(lambda: F.forward(x))
        print(a, b)
        class NoGrad(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                r = a.argmax(); s = a * 2
                ctx.mark_non_differentiable(s); return r, s, a.clone()
            @staticmethod
            def backward(ctx, *g): print(g); return g[2]
        r, s, c = NoGrad.apply(x); print(r, s, c, r.requires_grad, s.requires_grad, s.grad_fn)
        c.sum().backward()
        class M(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.set_materialize_grads(False); return a.clone(), a.clone()
            @staticmethod
            def backward(ctx, g, h): print(g, h); return g
        u, v = M.apply(x); u.sum().backward()
    """,
    "two rules for vmap": """
        class Both(torch.autograd.Function):
            generate_vmap_rule = True
            @staticmethod
            def forward(a): return a * 2
            @staticmethod
            def setup_context(ctx, inputs, output): pass
            @staticmethod
            def backward(ctx, g): return g * 2
            @staticmethod
            def vmap(info, in_dims, a): return a * 2, in_dims[0]
        x = torch.ones(3, 2)
        attempt(lambda: torch.vmap(Both.apply)(x))
        attempt(lambda: torch.vmap(lambda a: Both.apply(torch.ones(2)))(x))
        attempt(lambda: torch.vmap(torch.func.grad(lambda a: Both.apply(a).sum()))(x))
        print(torch.func.grad(lambda a: Both.apply(a).sum())(x), Both.apply(x))
    """,
    "views and writes": """
        x = torch.ones(4, requires_grad=True)
        y = x * 1
        v = y[:2]; w = y.view(2, 2)
        v.mul_(2)
        following = lambda t: [n and n.name() for n, _ in t.grad_fn.next_functions]
        print(y.grad_fn.name(), v.grad_fn.name(), w.grad_fn.name(), following(y), y.grad_fn.next_functions[0][1])
        print(v.grad_fn.next_functions[0][0].name(), w.grad_fn.next_functions[0][0].name())
        y[0] = 3.; print(y.grad_fn.name(), following(y))
        y[1] = x[0]; print(following(y))
        z = torch.zeros(3); z[0] = x[1]; print(z.grad_fn.name(), following(z), z.is_leaf)
        a, b = (x * 1).chunk(2); print(a.grad_fn.name(), b.output_nr, a._is_view(), a._base is b._base)
        with torch.no_grad(): q = y[1:]
        print(q.requires_grad, q.grad_fn, q.is_leaf)
        d = y.detach(); print(d._is_view(), d._base, d.is_leaf)
        s = y.squeeze(); print(s.grad_fn.name(), s is y); r = y.reshape(4); print(r.grad_fn.name(), r._is_view())
        print(y.grad_fn._sequence_nr() > x[0].grad_fn._sequence_nr())
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
