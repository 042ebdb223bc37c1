"""The compiler runs the `backward` of a custom Function before the program does only if nobody can see this."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS

KEPT: dict[str, Any] = {"count": 0, "list": [], "tensor": torch.ones(3), "scale": 2.0}
SCALE, BUFFER = 3.0, torch.full((3,), 2.0)
COUNT = 0


class Box:
    calls = 0


def doubled(g: Any) -> Any:
    return g * 2 * math.sqrt(SCALE)


def counted(g: Any) -> Any:
    KEPT["count"] += 1
    return g


def _global(ctx: Any, g: Any) -> Any:
    global COUNT
    COUNT += 1
    return g


def _attribute(ctx: Any, g: Any) -> Any:
    Box.calls += 1
    return g


def _element(ctx: Any, g: Any) -> Any:
    BUFFER[0] = 7.0
    return g


def _in_place(ctx: Any, g: Any) -> Any:
    BUFFER.add_(1)
    return g


def _of_context(ctx: Any, g: Any) -> Any:
    ctx.kept.append(1)
    return g


def _on_context(ctx: Any, g: Any) -> Any:
    ctx.runs = 1
    return g


def _printed(ctx: Any, g: Any) -> Any:
    print("backward")
    return g


def _error(ctx: Any, g: Any) -> Any:
    raise TypeError("not today")


# Backward passes that somebody could see.
SEEN: dict[str, Callable[..., Any]] = {
    "a global variable": _global, "an attribute of a class": _attribute, "an element": _element, "in place": _in_place,
    "a list of the context": _of_context, "an attribute of the context": _on_context, "output": _printed,
    "an error": _error, "a helper": lambda ctx, g: counted(g), "append": lambda ctx, g: (KEPT["list"].append(1), g)[1],
    "a dict": lambda ctx, g: (KEPT.update(count=1), g)[1], "setattr": lambda ctx, g: (setattr(Box, "calls", 9), g)[1]}


def _clipped(ctx: Any, g: Any) -> Any:
    x, = ctx.saved_tensors
    found = g.clone()
    found[x < 0] = 0
    return found


def _several(ctx: Any, g: Any) -> Any:
    parts = []
    for factor in (1.0, 2.0):
        parts.append(g * factor)
    return torch.stack(parts).sum(0) if ctx.needs_input_grad[0] else None


# Backward passes that compute and no more.
QUIET: dict[str, Callable[..., Any]] = {
    "a product": lambda ctx, g: -g * ctx.factor, "helpers and constants": lambda ctx, g: doubled(g) * SCALE,
    "elements of a copy": _clipped, "a list of its own": _several, "a tensor from outside": lambda ctx, g: g * BUFFER,
    "a comprehension": lambda ctx, g: sum([g * i for i in range(3)]),
    "a function of the package": lambda ctx, g: torch.nn.functional.relu(g) + torch.sin(g),
    "once": torch.autograd.function.once_differentiable(lambda ctx, g: g * 4)}


def function_with(backward: Callable[..., Any]) -> Any:
    class Custom(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = 0.5
            if backward is _of_context:
                ctx.kept = KEPT["list"]
            return x * 3

    Custom.backward = staticmethod(backward)
    return lambda x: (Custom.apply(x * 1.5) * 2).sum()


def seen(change: Callable[[Any], Any], backward: Callable[..., Any], capture: Any) -> list[Any]:
    """All that a program shows after each of its steps."""
    global COUNT
    COUNT, Box.calls = 0, 0
    KEPT.update(count=0, list=[], scale=2.0)
    BUFFER.fill_(2.0)
    function, found = change(function_with(backward)), list[Any]()

    def look() -> None:
        found.append((COUNT, Box.calls, KEPT["count"], [*KEPT["list"]], BUFFER.tolist(), capture.readouterr().out))

    for call in range(3):
        x = torch.tensor([-1.0, 0.5, 2.0 + call], requires_grad=True)
        y = function(x)
        look()
        try:
            y.backward()
        except TypeError as error:
            found.append(str(error))
        look()
        found += [y.item(), None if x.grad is None else x.grad.tolist()]
    return found


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", [*SEEN, *QUIET])
def test_a_backward_pass_is_seen_only_when_it_runs(name: str, backend: str, capsys: Any) -> None:
    backward = (SEEN | QUIET)[name]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        compiled = seen(lambda f: torch.compile(f, backend=backend), backward, capsys)
    expected = seen(lambda f: f, backward, capsys)
    if backend == "numpy":
        assert compiled == expected
    else:
        assert repr(compiled).replace(" ", "").count("[") == repr(expected).replace(" ", "").count("[")
        assert [part for part in compiled if isinstance(part, tuple)] == [p for p in expected if isinstance(p, tuple)]
    assert bool(said) is (name in SEEN), [str(each.message) for each in said]


def test_numbers_that_a_backward_pass_draws_are_drawn_when_it_runs() -> None:
    function = function_with(lambda ctx, g: g * torch.rand(3))
    found = []
    for change in (lambda f: f, lambda f: torch.compile(f, backend="numpy")):
        torch.manual_seed(0)
        step = change(function)
        for _ in range(3):
            x = torch.ones(3, requires_grad=True)
            y = step(x)
            found.append(torch.rand(2).tolist())
            y.backward()
            found.append(x.grad.tolist())
    assert found[:6] == found[6:]
