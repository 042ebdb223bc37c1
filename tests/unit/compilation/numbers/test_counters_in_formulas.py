"""Counters of a program in formulas with tensors: compiled calls give the same numbers, and stay compiled."""

from __future__ import annotations

import math
import random
import types
import warnings
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


def state(dtype: Any = torch.float32) -> Any:
    """What programs of these tests count in, and their tensors."""
    return types.SimpleNamespace(n=0, k=0.5, w=torch.linspace(0.5, 2, 6, dtype=dtype).view(2, 3),
                                 v=torch.ones(3, dtype=dtype), i=torch.arange(3))


def results(use: Callable[[Any, Any], Any], change: Callable[..., Any], dtype: Any = torch.float32,
            grad: bool = False) -> tuple[list[Any], Any]:
    """All that some calls give and leave, with changes in between; and the function that was called."""
    own, found = state(dtype), []

    def step(x: Any) -> Any:
        own.n += 1
        own.k = own.k * 1.5 + 0.25
        return use(own, x)

    step = change(step)
    for call in range(9):
        if call == 4:
            own.n, own.k = 11, 0.125
        if call == 6:
            own.n = -3
        x = torch.linspace(1, 3, 6, dtype=dtype).view(2, 3) + call
        x.requires_grad_(grad)
        try:
            out = step(x)
            if grad:
                out.sum().backward()
        except Exception as error:
            out = type(error), str(error)
        found.append([out, x.grad, own.n, own.k, own.w, own.v, own.i])
        found[-1] = [part.detach().clone() if isinstance(part, torch.Tensor) else part for part in found[-1]]
    return found, step


def assert_same(one: list[Any], other: list[Any], near: bool) -> None:
    for a, b in zip(one, other, strict=True):
        for x, y in zip(a, b, strict=True):
            if isinstance(x, torch.Tensor):
                assert (x.dtype, x.shape, x.stride()) == (y.dtype, y.shape, y.stride())
                if near:
                    np.testing.assert_allclose(x.numpy(), y.numpy(), 1e-5, 1e-5)
                else:
                    assert x.numpy().tobytes() == y.numpy().tobytes()
            else:
                assert type(x) is type(y), (a, b)
                assert x == y or x != x, (a, b)


def traces(function: Any) -> tuple[int, str]:
    """How many traces a compiled function has, and why it runs as it is."""
    run = next(cell.cell_contents.run for cell in function.__closure__ if hasattr(cell.cell_contents, "run"))
    return len(run.entries), str(run.reason or "")


STAY: dict[str, Callable[[Any, Any], Any]] = {
    "factor": lambda s, x: x * s.n, "from the left": lambda s, x: s.n * x, "less": lambda s, x: s.n - x,
    "quotient": lambda s, x: x / (1 - 0.9 ** (s.n * s.n)), "divided": lambda s, x: s.k / x,
    "comparison": lambda s, x: (x > s.n).to(x.dtype) + (s.n <= x), "root": lambda s, x: x * math.sqrt(s.k),
    "imported root": lambda s, x: x * sqrt(s.k), "alpha": lambda s, x: torch.add(x, s.w, alpha=s.k),
    "less alpha": lambda s, x: torch.sub(x, s.w, alpha=s.n), "reversed": lambda s, x: torch.rsub(x, s.w, alpha=s.n),
    "reversed number": lambda s, x: torch.rsub(x, s.n, alpha=2),
    "value": lambda s, x: torch.addcmul(x, s.w, s.v, value=s.n),
    "quotient of tensors": lambda s, x: torch.addcdiv(x, s.v, s.w, value=-s.k), "in place": lambda s, x: s.w.mul_(s.k),
    "alpha in place": lambda s, x: s.w.add_(x, alpha=s.n) * 1,
    "value in place": lambda s, x: s.w.addcdiv_(x, s.v, value=s.k) * 1,
    "fill": lambda s, x: s.w.fill_(s.k) * x, "ints": lambda s, x: x + s.i * s.n,
    "ints and a float": lambda s, x: x + s.i * s.k,
    "power of a half": lambda s, x: x * (s.n * s.n) ** 0.5, "inverse power": lambda s, x: x * (1 + s.k) ** -1.5,
    "exp": lambda s, x: x * math.exp(-s.k), "cosine": lambda s, x: x * (1 + math.cos(math.pi * s.n / 10)),
    "power of math": lambda s, x: x * math.pow(0.5, s.n), "square": lambda s, x: x + s.n ** 2,
    "maximum": lambda s, x: torch.maximum(x, s.v * s.n), "two uses": lambda s, x: (x * s.n) ** 2 + x / (s.n * s.n + 1)}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", STAY)
