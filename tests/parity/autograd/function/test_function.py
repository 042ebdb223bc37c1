"""Programs with custom Functions say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PREAMBLE = """
    Function = torch.autograd.Function
    def made(forward, backward, **more):
        return type(
            "Made",
            (Function,),
            {k: staticmethod(f) for k, f in dict(forward=forward, backward=backward, **more).items()},
        )
    def run(forward, backward, *args, **more):
        def program():
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            out = made(forward, backward, **more).apply(x, *args)
            print(out)
            outs = [
                o
                for o in (out if isinstance(out, tuple) else (out,))
                if isinstance(o, torch.Tensor) and o.requires_grad
            ]
            sum(o.sum() for o in outs).backward()
            return x.grad
        attempt(program)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
"""

PROGRAMS = {
    "the context": """
        class Square(Function):
            @staticmethod
            def forward(ctx, x, k=2):
                print(type(ctx).__name__, ctx.needs_input_grad, torch.is_grad_enabled())
                print(isinstance(ctx, torch.autograd.function.FunctionCtx), ctx.saved_tensors)
                ctx.save_for_backward(x)
                ctx.k = k
                return x * x
            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                print(torch.is_grad_enabled(), ctx.needs_input_grad, x.requires_grad, g.requires_grad)
                return g * ctx.k * x, None
        y = Square.apply(x, 2)
        node = y.grad_fn
        print(
            y,
            node,
            node.name(),
            node.next_functions,
            node.saved_tensors,
            node.k,
            type(node).__module__,
            node.metadata,
        )
        y.sum().backward()
        print(x.grad)
        attempt(lambda: node.saved_tensors)
        attempt(y.sum().backward)
        (g,) = torch.autograd.grad(Square.apply(x, 3).sum(), x, create_graph=True)
        print(g, torch.autograd.grad(g.sum(), x))
        print(Square.apply(torch.ones(2)).requires_grad, Square.apply(x, k=3), Square.apply(k=3, x=x))
        with torch.no_grad():
            print(Square.apply(x, 2).requires_grad)
        attempt(lambda: Square.apply())
        attempt(lambda: Square.apply(x, 1, 2))
        attempt(lambda: Square.apply(x, d=3))
        attempt(lambda: Square()(x))
        attempt(lambda: Function.apply(x))
    """,
    "what is missing": """
        attempt(
            lambda: type("F", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(x).sum().backward()
        )
        attempt(lambda: type("F", (Function,), {"backward": staticmethod(lambda ctx, x: x * 2)}).apply(x))
        class V(Function):
            forward = staticmethod(lambda ctx, x: x * 2)
            vjp = staticmethod(lambda ctx, g: g * 9)
        class Both(V):
            backward = staticmethod(lambda ctx, g: g * 9)
        attempt(lambda: torch.autograd.grad(V.apply(x).sum(), x))
        attempt(lambda: torch.autograd.grad(Both.apply(x).sum(), x))
    """,
    "what backward may return": """
        double = lambda ctx, x: x * 2
        for value in (
            None,
            (),
            3,
            [torch.ones(2)],
            torch.ones(3),
            torch.ones(2, 2),
            torch.ones(()),
            torch.ones(1),
            torch.ones(2).double(),
            torch.ones(2).long(),
            (torch.ones(2), None),
            (torch.ones(2), torch.ones(2)),
        ):
            run(double, lambda ctx, g: value)
        with_more = lambda ctx, x, y: x * 2
        for value in (
            torch.ones(2),
            (torch.ones(2), torch.ones(2)),
            (torch.ones(2), torch.ones(5)),
            (torch.ones(2), 3),
        ):
            run(with_more, lambda ctx, g: value, 3)
            run(with_more, lambda ctx, g: value, torch.ones(2))
        def fail(*args):
            raise ValueError("mine")
        run(double, fail)
        run(fail, double)
        print(torch.is_grad_enabled())
    """,
    "what forward may return": """
        first = lambda ctx, *gs: (print(gs), gs[0])[1]
        run(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g + h)
        run(lambda ctx, x: (x * 2,), first)
        run(lambda ctx, x: [x * 2], first)
        run(lambda ctx, x: (x * 2, 5, None, "a"), first)
        run(lambda ctx, x: 3, first)
        run(lambda ctx, x: None, first)
        run(lambda ctx, x: (x * 2, x > 0), first)
        run(lambda ctx, x: (x * 2, x.long()), first)
        run(lambda ctx, x: x.long(), first)
        run(lambda ctx, x: x, first)
        run(lambda ctx, x: (x, x), lambda ctx, g, h: g * 5 + h)
        run(lambda ctx, x: x.view(-1), first)
        run(lambda ctx, x: x.detach(), first)
        run(lambda ctx, x: torch.ones(2, requires_grad=True), first)
        def marked(ctx, x):
            out = x * 2, x * 3
            ctx.mark_non_differentiable(out[1])
            return out
        run(marked, first)
        def only(ctx, x):
            out = x * 3
            ctx.mark_non_differentiable(out)
            return out
        run(only, first)
        a, b = made(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: (print(g, h), g)[1]).apply(x)
        print(a.grad_fn is b.grad_fn, a.output_nr, b.output_nr)
        a.sum().backward()
        def bare(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3
        for i in (0, 1):
            made(bare, lambda ctx, g, h: (print(g, h), g)[1]).apply(x)[i].sum().backward()
    """,
    "setup_context": """
        def setup(ctx, inputs, output):
            print(inputs, output, torch.is_grad_enabled())
            ctx.k = 7
        run(lambda x: x * 2, lambda ctx, g: g * ctx.k, setup_context=setup)
        S = made(
            lambda x, a, b=5: x * 2,
            lambda ctx, g: (print(ctx.needs_input_grad), (g, None, None))[1],
            setup_context=setup,
        )
        S.apply(x, 1).sum().backward()
        S.apply(x, b=3, a=1)
    """,
    "what may be kept": """
        back = lambda ctx, g: (print(ctx.saved_tensors), g)[1]
        run(lambda ctx, x: (ctx.save_for_backward(x, None), x * 2)[1], back)
        run(lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1], back)
        run(lambda ctx, x: (ctx.save_for_backward([x]), x * 2)[1], back)
        run(lambda ctx, x: (ctx.save_for_forward(3), x * 2)[1], back)
        run(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1], back)
        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y
            @staticmethod
            def backward(ctx, g):
                (y,) = ctx.saved_tensors
                print(y.grad_fn, y.requires_grad)
                return g * y
        y = Exp.apply(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        print(g, torch.autograd.grad(g.sum(), x))
        y = Exp.apply(x)
        y.mul_(2)
        attempt(y.sum().backward)
        class Two(Function):
            @staticmethod
            def forward(ctx, x):
                a, b = x * 2, x * 3
                ctx.save_for_backward(a, b)
                return a, b
            @staticmethod
            def backward(ctx, g, h):
                a, b = ctx.saved_tensors
                print(b.output_nr)
                return g * a + h * b
        a, b = Two.apply(x)
        (g,) = torch.autograd.grad((a + b).sum(), x, create_graph=True)
        print(torch.autograd.grad(g.sum(), [x, a, b]))
        z = x * 1
        y = made(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], back).apply(z)
        z.mul_(2)
        attempt(y.sum().backward)
    """,
    "writing in place": """
        class Double(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)
            @staticmethod
            def backward(ctx, g):
                return g * 2
        y = x * 1
        z = Double.apply(y)
        print(z is y, y.grad_fn, z._version)
        z.sum().backward()
        print(x.grad)
        attempt(lambda: Double.apply(torch.tensor([1.0, 2.0], requires_grad=True)))
        y = x * 1
        v = y[0:1]
        z = Double.apply(v)
        print(z is v, y.grad_fn, v.grad_fn)
        y.sum().backward()
        print(x.grad)
        y = torch.ones(2)
        z = Double.apply(y)
        print(z is y, z)
        for f in (lambda ctx, x: x, lambda ctx, x: x[0:1], lambda ctx, x: x * 2, lambda ctx, x: (x * 2).view(-1)):
            y = made(f, lambda ctx, g: g).apply(x)
            print(y._is_view())
            attempt(lambda: y.mul_(2))
        a, b = made(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g + h).apply(x)
        a.mul_(3)
        (a + b).sum().backward()
        print(x.grad)
    """,
    "once_differentiable": """
        once = torch.autograd.function.once_differentiable
        O = made(lambda ctx, x: x * 2, once(lambda ctx, g: (print(torch.is_grad_enabled()), g * 2)[1]))
        print(torch.autograd.grad(O.apply(x).sum(), x))
        (g,) = torch.autograd.grad((O.apply(x) ** 2).sum(), x, create_graph=True)
        print(g.grad_fn)
        attempt(g.sum().backward)
        attempt(lambda: torch.autograd.grad(g.sum(), x))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n    ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
