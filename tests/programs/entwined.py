"""Random derivatives of derivatives, whose directions and cotangents depend on the inputs and on outer numbers, too.

A program is a function of two numbers, and what is made of it, step by step. Each step takes a function of a vector and
returns another one, so a program is one itself. It uses two numbers that no transform is given. Some functions are
programs that write to tensors and to views of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import retrograd as torch
import retrograd.autograd.forward_ad as fwd
import retrograd.autograd.functional as older
from retrograd.func import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from retrograd.utils.checkpoint import checkpoint

F = Callable[[Any], Any]
WEIGHTS = torch.tensor([0.8, -1.1], dtype=torch.float64)


class Outer:
    """The numbers that no transform is given."""

    w: Any = WEIGHTS


FUNCTIONS: dict[str, F] = {
    "sin": lambda x: x.sin() * Outer.w, "cube": lambda x: x * x * x, "product": lambda x: x * x.flip(0),
    "double": lambda x: x * 2, "norm": lambda x: x * x.square().sum(), "outer": lambda x: Outer.w.exp() + 0 * x,
    "written": lambda x: x.clone().mul_(x), "view": lambda x: (x * 1).view(2, 1).mul(x).sum(0),
    "softmax": lambda x: x.softmax(0), "same": lambda x: x, "weights": lambda x: Outer.w,
    "part": lambda x: _part_written(x * 0.7) * Outer.w,
}


def _part_written(y: Any) -> Any:
    y.view(1, 2)[:, 1:].sin_().mul_(y[:1] + Outer.w[0])
    return y


# Lines of functions that write. `y` is what the lines before have made of x, and `w` the outer numbers.
WRITES = """
y = y * 1; y.mul_(x)
y = y * 1; y.add_(w)
y = y * 1; y[0] = x[1]
y = y * 1; y[1:] = x[:1] * w[0]
y = y * 1; v = y[1:]; v.mul_(x[0]); y = y + v
y = y * 1; v = y.view(1, 2); v.sin_(); y = y * w
y = y * 1; v = y.view(2, 1).t()[0]; v.copy_(x * 2); y = y + v * x
z = y * 0; z[0] = y[1]; z[1] = x[0] * w[1]; y = z
z = torch.cat([y, y]) * 0; z[:2] = y; z[1:3].add_(x); y = z[:2] * z[1:3]
z = y * 0; z.copy_(y); z.mul_(0.3).add_(w); y = z
y = torch.stack([y, x, w]).t().clone().mul_(x[:, None]).sum(1)
y = y * 1; a, b = y.unbind(); y = torch.stack([b * w[0], a])
y = torch.cat([y, x])[1:3] * w
y = torch.where(y > 0.1, y * w, y * x)
y = y * 1; y.masked_fill_(torch.tensor([True, False]), 0.5); y = y + x * w
y = y.expand(2, 2).clone(); y.diagonal().mul_(w); y = y.sum(0) * 0.5
z = y * 1; q = z.narrow(0, 0, 1); q.add_(w[:1] * x[1:]); y = z + q
y = y * 1; y.clamp_(min=0.05); y = y + x
y = torch.addcmul(y, x, w)
y = y * 1; y.lerp_(x, 0.3)
y = y.unsqueeze(0) * 1; y.squeeze_(0); y = y + w
y = y * 1; y.neg_(); v = y.flip(0) * x; y = v.add_(w)
""".strip().splitlines()


def _writing(draws: random.Random) -> tuple[str, F]:
    """A function of a few such lines, and its text."""
    lines = draws.choices(WRITES, k=draws.randint(1, 4))
    text = "\n    ".join(["def f(x):", "w = Outer.w; y = x * 0.7", *lines, "return y"])
    names: dict[str, Any] = {"torch": torch, "Outer": Outer}
    exec(text, names)
    return text, names["f"]


def _pushed(first: Callable[[Any, Any, Any], Any], direction: F, at: F = lambda x: x) -> Callable[[F], F]:
    return lambda f: lambda x: first(x, *jvp(f, (at(x),), (direction(x),)))


def _pulled(cotangent: Callable[[Any, Any], Any], at: F = lambda x: x) -> Callable[[F], F]:
    def make(f: F) -> F:
        def pulled(x: Any) -> Any:
            out, pull = vjp(f, at(x))
            return pull(cotangent(x, out))[0]
        return pulled
    return make


def _dual(f: F) -> F:
    def parts(x: Any) -> Any:
        with fwd.dual_level():
            out = fwd.unpack_dual(f(fwd.make_dual(x, x.cos())))
            return out.primal + 2 * out.tangent if out.tangent is not None else out.primal
    return parts


def _linear(direction: F, at: F = lambda x: x) -> Callable[[F], F]:
    def make(f: F) -> F:
        def linear(x: Any) -> Any:
            out, push = linearize(f, at(x))
            return push(direction(x)) + out
        return linear
    return make


class Cubed(torch.autograd.Function):
    """x ** 3, with all that transforms ask for."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x ** 3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, = ctx.saved_tensors
        return g * 3 * x * x

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        x, = ctx.saved_tensors
        return t * 3 * x * x


