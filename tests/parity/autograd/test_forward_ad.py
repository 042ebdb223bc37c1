"""Dual tensors against real PyTorch: values, tangents, texts, errors. The table of operators is in `test_op_table`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_expression import said

X, V = [1.0, 2.0], [3.0, 4.0]


def shown(library: Any, value: Any) -> Any:
    """A value for comparison: of a tensor its numbers, its dtype, and those of its tangent."""
    if isinstance(value, library.Tensor):
        primal, tangent = library.autograd.forward_ad.unpack_dual(value)
        found = [str(value.dtype), primal.tolist(), None if tangent is None else tangent.tolist()]
        return [np.round(part, 5).tolist() if type(part) is list else part for part in found]
    return [shown(library, part) for part in value] if isinstance(value, list | tuple) else value


@contextmanager
def level(library: Any) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with library.autograd.forward_ad.dual_level():
            yield library.autograd.forward_ad.make_dual(library.tensor(X), library.tensor(V))


def outcome(library: Any, program: Callable[..., Any]) -> Any:
    with level(library) as dual:
        try:
            return shown(library, program(library, dual))
        except Exception as error:
            return type(error).__name__, said(error)


def F(t: Any) -> Any:
    return t.autograd.forward_ad


def x(t: Any) -> Any:
    return t.tensor(X)


def v(t: Any) -> Any:
    return t.tensor(V)


def steps(t: Any, *functions: Callable[..., Any]) -> list[Any]:
    return [function() for function in functions]


def written(t: Any, d: Any) -> Any:
    z = t.zeros(3)
    head, tail = z[:2], z[1:]
    head.copy_(d)
    z.mul_(2)
    tail[0] = 5
    z[1:].add_(d * d)
    return z, head, tail, z.flip(0)


def optimized(t: Any, d: Any, kind: str, **options: Any) -> Any:
    p = t.nn.Parameter(x(t))
    optimizer = getattr(t.optim, kind)([p], lr=0.1, **options)
    for _ in range(3):
        p.grad = d * 1
        optimizer.step()
    return p


def by_module(t: Any, d: Any) -> Any:
    layer = t.nn.Linear(2, 1)
    weights = {"weight": d[None] * 1, "bias": d[:1] * 2}
    return t.func.functional_call(layer, weights, d)


def of_leaf(t: Any, d: Any) -> Any:
    return F(t).make_dual(x(t).requires_grad_(), v(t))


def gradient(t: Any, d: Any, **options: Any) -> Any:
    p = x(t).requires_grad_()
    return [*t.autograd.grad((F(t).make_dual(p, v(t)) ** 3).sum(), p, **options)]


def of_tangent(t: Any, d: Any) -> Any:
    p, w = x(t).requires_grad_(), v(t).requires_grad_()
    tangent = F(t).unpack_dual((F(t).make_dual(p, w) ** 3).sum()).tangent
    return [*t.autograd.grad(tangent, (p, w))]


def accumulated(t: Any, d: Any) -> Any:
    d.requires_grad_()
    (d * d).sum().backward()
    return d.grad


def switched(t: Any, d: Any) -> Any:
    before = F(t)._is_fwd_grad_enabled()
    with F(t)._set_fwd_grad_enabled(False):
        inside = [F(t)._is_fwd_grad_enabled(), shown(t, d), shown(t, d * 2)]
    return before, inside, d * 2, F(t)._current_level


def into_level(t: Any, d: Any) -> Any:
    p = t.nn.Parameter(x(t))
    with t.no_grad():
        p.copy_(d)
    return p


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "int primal": lambda t, d: F(t).make_dual(x(t).long(), v(t)),
    "int tangent": lambda t, d: F(t).make_dual(x(t), v(t).long()),
    "shape": lambda t, d: F(t).make_dual(x(t), v(t)[None]),
    "dual twice": lambda t, d: F(t).make_dual(d, v(t)),
    "dual tangent": lambda t, d: F(t).make_dual(x(t), d),
    "level": lambda t, d: F(t).make_dual(x(t), v(t), level=3),
    "level 0": lambda t, d: F(t).make_dual(x(t), v(t), level=0),
    "level -1": lambda t, d: F(t).make_dual(x(t), v(t), level=-1),
    "None": lambda t, d: F(t).make_dual(None, v(t)),
    "unpack level": lambda t, d: F(t).unpack_dual(d, level=3),
    "unpack no level": lambda t, d: F(t).unpack_dual(d, level=-1)[1],
    "unpack text": lambda t, d: F(t).unpack_dual("a"),
    "nested": lambda t, d: F(t).enter_dual_level(),
    "exit another": lambda t, d: F(t).exit_dual_level(level=5),
    "exit none": lambda t, d: F(t).exit_dual_level(level=-1),
    "resize_": lambda t, d: (d * 1).resize_(3),
    "leaf": lambda t, d: of_leaf(t, d).mul_(2),
    "text": lambda t, d: [repr(d), str(d[0]), f"{d[0]}", repr(d.double()), repr(t.zeros(2, 2) + d)],
    "numbers": lambda t, d: [d.tolist(), d[0].item(), d.numpy().tolist(), d.is_leaf, d.requires_grad],
    "detach": lambda t, d: d.detach(), "data": lambda t, d: d.data, "clone": lambda t, d: d.clone(),
    "detach_": lambda t, d: (d * 1).detach_(), "long": lambda t, d: [d.long(), d > 1, d.argmax()],
    "constants": lambda t, d: [t.zeros_like(d), d.round(), d.sign(), d.floor()],
    "filled": lambda t, d: [(d * 1).zero_(), (d * 1).fill_(2), x(t).fill_(d[0]), (d * 1).gt_(1.5)],
    "copies": lambda t, d: [t.tensor(d), x(t).new_tensor(d), t.as_tensor(d), copy.deepcopy(d)],
    "parameter": lambda t, d: t.nn.Parameter(d), "into a parameter": into_level,
    "no_grad": lambda t, d: t.no_grad()(lambda: d * 2)(),
    "views": lambda t, d: [d[None].expand(2, 2), d.unfold(0, 1, 1), d.as_strided((2, 2), (0, 1)), d.view(2, 1).mT],
    "pieces": lambda t, d: [*t.stack([d, d * 2]).unbind(1), *d.split(1), *t.meshgrid(d, d, indexing="ij")],
    "written": written,
    "module": by_module, "set data": lambda t, d: setattr(p := t.nn.Parameter(x(t)), "data", d) or p,
    "requires_grad_": lambda t, d: d.requires_grad_(), "accumulated": accumulated,
    "gradient": lambda t, d: gradient(t, d, create_graph=True), "gradient once": gradient,
    "of a tangent": of_tangent, "switched": switched,
    "embedding": lambda t, d: t.nn.functional.embedding(t.tensor([1]), d[:, None], max_norm=0.5),
    "SGD": lambda t, d: optimized(t, d, "SGD", momentum=0.9, weight_decay=0.1),
    "Adam": lambda t, d: optimized(t, d, "Adam", eps=0.5), "AdamW": lambda t, d: optimized(t, d, "AdamW", eps=0.5),
    "complex": lambda t, d: [t.complex(d, d * 2).abs(), t.view_as_real(t.complex(d, d * d)), t.complex(d, d).imag],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_on_dual_tensors(name: str) -> None:
    assert outcome(retrograd, PROGRAMS[name]) == outcome(torch, PROGRAMS[name])


def function(t: Any, forward: Any, jvp: Any, setup: Any = None) -> Any:
    methods = {"forward": forward, "jvp": jvp, "setup_context": setup, "backward": lambda ctx, *g: g}
    return type("F", (t.autograd.Function,), {
        name: staticmethod(method) for name, method in methods.items() if method is not None}).apply


def marked(ctx: Any, x: Any) -> Any:
    y = x * 3
    ctx.mark_non_differentiable(y)
    return x * 2, y


def dirty(ctx: Any, x: Any, *others: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


def kept(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x, x)
    ctx.save_for_forward(x * 3)
    return x * 2


def setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_forward(inputs[0], output)


def pair(ctx: Any, x: Any, *others: Any) -> Any:
    return x * 2, x * 3


def twice(ctx: Any, x: Any, *others: Any) -> Any:
    return x * 2


FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "none": (twice, None), "usual": (twice, lambda ctx, t: t * 2), "too many": (twice, lambda ctx, t: (t, t)),
    "too few": (pair, lambda ctx, t: t), "pair": (pair, lambda ctx, t: (t, t * 5)),
    "shape": (twice, lambda ctx, t: t.sum()), "number": (twice, lambda ctx, t: 3.0),
    "list": (twice, lambda ctx, t: [t]),
    "int": (lambda ctx, x: (x * 2, x.long()), lambda ctx, t: (t, t)),
    "int None": (lambda ctx, x: (x * 2, x.long()), lambda ctx, t: (t, None)),
    "marked": (marked, lambda ctx, t: (t, t)), "marked None": (marked, lambda ctx, t: (t, None)),
    "text": (lambda ctx, x: (x * 2, "s"), lambda ctx, t: (t, None)),
    "view": (lambda ctx, x: x[:1], lambda ctx, t: t[:1]), "no view": (lambda ctx, x: x[:1], lambda ctx, t: t[:1] * 2),
    "input": (lambda ctx, x: x, lambda ctx, t: t), "input view": (lambda ctx, x: x, lambda ctx, t: t.view_as(t)),
    "kept": (kept, lambda ctx, t: t * ctx.saved_tensors[0]), "error": (twice, lambda ctx, t: 1 / 0),
    "expanded": (twice, lambda ctx, t: t[:1].expand(2)), "count": (twice, lambda ctx: 1),
    "dirty": (dirty, lambda ctx, t: t.mul_(2)), "dirty new": (dirty, lambda ctx, t: t * 2),
    "dirty None": (dirty, lambda ctx, t: None),
    "saved text": (lambda ctx, x: ctx.save_for_forward("a"), lambda ctx, t: t),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    forward, jvp = FUNCTIONS[name]
    found, expected = (outcome(t, lambda t, d: function(t, forward, jvp)(d * 1)) for t in (retrograd, torch))
    assert found == expected


def test_functions_with_setup_context_and_several_arguments() -> None:
    def saved(t: Any, d: Any) -> Any:
        return function(t, lambda x: x * 2, lambda ctx, g: g * ctx.saved_tensors[0] + ctx.saved_tensors[1], setup)(d)

    def several(t: Any, d: Any) -> Any:
        given: list[Any] = []

        def jvp(ctx: Any, *tangents: Any) -> Any:
            given.extend(tangents)
            return tangents[0]

        return function(t, twice, jvp)(d, x(t), t.tensor([1]), 3, None), given

    def into(t: Any, d: Any) -> Any:
        y = x(t)
        function(t, lambda ctx, a, b: dirty(ctx, a), lambda ctx, g, h: h * 2)(y, d)
        return y

    for program in (saved, several, into):
        assert outcome(retrograd, program) == outcome(torch, program)
