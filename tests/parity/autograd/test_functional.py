"""torch.autograd.functional and gradcheck say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PREAMBLE = """
    F = torch.autograd.functional
    A = torch.autograd
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0, 5.0])
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    square = lambda a: a * a
    cubic = lambda a: (a**3).sum()
    several = lambda a, b: (a.sum() * b, a * 2, b.sum() * 3)
    mixed = lambda a, b: (a**2).sum() * b.exp().sum()
    one, ones = torch.ones(2), torch.ones(3)
    def kind(r):
        if isinstance(r, (tuple, list)):
            return type(r)(kind(t) for t in r)
        return r, r.requires_grad, r.grad_fn.name() if r.grad_fn else None, r.dtype
    def show(f):
        attempt(lambda: kind(f()))
"""

PROGRAMS = {
    "products": """
        for create in (False, True):
            for a in (x, leaf):
                k = dict(create_graph=create)
                show(lambda: F.vjp(square, a, one, **k))
                show(lambda: F.jvp(square, a, one, **k))
                show(lambda: F.hvp(cubic, a, one, **k))
                show(lambda: F.vhp(cubic, a, one, **k))
                show(lambda: F.vjp(several, (a, y), (ones, one, torch.ones(())), **k))
                show(lambda: F.jvp(several, (a, y), (one, ones), **k))
                show(lambda: F.hvp(mixed, (a, y), (one, ones), **k))
                show(lambda: F.vhp(mixed, (a, y), (one, ones), **k))
                show(lambda: F.vjp(cubic, a, **k))
                show(lambda: F.jvp(lambda a: a * y, a[0], **k))
                show(lambda: F.hvp(lambda a: a**3, a[0], **k))
                show(lambda: F.vhp(lambda a: a**3, a[:1], **k))
    """,
    "whole Jacobians and Hessians": """
        for create in (False, True):
            for a in (x, leaf):
                for vectorize in (False, True):
                    k = dict(create_graph=create, vectorize=vectorize)
                    show(lambda: F.jacobian(several, (a, y), **k))
                    show(lambda: F.jacobian(lambda a: (a * 2, a.sum()), a, **k))
                    show(lambda: F.jacobian(lambda a: (a * 2,), (a,), **k))
                    show(lambda: F.jacobian(lambda a: a * 2, (a,), **k))
                    show(lambda: F.jacobian(lambda a: (a * 2).sum(), a, **k))
                    show(lambda: F.jacobian(lambda a: a * 2, a[0], **k))
                    show(lambda: F.hessian(cubic, a, **k))
                    show(lambda: F.hessian(mixed, (a, y), **k))
                    show(lambda: F.hessian(cubic, (a,), **k))
        p = torch.tensor([1.0, 2.0], requires_grad=True)
        show(lambda: F.jacobian(lambda a: a * p, x, create_graph=True))
        show(lambda: F.jacobian(lambda a: a * p, x))
        show(lambda: F.jacobian(lambda a: p * 2, x, create_graph=True))
        show(lambda: F.vjp(lambda a: a * p, x, x))
    """,
    "columns": """
        import warnings
        warnings.simplefilter("ignore")
        k = dict(vectorize=True, strategy="forward-mode")
        attempt(lambda: F.jacobian(several, (x, y), **k))
        attempt(lambda: F.jacobian(lambda a: (a, a * 2), x, **k))
        attempt(lambda: F.jacobian(lambda a, b: a * b.sum(), (x, y), **k))
        attempt(lambda: F.jacobian(square, x, **k))
        attempt(lambda: F.jacobian(lambda a: torch.ones(2), x, **k))
        attempt(lambda: F.jacobian(lambda a: a[:0], x, **k))
        attempt(lambda: F.jacobian(lambda a, b: (a * b, a.sum()), (x, one.double()), **k))
        print(F.jacobian(square, leaf, **k).requires_grad, F.jacobian(square, x, **k).requires_grad)
        print(F.hessian(cubic, x, vectorize=True, outer_jacobian_strategy="forward-mode").requires_grad)
        for more in (dict(create_graph=True), dict(strict=True), dict(vectorize=False)):
            attempt(lambda: F.jacobian(square, x, **{**k, **more}))
        attempt(lambda: F.jacobian(square, x, strategy="other"))
        attempt(lambda: F.hessian(cubic, x, outer_jacobian_strategy="other"))
    """,
    "strict": """
        for k in (dict(strict=True), dict(strict=True, create_graph=True)):
            for a in (x, leaf):
                for f in (lambda a: a * a, lambda a: a * 2, lambda a: one, lambda a: a.detach(), lambda a: a.floor()):
                    show(lambda: F.vjp(f, a, one, **k))
                    show(lambda: F.jvp(f, a, one, **k))
                    show(lambda: F.jacobian(f, a, **k))
                for f in (
                    cubic,
                    lambda a: a.sum(),
                    lambda a: one.sum(),
                    lambda a: a.detach().sum(),
                    lambda a: a.exp().sum(),
                ):
                    show(lambda: F.hvp(f, a, one, **k))
                    show(lambda: F.vhp(f, a, one, **k))
                    show(lambda: F.hessian(f, a, **k))
            for f in (lambda a, b: cubic(a), lambda a, b: cubic(a) + b.sum(), lambda a, b: cubic(a) + b.exp().sum()):
                for product in (F.vjp, F.jvp, F.hvp, F.vhp):
                    attempt(lambda: product(f, (x, x), one[0] if product is F.vjp else (one, one), **k))
                attempt(lambda: F.hessian(f, (x, x), **k))
                attempt(lambda: F.jacobian(f, (x, x), **k))
        attempt(lambda: F.jacobian(square, x, strict=True, vectorize=True))
    """,
    "what is refused": """
        for product, f in ((F.vjp, square), (F.jvp, square), (F.hvp, cubic), (F.vhp, cubic)):
            for v in (None, 3, [one], (one,), ones, (one, one), one.double(), one.long(), (3,)):
                attempt(lambda: product(f, x, v))
                attempt(lambda: product(f, (x,), v))
                attempt(lambda: product(lambda a, b: f(a) * b, (x, torch.ones(())), v))
            for a in (3, [x], (x, 3), torch.tensor([1, 2])):
                attempt(lambda: product(f, a, x))
            for out in (3, (x, 3), [x], (x.sum(),), x > 0):
                attempt(lambda: product(lambda a: out, x, x))
            attempt(lambda: product(lambda a: a, x, x))
            attempt(lambda: product(f, x))
            attempt(lambda: product(lambda a: (a.sum(),), x, x))
        for a in (3, [x], (x, 3), torch.tensor([1, 2])):
            attempt(lambda: F.jacobian(square, a))
            attempt(lambda: F.hessian(cubic, a))
        for out in (3, (x, 3), [x]):
            attempt(lambda: F.jacobian(lambda a: out, x))
            attempt(lambda: F.hessian(lambda a: out, x))
        attempt(lambda: F.hessian(square, x))
        attempt(lambda: F.hessian(lambda a: (a.sum(),), x))
        attempt(lambda: F.hessian(lambda a: a.exp()[:1], x))
        attempt(lambda: F.jacobian(lambda a: a.add_(1), x))
        attempt(lambda: F.jacobian(lambda a: (a * 1).add_(1), x))
        print(x)
        with torch.no_grad():
            attempt(lambda: F.jacobian(lambda a: 1 / 0, x))
            print(torch.is_grad_enabled())
            show(lambda: F.jvp(square, leaf, x))
    """,
    "dtypes": """
        z = torch.tensor([1 + 2j, 3 - 1j])
        attempt(lambda: F.jacobian(square, z))
        attempt(lambda: F.jacobian(lambda a: a.abs(), z))
        attempt(lambda: F.vjp(square, z, one * 1j))
        attempt(lambda: F.jvp(square, z, one * 1j))
        attempt(lambda: F.vhp(lambda a: (a * a.conj()).real.sum(), z, one * 1j))
        attempt(lambda: F.jacobian(lambda a: a.double() * a, x))
        attempt(lambda: F.jacobian(lambda a: a.half() * 2, x))
        attempt(lambda: F.jacobian(lambda a, b: (a * b, b), (x, x.double())))
        attempt(lambda: F.hessian(lambda a: a.double().pow(3).sum(), x))
        attempt(lambda: F.jacobian(lambda a: (a, a > 0, a.long()), x))
    """,
    "gradcheck": """
        d = dict(dtype=torch.float64, requires_grad=True)
        a = torch.tensor([1.0, 2.0], **d)
        b = torch.tensor([[3.0, 4.0], [5.0, 6.0]], **d)
        c = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
        n = a.detach().clone()
        def made(forward, backward):
            return type(
                "M", (A.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
            ).apply
        save = lambda f: lambda ctx, x: (ctx.save_for_backward(x), f(x))[1]
        wrong = made(save(lambda x: x * x), lambda ctx, g: g * ctx.saved_tensors[0])
        wrong_c = made(save(lambda x: x * x), lambda ctx, g: g * 2 * ctx.saved_tensors[0])
        wrong2 = made(
            save(lambda x: x**3), lambda ctx, g: g * 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0].detach()
        )
        def check(f, inputs, **k):
            for fast in (False, True):
                attempt(lambda: A.gradcheck(f, inputs, fast_mode=fast, **k))
                attempt(lambda: A.gradgradcheck(f, inputs, fast_mode=fast, **k))
        for f, i in (
            (square, a),
            (lambda a, b: (a * b, a.sum(), b.exp()), (a, b)),
            (lambda a, k: a * k * a, (a, 3)),
            (lambda a, k: a * k, [a, n]),
            (lambda a: a.view(2, 1), (a,)),
            (lambda a: a.floor(), (a + 0.5,)),
            (lambda a: (a * a, a.detach() * 1, n), (a,)),
            (square, c),
            (lambda c: c.conj(), c),
            (lambda c, a: (c * a, a * a), (c, a)),
            (lambda a: a * a * (1 + 2j), a),
            (square, torch.tensor(2.0, **d)),
            (square, torch.zeros(0, **d)),
            (wrong, a),
            (wrong_c, c),
            (wrong2, a),
            (lambda a, b: (a * 2, wrong(b) * a), (a, b)),
            (square, n),
            (square, torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()),
        ):
            check(f, i)
            check(f, i, raise_exception=False)
        attempt(lambda: A.gradcheck(lambda a: a.detach() * 2, a))
        check(square, torch.ones(2, requires_grad=True))
        check(square, (a,), check_batched_grad=True)
        attempt(lambda: A.gradcheck(square, a, check_backward_ad=False))
        attempt(lambda: A.gradcheck(square, a, check_batched_forward_grad=True))
        attempt(lambda: A.gradgradcheck(square, a, check_rev_over_rev=False))
        attempt(lambda: A.gradgradcheck(square, a, a * 1, gen_non_contig_grad_outputs=True))
        print(a, a._version)
        torch.manual_seed(0)
        for f, i, k in ((wrong, a, {}), (wrong, b, {}), (wrong_c, c, {}), (wrong, a, dict(fast_mode=True))):
            try:
                A.gradcheck(f, i, **k)
            except RuntimeError as error:
                print(str(error).partition("The")[0].strip())
        try:
            A.gradgradcheck(wrong2, a)
        except RuntimeError as error:
            print(str(error).partition("The")[0].strip())
    """,
    "gradcheck and absent cotangents": """
        a = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        def run(backward, outputs=1, **k):
            def forward(ctx, x):
                ctx.set_materialize_grads(False)
                return x * 2 if outputs == 1 else (x * 2, x * 3)
            F = type("F", (A.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
            attempt(lambda: A.gradcheck(F.apply, a, **k))
        def refuse(ctx, g):
            if g is None:
                raise RuntimeError("nothing came")
            return g * 2
        run(refuse)
        run(refuse, check_undefined_grad=False)
        run(lambda ctx, g: g * 2 if g is not None else torch.ones(2, dtype=torch.float64))
        run(lambda ctx, g: None if g is None else g * 2)
        run(lambda ctx, g, h: g * 2 + h * 3, 2)
        run(lambda ctx, g: torch.ones(2, dtype=torch.float64) * 2)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    program = PREAMBLE + PROGRAMS[name].replace("\n    ", "\n")
    assert transcript(retrograd, program) == transcript(torch, program)
