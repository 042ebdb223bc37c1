"""What custom Functions may be given and may return, by program: the same is said with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.function_programs import PREAMBLE
from programs.running import transcript

PROGRAMS = {
    "forward kinds": """
        back = lambda ctx, *g: (print("back", g, ctx.needs_input_grad), tuple(None for _ in ctx.needs_input_grad))[
            1
        ]
        x = leaf()
        for value in (
            lambda x: (x * 2, x * 3),
            lambda x: [x * 2, x * 3],
            lambda x: (x * 2,),
            lambda x: [x * 2],
            lambda x: {"a": x * 2},
            lambda x: None,
            lambda x: (),
            lambda x: [],
            lambda x: (x * 2, (x * 3, x * 4)),
            lambda x: (x * 2, None, 5, "s", [x * 3]),
            lambda x: 3,
            lambda x: x.sum(),
            lambda x: torch.tensor(3),
            lambda x: (torch.tensor([1, 2]), x * 2),
            lambda x: x > 1,
        ):
            def go():
                out = made(lambda ctx, x: value(x), back).apply(x)
                print(type(out).__name__)
                facts(*(out if isinstance(out, (tuple, list)) else (out,)))
                if isinstance(out, torch.Tensor) and out.requires_grad:
                    out.sum().backward()
                elif isinstance(out, tuple):
                    sum([o.sum() for o in out if isinstance(o, torch.Tensor) and o.requires_grad]).backward()
            attempt(go)
    """,
    "namedtuple and tuple subclass": """
        import collections
        P = collections.namedtuple("P", "a b")
        out = made(lambda ctx, x: P(x * 2, x * 3), lambda ctx, g, h: g).apply(leaf())
        print(type(out).__name__)
        facts(*out)
        out = torch.Size
    """,
    "kwargs": """
        class K(Function):
            @staticmethod
            def forward(ctx, x, k=2, *, scale=1.0):
                print("forward", k, scale, ctx.needs_input_grad)
                return x * k * scale
            @staticmethod
            def backward(ctx, *g):
                print("backward", ctx.needs_input_grad)
                return g[0], None
        x = leaf()
        attempt(lambda: facts(K.apply(x)))
        attempt(lambda: facts(K.apply(x, 3)))
        attempt(lambda: facts(K.apply(x, k=3)))
        attempt(lambda: facts(K.apply(x=x)))
        attempt(lambda: facts(K.apply(x, scale=3.0)))
        attempt(lambda: facts(K.apply(x, scale=x)))
        attempt(lambda: facts(K.apply(x, k=x)))
        attempt(lambda: facts(K.apply(torch.ones(3), k=x)))
        attempt(lambda: facts(K.apply(x, z=1)))
        attempt(lambda: facts(K.apply(x, 1, 2, 3)))
        attempt(lambda: facts(K.apply()))
        for kw in ({}, {"k": 3}, {"scale": 2.0}):
            def go():
                y = K.apply(x, **kw)
                y.sum().backward()
                print(y.grad_fn.needs_input_grad, y.grad_fn.next_functions, x.grad)
            attempt(go)
        def go():
            y = K.apply(x, 5)
            y.sum().backward()
            print(x.grad)
        attempt(go)
    """,
    "kwargs with setup_context": """
        class K(Function):
            @staticmethod
            def forward(x, k=2, *, scale=1.0):
                print("forward", k, scale)
                return x * k * scale
            @staticmethod
            def setup_context(ctx, *a, **kw):
                print("setup", a, kw, ctx.needs_input_grad)
                ctx.k = a[0][1]
            @staticmethod
            def backward(ctx, g):
                return g * ctx.k, None, None
        x = leaf()
        attempt(lambda: facts(K.apply(x)))
        attempt(lambda: facts(K.apply(x, 3)))
        attempt(lambda: facts(K.apply(x, k=3)))
        attempt(lambda: facts(K.apply(x=x)))
        attempt(lambda: facts(K.apply(x, scale=3.0)))
        attempt(lambda: facts(K.apply(x, z=1)))
        attempt(lambda: facts(K.apply(x, 1, 2, 3)))
        attempt(lambda: facts(K.apply()))
        class V(Function):
            @staticmethod
            def forward(x, *more):
                return x * 2
            @staticmethod
            def setup_context(ctx, inputs, output):
                print(inputs, output, type(inputs).__name__)
            @staticmethod
            def backward(ctx, g):
                return g, None, None
        attempt(lambda: facts(V.apply(x, 3, 4)))
        attempt(lambda: V.apply(x, 3, 4).sum().backward())
        class NoStatic(Function):
            def forward(x, y):
                return x * y
            def setup_context(ctx, inputs, output):
                print("setup", inputs)
            def backward(ctx, g):
                return g, g
        attempt(lambda: grads(NoStatic.apply(x, x), x))
    """,
    "no tensor inputs": """
        x = leaf()
        F = made(lambda ctx, *a: torch.ones(2), lambda ctx, g: g)
        facts(F.apply(), F.apply(3), F.apply([x]), F.apply({"a": x}))
        G = made(lambda ctx, a: a[0] * 2, lambda ctx, g: g)
        facts(G.apply([x]))
        G = made(lambda ctx, a: a[0], lambda ctx, g: g)
        y = G.apply([x])
        print(y is x)
        facts(y)
        H = made(lambda ctx, a, z: a[0], lambda ctx, g: (None, g))
        attempt(lambda: facts(H.apply([x], x)))
        attempt(lambda: facts(H.apply([leaf() * 2], x)))
    """,
    "not static": """
        class NS(Function):
            def forward(ctx, x):
                return x * 2
            def backward(ctx, g):
                return g * 2
        x = leaf()
        attempt(lambda: grads(NS.apply(x), x))
        class CM(Function):
            @classmethod
            def forward(cls, ctx, x):
                print(cls.__name__)
                return x * 2
            @classmethod
            def backward(cls, ctx, g):
                return g * 2
        attempt(lambda: grads(CM.apply(x), x))
        attempt(lambda: NS.apply.__self__.__name__)
        attempt(lambda: NS().apply(x))
        attempt(lambda: NS()(x))
        attempt(lambda: NS())
        n = NS()
        attempt(lambda: n.saved_tensors)
        attempt(lambda: n.needs_input_grad)
        attempt(lambda: n.name())
        attempt(lambda: n.next_functions)
        attempt(lambda: n.metadata)
        attempt(lambda: n.requires_grad)
    """,
    "missing methods": """
        x = leaf()
        class N(Function):
            pass
        class OnlyForward(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
        class OnlySetup(Function):
            @staticmethod
            def setup_context(ctx, inputs, output):
                pass
        attempt(lambda: N.apply(x))
        attempt(lambda: OnlyForward.apply(x).sum().backward())
        attempt(lambda: OnlySetup.apply(x))
        attempt(lambda: Function.apply(x))
        attempt(lambda: Function.forward(x))
        attempt(lambda: Function.backward(x))
        attempt(lambda: Function.vjp(x))
        attempt(lambda: Function.jvp(x))
        attempt(lambda: Function.vmap(x, None))
        attempt(lambda: Function.setup_context(x, None, None))
        print(Function.generate_vmap_rule, Function.clear_saved_tensors_on_access, Function.boxed_grads_call)
        print(OnlyForward.backward is Function.backward, Function.vjp is Function.backward)
    """,
    "subclassing": """
        class A(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.k = 3
                return x * 2
            @staticmethod
            def backward(ctx, g):
                return g * ctx.k
        class B(A):
            @staticmethod
            def backward(ctx, g):
                print("B")
                return A.backward(ctx, g) * 10
        class C(B):
            pass
        class D(A):
            @staticmethod
            def vjp(ctx, g):
                return g * 7
        x = leaf()
        for f in (A, B, C, D):
            y = f.apply(x)
            facts(y)
            grads(y, x)
            print(
                f._backward_cls.__name__,
                f._backward_cls._forward_cls.__name__,
                [c.__name__ for c in f._backward_cls.__mro__],
            )
        print(A.__mro__[1].__name__, type(A).__name__)
        A.backward = staticmethod(lambda ctx, g: g * 100)
        grads(A.apply(x), x)
        grads(C.apply(x), x)
    """,
    "modes inside forward": """
        x = leaf()
        def fwd(ctx, x):
            print(torch.is_grad_enabled(), x.requires_grad)
            a = x * 2
            with torch.enable_grad():
                b = x * 2
                c = b * 3
            print(a, b)
            ctx.a, ctx.c = a, c
            return b
        F = made(fwd, lambda ctx, g: g * 5)
        y = F.apply(x)
        facts(y, y.grad_fn.c)
        grads(y, x)
        with torch.no_grad():
            facts(F.apply(x))
        with torch.inference_mode():
            y = F.apply(x)
            print(y.is_inference(), y.requires_grad)
            i = torch.ones(3)
        attempt(lambda: print(made(lambda ctx, x: x * 2, lambda ctx, g: g).apply(i)))
        attempt(
            lambda: facts(
                made(lambda ctx, x, i: (ctx.save_for_backward(i), x * 2)[1], lambda ctx, g: (g, None)).apply(x, i)
            )
        )
        def setting(ctx, x):
            torch.set_grad_enabled(True)
            return x * 2
        facts(made(setting, lambda ctx, g: g).apply(x))
        print(torch.is_grad_enabled())
        with torch.no_grad():
            facts(made(setting, lambda ctx, g: g).apply(x))
            print(torch.is_grad_enabled())
        with torch.enable_grad():
            z = made(lambda ctx, x: x * 1, lambda ctx, g: g).apply(x.detach())
        facts(z)
    """,
    "nested apply": """
        class In(Function):
            @staticmethod
            def forward(ctx, x):
                print("in", ctx.needs_input_grad)
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, g):
                print("in back", ctx.saved_tensors)
                return g * 2
        class Out(Function):
            @staticmethod
            def forward(ctx, x):
                y = In.apply(x)
                facts(y)
                with torch.enable_grad():
                    z = In.apply(x)
                    facts(z)
                ctx.save_for_backward(z)
                return z
            @staticmethod
            def backward(ctx, g):
                (z,) = ctx.saved_tensors
                facts(z)
                return In.apply(g)
        x = leaf()
        y = Out.apply(x)
        facts(y)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        facts(g)
    """,
    "in hooks": """
        class Sq(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                return 2 * x * g
        x = leaf()
        y = x * 1
        y.register_hook(lambda g: Sq.apply(g))
        Sq.apply(y).sum().backward()
        print(x.grad)
        y = Sq.apply(x)
        y.register_hook(lambda g: (print("tensor hook", g), g * 2)[1])
        y.grad_fn.register_hook(lambda i, o: print("post", i, o))
        y.grad_fn.register_prehook(lambda o: (print("pre", o), (o[0] * 3,))[1])
        y.sum().backward()
        print(x.grad)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n        ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
