"""Programs that switch recording off and on say the same with retrograd as with PyTorch."""

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "grad modes in inference mode": """
        w = torch.ones(2, requires_grad=True)
        def said():
            y = w * 2
            print(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), y.requires_grad, y.is_inference())
        with torch.inference_mode():
            torch.set_grad_enabled(True)
            said()
            with torch.no_grad():
                said()
            with torch.enable_grad():
                said()
            with torch.set_grad_enabled(False):
                said()
            said()
            with torch.inference_mode(False):
                said()
                with torch.no_grad():
                    said()
                said()
            said()
        said()
        switch = torch.set_grad_enabled(False)
        with torch.inference_mode():
            with switch:
                said()
            said()
        said()
        torch.set_grad_enabled(True)
        torch.inference_mode()(torch.enable_grad()(said))()
        said()
    """,
    "grad modes": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        on = torch.is_grad_enabled
        with torch.no_grad():
            print(on(), (x * 2).requires_grad)
            with torch.enable_grad():
                print(on())
            print(on())
        @torch.no_grad()
        def parenthesised():
            "text"
            return on()
        @torch.no_grad
        def bare():
            return on()
        @torch.set_grad_enabled(False)
        def set_off():
            return on()
        @torch.no_grad()
        def deep(n):
            return [on()] + (deep(n - 1) if n else [])
        print(parenthesised(), bare(), set_off(), deep(2), parenthesised.__name__, parenthesised.__doc__, on())
        torch.set_grad_enabled(False)
        print(on())
        torch.set_grad_enabled(True)
        print(on())
        switch = torch.set_grad_enabled(False)
        print(on())
        with switch:
            print(on())
        print(on())
        torch.set_grad_enabled(True)
        try:
            with torch.no_grad():
                raise ValueError
        except ValueError:
            print(on())
        attempt(lambda: torch.set_grad_enabled())
        attempt(lambda: torch.set_grad_enabled(1))
        print(on())
    """,
    "generators under a grad mode": """
        on = torch.is_grad_enabled
        @torch.no_grad()
        def talk():
            try:
                got = yield on()
                print("got", got, on())
                yield on()
            except ValueError as error:
                print("caught", error, on())
                yield "after"
            finally:
                print("finally", on())
        g = talk()
        print(next(g), on(), g.send(5), on())
        g.close()
        g = talk()
        next(g)
        print(g.throw(ValueError("thrown")), on())
        attempt(lambda: list(g))
        @torch.no_grad()
        def returning():
            yield 1
            return 7
        def outer():
            print("returned", (yield from returning()))
        print(list(outer()))
        @torch.no_grad()
        def failing():
            yield 1
            raise KeyError("k")
        g = failing()
        next(g)
        attempt(lambda: next(g))
        print(on())
    """,
    "tensors of inference mode": """
        x, n = torch.ones(2, 3, requires_grad=True), torch.ones(2, 3)
        with torch.inference_mode():
            t, i = torch.ones(2, 3), torch.tensor([0, 1])
            for share in (lambda a: a[0], lambda a: a.t(), lambda a: a.view(-1), lambda a: a.t().reshape(-1),
                          lambda a: a.detach(), lambda a: a.data, lambda a: a.contiguous(), lambda a: a.unbind()[0],
                          lambda a: a.to(torch.float32), lambda a: a.to(torch.float64),
                          lambda a: a.as_strided((2,), (1,)),
                          lambda a: a.expand(2, 2, 3), lambda a: a[torch.tensor([0])], torch.nn.Parameter):
                for a in (x, n, t):
                    made = share(a)
                    print(made.is_inference(), made._is_view(), made.requires_grad)
            print(torch.Tensor([1.]).is_inference(), torch.from_numpy(n.numpy()).is_inference())
        for share in (lambda a: a[0], lambda a: a.t(), lambda a: a.detach(), lambda a: a.data, lambda a: a.clone(),
                      lambda a: a + 1, lambda a: a.t().reshape(-1), lambda a: a.double()):
            print(share(t).is_inference(), share(t)._is_view())
        F = torch.nn.functional
        for call in (lambda: x * t, lambda: x + t, lambda: x.t() @ t, lambda: x ** t, lambda: x * t[:],
                     lambda: x * t.clone(),
                     lambda: torch.where(t > 0, x, t), lambda: x[i], lambda: x.index_select(0, i),
                     lambda: x.gather(0, i[None]), lambda: F.embedding(i, x), lambda: F.cross_entropy(x, i),
                     lambda: F.linear(t, x), lambda: F.linear(t, x, x[:, 0]), lambda: torch.maximum(x, t),
                     lambda: torch.lerp(x, x, t),
                     lambda: torch.addcmul(x, x, t), lambda: x / t, lambda: t / x, lambda: F.mse_loss(x, t),
                     lambda: F.binary_cross_entropy(x * 0.5, t), lambda: x * t.double(), lambda: x.double() * t,
                     lambda: torch.cat([x, t]), lambda: torch.stack([x, t]), lambda: x.clone().copy_(t),
                     lambda: x.clone().mul_(t), lambda: x.scatter(0, i[None], 1.),
                     lambda: torch.no_grad()(lambda: x * t)(),
                     lambda: torch.autograd.grad(x * x, x, t),
                     lambda: torch.autograd.grad(x * x, x, t, create_graph=True),
                     lambda: t.add_(1), lambda: t.requires_grad_(), lambda: x.masked_fill(t > 0, 2.)):
            attempt(call)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_says_the_same(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