def _kept(f: F) -> F:
    def kept(x: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            return f(x)
    return kept


MAKERS: dict[str, Callable[[F], F]] = {
    "jvp tangent": _pushed(lambda x, out, tangent: tangent, torch.ones_like),
    "jvp along x": _pushed(lambda x, out, tangent: tangent, lambda x: x * 0.5),
    "jvp along w": _pushed(lambda x, out, tangent: tangent * x, lambda x: Outer.w),
    "jvp both": _pushed(lambda x, out, tangent: out - 2 * tangent, torch.cos),
    "jvp product": _pushed(lambda x, out, tangent: out * tangent, torch.ones_like),
    "jvp value": _pushed(lambda x, out, tangent: out, torch.ones_like),
    "jvp at w": _pushed(lambda x, out, tangent: out * x + tangent, lambda x: x, lambda x: Outer.w * 0.5),
    "vjp of ones": _pulled(lambda x, out: torch.ones_like(out)), "vjp of out": _pulled(lambda x, out: out),
    "vjp of x": _pulled(lambda x, out: x * 3), "vjp of w": _pulled(lambda x, out: Outer.w),
    "vjp at w": _pulled(lambda x, out: x, lambda x: Outer.w),
    "grad": lambda f: grad(lambda x: f(x).sum()), "grad of weighted": lambda f: grad(lambda x: (f(x) * x).sum()),
    "grad and value": lambda f: lambda x: (lambda g, value: g * value)(*grad_and_value(lambda y: f(y).sum())(x)),
    "jacrev": lambda f: lambda x: jacrev(f)(x).sum(0) * x, "jacfwd": lambda f: lambda x: jacfwd(f)(x) @ x,
    "hessian": lambda f: lambda x: hessian(lambda y: f(y).sum())(x).sum(0),
    "vmap": lambda f: lambda x: vmap(f)(torch.stack([x, x * 0.5])).sum(0),
    "vmap of w": lambda f: lambda x: vmap(lambda a: f(a * x))(Outer.w).sum(0),
    "linearize": _linear(lambda x: x), "linearize at w": _linear(lambda x: x, lambda x: Outer.w),
    "functionalize": functionalize, "dual": _dual,
    "older jvp": lambda f: lambda x: older.jvp(f, x, x * 0.5, create_graph=True)[1],
    "older vjp": lambda f: lambda x: older.vjp(f, x, Outer.w, create_graph=True)[1],
    "older hvp": lambda f: lambda x: older.hvp(lambda y: f(y).sum(), x, x, create_graph=True)[1],
    "older vhp": lambda f: lambda x: older.vhp(lambda y: f(y).sum(), x, x, create_graph=True)[1],
    "older jacobian": lambda f: lambda x: older.jacobian(f, x, create_graph=True) @ x,
    "older vectorized": lambda f: lambda x: older.jacobian(f, x, create_graph=True, vectorize=True) @ x,
    "older hessian": lambda f: lambda x: older.hessian(lambda y: f(y).sum(), x, create_graph=True) @ x,
    "custom": lambda f: lambda x: Cubed.apply(f(x)), "of custom": lambda f: lambda x: f(Cubed.apply(x)),
    "times x": lambda f: lambda x: f(x) * x, "plus w": lambda f: lambda x: f(x) + f(Outer.w),
}
# Checkpoints hook saved values, which transforms of reverse mode refuse. So these stand in programs without any.
CHECKPOINTED: dict[str, Callable[[F], F]] = {
    **{name: maker for name, maker in MAKERS.items()
       if name.startswith(("jvp", "vmap", "dual", "times", "plus", "jacfwd", "older", "custom"))},
    "checkpoint": lambda f: lambda x: checkpoint(f, x, use_reentrant=False), "kept": _kept,
}


def program(seed: int, depth: int) -> tuple[list[str], F]:
    """The names of the steps of a random program, and the program: a function of x and of the outer numbers."""
    draws = random.Random(seed)
    makers = CHECKPOINTED if draws.random() < 0.25 else MAKERS
    first = draws.choice([*FUNCTIONS])
    text, function = (first, FUNCTIONS[first]) if draws.random() < 0.5 else _writing(draws)
    names = [text, *draws.choices([*makers], k=draws.randint(1, depth))]
    # Levels of this kind do not nest. So a backward pass inside must not run a checkpoint around the level again.
    one = next((i + 1 for i, name in enumerate(names) if name == "dual" or name.startswith("older")), len(names))
    names[one:] = ["times x" if name == "dual" else name for name in names[one:]]
    return names, made(names, function)


def made(names: list[str], function: F | None = None) -> F:
    """The program of these steps, and of the function if it is not the one that the first name says."""
    f = FUNCTIONS[names[0]] if function is None else function
    for name in names[1:]:
        f = (MAKERS | CHECKPOINTED)[name](f)

    def run(numbers: Any) -> Any:
        Outer.w = numbers[2:]
        return f(numbers[:2])

    return run


def loss(f: F, numbers: Any) -> Any:
    """A number that depends on all results."""
    return (f(numbers).square() * WEIGHTS).sum()


def slopes(f: F, numbers: Any, step: float = 1e-4) -> Any:
    """The gradient of the loss, by differences of fourth order."""
    def at(i: int, steps: int) -> float:
        moved = numbers.clone()
        moved[i] += steps * step
        return float(loss(f, moved).detach())

    return torch.tensor([(8 * (at(i, 1) - at(i, -1)) - (at(i, 2) - at(i, -2))) / (12 * step) for i in range(4)],
                        dtype=torch.float64)