def test_formulas_stay_compiled(name: str, backend: str) -> None:
    for dtype in (torch.float32, torch.float64):
        plain, _ = results(STAY[name], lambda f: f, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled, function = results(STAY[name], lambda f: torch.compile(f, backend=backend), dtype)
        assert_same(plain, compiled, backend == "llvm")
        assert traces(function)[0] <= 4, traces(function)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", STAY)
def test_gradients_of_formulas(name: str, backend: str) -> None:
    """Of a backward pass outside of the function, also after later calls."""
    def later(change: Callable[..., Any]) -> list[Any]:
        own, kept = state(), []

        def step(x: Any) -> Any:
            own.n += 1
            own.k = own.k * 1.5
            own.w = own.w.detach().clone()
            return STAY[name](own, x)

        step = change(step)
        for call in range(6):
            x = (torch.linspace(1, 3, 6).view(2, 3) + call).requires_grad_()
            kept.append((x, step(x)))
        for _, out in reversed(kept):
            if out.requires_grad:
                out.sum().backward()
        return [[x.grad, out.detach(), own.n] for x, out in kept]

    with warnings.catch_warnings(action="ignore"):
        assert_same(later(lambda f: f), later(lambda f: torch.compile(f, backend=backend)), backend == "llvm")


ALSO: dict[str, Callable[[Any, Any], Any]] = {
    "full": lambda s, x: x + torch.full((3,), s.k), "tensor": lambda s, x: x + torch.tensor(s.n),
    "clamp": lambda s, x: x.clamp(max=s.k), "where": lambda s, x: torch.where(x > 2, x, s.k),
    "item": lambda s, x: s.w.__setitem__(0, s.k), "lerp": lambda s, x: x.lerp(s.w, s.k), "power": lambda s, x: x ** s.n,
    "base": lambda s, x: s.k ** x, "root of a negative number": lambda s, x: x * math.sqrt(s.n),
    "power of zero": lambda s, x: x * (s.n + 2) ** -1, "complex power": lambda s, x: x * abs((s.n - 0.5) ** 0.5),
    "too large a power": lambda s, x: x * 1e200 ** s.n, "two to a power": lambda s, x: x * 2 ** s.n,
    "too large an int": lambda s, x: s.i + 2**62 * s.n, "float": lambda s, x: x * float(s.n),
    "array": lambda s, x: x * np.sqrt(s.k), "floor": lambda s, x: x * math.floor(s.k),
    "half": lambda s, x: x.half() * s.k,
    "bool": lambda s, x: (x > 2) * s.n, "expanded": lambda s, x: torch.add(s.v[:1].expand(3), s.v, alpha=s.k),
    "transposed": lambda s, x: torch.add(x.t(), s.w.t(), alpha=s.k), "error": lambda s, x: s.i.add_(s.i, alpha=s.k),
    "other dtypes": lambda s, x: torch.add(x, s.i, alpha=s.n), "overlapping": lambda s, x: s.w.view(-1)[1:].add_(
        s.w.view(-1)[:-1], alpha=s.k), "vmap": lambda s, x: torch.vmap(lambda row: row * s.k)(x),
    "tangents": lambda s, x: torch.func.jvp(lambda y: y * s.n, (x,), (s.w,))[1],
    "gradients": lambda s, x: torch.func.grad(lambda y: (y * s.n).sum())(x),
    "dropout": lambda s, x: torch.nn.functional.dropout(x, 0.5 ** (s.n * s.n), True) * 0,
    "size": lambda s, x: x.expand(s.n * s.n, 2, 3)}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ALSO)
@pytest.mark.parametrize("grad", [False, True])
def test_other_uses_give_the_same(name: str, grad: bool, backend: str) -> None:
    plain, _ = results(ALSO[name], lambda f: f, grad=grad)
    with warnings.catch_warnings(action="ignore"):
        compiled, _ = results(ALSO[name], lambda f: torch.compile(f, backend=backend), grad=grad)
    assert_same(plain, compiled, backend == "llvm")


_NUMBERS = ("s.n", "s.k", "2", "0.9", "-1", "(s.n + 3)", "0", "1e30")
_FORMULAS = ("({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "({a} ** {b})", "({a} // {b})", "({a} % {b})",
             "math.sqrt({a})", "math.exp({a})", "math.log({a})", "sqrt({b})", "abs({a})", "-{a}", "max({a}, {b})",
             "min({a}, {b})", "({a} if {b} > 1 else {b})", "({a} if {b} else 0.5)", "math.pow({a}, {b})",
             "round({a}, 2)")
_USES = ("x * {a}", "{a} * x", "x + {a}", "x.add(s.w, alpha={a})", "x.addcmul(s.w, s.v, value={a})", "{a} - x",
         "s.w.addcdiv_(x, s.v, value={a}) * x", "x / {a}", "{a} / x", "torch.where(x > {a}, x, s.w)",
         "s.w.mul_({a}) + x",
         "s.w.fill_({a}) + x", "x * s.i + {a}", "(s.i + {a}).to(x.dtype) + x", "s.v.sub_(s.v, alpha={a}) + x",
         "x ** {a}")


def _program(seed: int) -> str:
    draw = random.Random(seed)

    def number(depth: int) -> str:
        if depth == 0 or draw.random() < 0.25:
            return draw.choice(_NUMBERS)
        return draw.choice(_FORMULAS).format(a=number(depth - 1), b=number(depth - 1))

    lines = [f"    x = {draw.choice(_USES).format(a=number(draw.randrange(3)))}" for _ in range(draw.randrange(1, 4))]
    more = [f"    s.k = {number(2)}"] if draw.random() < 0.3 else []
    return "\n".join(["def use(s, x):", *lines, *more, "    return x"])


@pytest.mark.sampled(25)
@pytest.mark.parametrize("seed", range(300))
def test_random_formulas(seed: int, backend: str) -> None:
    source = _program(seed)
    scope: dict[str, Any] = {"math": math, "sqrt": sqrt, "torch": torch}
    exec(compile(source, "<formulas>", "exec"), scope)
    grad, dtype = seed % 3 == 0, (torch.float32, torch.float64)[seed % 2]
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        plain, _ = results(scope["use"], lambda f: f, dtype, grad)
        compiled, _ = results(scope["use"], lambda f: torch.compile(f, backend=backend), dtype, grad)
    assert_same(plain, compiled, backend == "llvm")
