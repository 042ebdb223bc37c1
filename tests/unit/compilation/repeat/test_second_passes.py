"""Gradients of gradients of compiled functions, taken outside of them: as without `torch.compile`."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
Use = Callable[[Any, Any], Any]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


def penalty(f: Use, x: Any) -> Any:
    y = first(f(x))
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    ((g.norm() - 1) ** 2 + y.mean()).backward()
    return g


def first(found: Any) -> Any:
    return found if isinstance(found, torch.Tensor) else found[0] + found[1].sum()


def product(f: Use, x: Any) -> Any:
    g, = torch.autograd.grad(first(f(x)).sum(), x, create_graph=True)
    return torch.autograd.grad(g, x, torch.linspace(-1, 1, x.numel(), dtype=x.dtype).view_as(x), allow_unused=True)


def third(f: Use, x: Any) -> Any:
    g, = torch.autograd.grad((first(f(x)) ** 2).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sin().sum(), x, create_graph=True)
    return g, h, torch.autograd.grad(h.sum(), x, allow_unused=True)


def twice(f: Use, x: Any) -> Any:
    """Passes of both kinds through one graph, the last one with hooks on the leaf and on the result."""
    y, seen = first(f(x)), []
    y.register_hook(lambda g: seen.append(g.sum()) or g * 2)
    x.register_hook(lambda g: seen.append(g.sum()) or g * 3)
    g, = torch.autograd.grad(y.sum(), x, retain_graph=True)
    h, = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h * g).sum().backward()
    return g, h, seen


def of_history(f: Use, x: Any) -> Any:
    """Of an argument that has a history itself."""
    z = x.exp() * 0.1
    g, = torch.autograd.grad(first(f(z)).sum(), z, create_graph=True)
    return g, torch.autograd.grad((g * z).sum(), x)


def freed(f: Use, x: Any) -> Any:
    y = first(f(x)).sum()
    torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return torch.autograd.grad(y, x)


def written(f: Use, x: Any) -> Any:
    y = f(x * 1)
    x.detach().mul_(2)
    g, = torch.autograd.grad(first(y).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x, allow_unused=True)


def jacobian(f: Use, x: Any) -> Any:
    return torch.func.jacrev(lambda t: first(f(t)))(x.detach())


def batched(f: Use, x: Any) -> Any:
    y = first(f(x)).view(-1)
    return torch.autograd.grad(y, x, torch.eye(len(y)).to(y.dtype), is_grads_batched=True)


WAYS = {way.__name__: way for way in (penalty, product, third, twice, of_history, freed, written, jacobian, batched)}
WAYS |= {"hessian": lambda f, x: torch.autograd.functional.hessian(lambda t: first(f(t)).sum(), x.detach()),
         "gradient": lambda f, x: torch.func.grad(lambda t: first(f(t)).sum())(x.detach()),
         "gradient of a gradient": lambda f, x: torch.func.grad(lambda t: torch.func.grad(
             lambda s: first(f(s)).sum())(t).square().sum())(x.detach()),
         "tangents": lambda f, x: torch.func.jvp(lambda t: first(f(t)), (x.detach(),), (torch.ones_like(x),)),
         "batch": lambda f, x: torch.vmap(lambda row: first(f(row.expand(2, 3))))(x.detach()),
         "batch of gradients": lambda f, x: torch.vmap(torch.func.grad(lambda row: first(f(row.expand(2, 3))).sum()))(
             x.detach())}
USES: dict[str, Use] = {
    "product": lambda own, x: x * own.w * x.sin(), "layers": lambda own, x: own.net(x).tanh() * x.mean(),
    "detached": lambda own, x: x ** 3 * x.detach() + x.detach().sin() * x,
    "view": lambda own, x: (x * x).t()[0] * own.w[0],
    "in place": lambda own, x: (x * 2).exp_().mul_(own.w).sin(), "slice in place": lambda own, x: own.sliced(x),
    "two results": lambda own, x: (x.exp(), (x * own.w).sigmoid()), "no grad": lambda own, x: own.half(x) * x ** 2,
    "index": lambda own, x: x[[0, 1, 1]] ** 2 * own.w[0], "softmax": lambda own, x: x.softmax(1).log() * x.cumsum(0),
    "norm": lambda own, x: torch.nn.functional.layer_norm(x, (3,)) * own.w, "constant": lambda own, x: own.w * 2,
    "linear": lambda own, x: x @ own.w.t(), "inner gradient": lambda own, x: own.inner(x),
    "where": lambda own, x: torch.where(
        x > 0, x ** 3, own.w * x), "cat": lambda own, x: torch.cat([x, x * x], 0)[1:] * x[0], "dropout": lambda own, x:
    torch.nn.functional.dropout(x, 0.5) ** 2, "counter": lambda own, x: own.counted(x), "cast": lambda own, x:
    (x.double() ** 3).float() * own.w, "writes": lambda own, x: own.written(x),
    "two dtypes": lambda own, x: (x.double() * own.w.float()).sin(),
    "complex": lambda own, x: torch.view_as_real(
        torch.complex(x, x * x) ** 2).sum(-1), "custom": lambda own, x: own.cube(x) * x,
        "max": lambda own, x: x.max(1)[0] ** 3}


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, = ctx.saved_tensors
        return g * 3 * x ** 2


class Own:
    """What the functions of these tests use."""

    def __init__(self, dtype: Any) -> None:
        torch.manual_seed(0)
        self.w = torch.linspace(0.5, 1.5, 6, dtype=dtype).view(2, 3).requires_grad_()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Softplus(), torch.nn.Linear(4, 3)).to(dtype)
        self.n, self.seen = 0, torch.zeros(3, dtype=dtype)

    def leaves(self) -> list[Any]:
        return [self.w, *self.net.parameters()]

    def sliced(self, x: Any) -> Any:
        y = x * self.w
        y[0] = x[1] ** 2
        return y

    def half(self, x: Any) -> Any:
        with torch.no_grad():
            return x * 0.5

    def inner(self, x: Any) -> Any:
        y = (x ** 3 * self.w).sum()
        g, = torch.autograd.grad(y, x, create_graph=True)
        return g * x

    def counted(self, x: Any) -> Any:
        self.n += 1
        return x ** 3 * self.n

    def written(self, x: Any) -> Any:
        self.seen.mul_(0.9).add_(x.detach()[0])
        return x ** 3 * self.w

    def cube(self, x: Any) -> Any:
        return Cube.apply(x)


def results(use: Use, way: Callable[..., Any], change: Callable[..., Any], dtype: Any = torch.float32) -> list[Any]:
    """All that shows of some calls: what a way gives, the gradients, and the state. Steps change the weights."""
    own, found = Own(dtype), list[Any]()

    def called(x: Any) -> Any:
        return use(own, x)

    function = change(called)
    for call in range(4):
        x = (torch.linspace(-1, 1.5, 6, dtype=dtype).view(2, 3) * (call + 1) / 3).requires_grad_()
        try:
            out = way(function, x)
        except Exception as error:
            out = str(error)[:60]
        found.append([*parts(out), *parts([x.grad, own.seen, *[p.grad for p in own.leaves()]]), own.n])
        for p in own.leaves():
            if p.grad is not None and call % 2:
                with torch.no_grad():
                    p.sub_(0.01 * p.grad)
                    p.grad = None
    return found


def parts(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in parts(each)]
    return [value.detach().numpy().copy() if isinstance(value, torch.Tensor) else value]


REFUSED = ("torch.compile with aot_autograd", "one of the variables needed")


def different(plain: list[Any], compiled: list[Any]) -> str:
    """What differs; "" if nothing does. Calls from the first refused one on do not count."""
    for call, (one, other) in enumerate(zip(plain, compiled, strict=True)):
        if any([isinstance(part, str) and part.startswith(REFUSED[0]) for part in other]):
            return "refused"
        for a, b in zip(one, other, strict=True):
            same = np.allclose(a, b, 1e-4, 1e-5, equal_nan=True) if isinstance(a, np.ndarray) and isinstance(
                b, np.ndarray) else type(a) is type(b) and a == b
            if not same:
                return f"call {call}: {a} is {b}"
    return ""


MAY_REFUSE = {"dropout", "slice in place", "custom"}


@pytest.mark.sampled(38)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("way", WAYS)
def test_second_derivatives(use: str, way: str, backend: str) -> None:
    dtype = torch.float32 if backend == "numpy" else torch.float64     # machine code rounds otherwise
    with warnings.catch_warnings(action="ignore"):
        plain = results(USES[use], WAYS[way], lambda f: f, dtype)
        compiled = results(USES[use], WAYS[way], lambda f: torch.compile(f, backend=backend), dtype)
    found = different(plain, compiled)
    assert found == "" or (found == "refused" and use in MAY_REFUSE), found


_STEPS = ("x * {w}", "x.sin()", "x + {v}", "x * x.detach()", "(x * {v}).exp()", "x.t().contiguous().t() * {w}",
          "x @ {m}",
          "x.softmax(-1)", "x[:, [0, 2, 1]]", "x.clone().mul_({v})", "x.clone().sigmoid_()",
          "torch.cat([x, {w}], 1)[:, 1:4]",
          "x.sum(0, keepdim=True) * {w}", "torch.where(x > 0.1, x, {w} * x)", "x.view(3, 2).tanh().view(2, 3)",
          "x ** 2", "x / (1 + {w} ** 2)", "torch.stack([x, x * x]).mean(0)", "x.flip(0)", "x.cumsum(1)",
          "F.softplus(x)",
          "F.layer_norm(x, (3,))", "torch.addcmul(x, {w}, x)", "x.clamp(-2, 2)",
          "torch.einsum('ij,kj->ik', x, {w}) @ {w}",
          "x.double() * 1", "x.expand(2, 2, 3).sum(1)", "x.max(1, keepdim=True)[0] + x", "noted(x)",
          "torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)", "F.dropout(x, 0.0)",
          "x.logsumexp(0) + x")


def _function(seed: int) -> str:
    draw = random.Random(seed)
    lines = [f"    x = {draw.choice(_STEPS).format(w='own.w', v='own.net[0].bias[:3]', m='own.net[0].weight[:3]')}"
             for _ in range(draw.randrange(1, 6))]
    end = draw.choice(("return x", "return x", "return x, x.sum()", "return x.sin().t()", "return x[0]",
    "return x.detach() * x"))
    return "\n".join(["def use(own, x):", *lines, f"    {end}"])


@pytest.mark.sampled(31)
@pytest.mark.parametrize("seed", range(300))
def test_random_functions(seed: int, backend: str) -> None:
    scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "noted": lambda x: x}
    exec(compile(_function(seed), "<second>", "exec"), scope)
    way = WAYS[random.Random(seed).choice([*WAYS])]
    with warnings.catch_warnings(action="ignore"):
        plain = results(scope["use"], way, lambda f: f, torch.float64)
        compiled = results(scope["use"], way, lambda f: torch.compile(f, backend=backend), torch.float64)
    assert different(plain, compiled) in ("", "refused")


def test_sizes_that_change(backend: str) -> None:
    """A program that takes gradients of gradients gets no plan for all sizes, which has none."""
    w = torch.ones(3, requires_grad=True)

    def penalties(change: Callable[..., Any]) -> list[Any]:
        function, found = change(lambda x: (x * w).sin().sum(1)), []
        for size in (2, 3, 4, 5, 6, 3):
            x = torch.linspace(0, 1, 3 * size).view(size, 3).requires_grad_()
            g, = torch.autograd.grad(function(x).sum(), x, create_graph=True)
            w.grad = None
            g.square().sum().backward()
            found.append([g.detach().numpy(), x.grad.numpy(), w.grad.numpy()])
        return found

    for one, other in zip(penalties(lambda f: f), penalties(lambda f: torch.compile(f, backend=backend)), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)


def test_what_was_written_to_is_refused(backend: str) -> None:
    """The call would run again with other numbers."""
    w = torch.ones(3, requires_grad=True)
    function = torch.compile(lambda x: (x + w).sin(), backend=backend)
    for _ in range(3):
        x = torch.ones(3, requires_grad=True)
        y = function(x).sum()
        with torch.no_grad():
            w.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(y, x, create_graph=True)


@pytest.mark.parametrize("dynamic", [None, True])
def test_numbers_that_are_not_finite_warn_of_nothing(backend: str, dynamic: bool | None) -> None:
    """A warning is an error in these tests."""
    def f(x: Any) -> Any:
        return (x.log() * x.exp()).sum()

    compiled = torch.compile(f, backend=backend, dynamic=dynamic)
    for n in (3, 3, 4, 5, 6):
        values = [0.0, 1000.0, *[2.0] * (n - 2)]
        found = [product(each, torch.tensor(values, requires_grad=True))[0].tolist() for each in (f, compiled)]
        assert np.array_equal(*found, equal_nan=True)
        x, y = [torch.tensor(values, requires_grad=True) for _ in range(2)]
        compiled(x).backward()
        f(y).backward()
        assert x.grad is not None
        assert np.array_equal(x.grad.numpy(), y.grad.numpy(), equal_nan=True)


def test_a_write_to_what_no_second_pass_reads_is_allowed(backend: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return x.sin().sum() + y.sum()

    compiled = torch.compile(f, backend=backend)
    for _ in range(3):
        x, y = torch.tensor([0.5, 1.0], requires_grad=True), torch.tensor([1.0, 2.0])
        loss = compiled(x, y)
        y.zero_()                                          # the gradient of x does not depend on y
        g, = torch.autograd.grad(loss, x, create_graph=True)
        h, = torch.autograd.grad(g.sum(), x)
        assert torch.allclose(h, -x.sin())
