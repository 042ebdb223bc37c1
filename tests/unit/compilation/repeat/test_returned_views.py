"""Views that a compiled function returns: what stands between a view and its base in the graph is not lost."""

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS


class Reversed(torch.autograd.Function):
    """The identity, whose gradient has the other sign."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return -g


def hooked(view: Any) -> Any:
    view.register_hook(lambda g: g * 3)
    return view


def hooked_node(view: Any) -> Any:
    view.grad_fn.register_hook(lambda inputs, outputs: tuple([g * 3 for g in inputs]))
    return view


def hooked_before(view: Any) -> Any:
    view.grad_fn.register_prehook(lambda outputs: tuple([g * 3 for g in outputs]))
    return view


def hook_removed(view: Any) -> Any:
    view.register_hook(lambda g: g * 3).remove()
    return view


def retained(view: Any) -> Any:
    view.retain_grad()
    return view


# What stands between the base and the view, and whether the function can be repeated.
BETWEEN: dict[str, Callable[[Any], Any]] = {
    "a Function": Reversed.apply,
    "a Function on a view": lambda y: Reversed.apply(y.view(-1)).view(2, 3),
    "two Functions": lambda y: Reversed.apply(Reversed.apply(y)),
    "a hook": lambda y: hooked(y[:])[:],
    "a hook on the view": lambda y: hooked(y[:]),
    "a hook on the base": lambda y: hooked(y)[:],
    "a hook on the node": lambda y: hooked_node(y.view(3, 2)).view(2, 3),
    "a hook before the node": lambda y: hooked_before(y.t()).t(),
    "a hook that is gone": lambda y: hook_removed(y[:])[:],
    "a retained gradient": lambda y: retained(y[:])[:],
    "views": lambda y: y.view(3, 2).t()[:, 1:].unsqueeze(0).squeeze(0),
    "parts": lambda y: y.unbind(0)[1][1:],
    "a split": lambda y: y.split(1)[1].chunk(3, 1)[2],
    "a diagonal": lambda y: y.diagonal().expand(4, -1),
    "a real part": lambda y: torch.view_as_real(torch.view_as_complex(y[:, :2].contiguous()))[:],
    "a write": lambda y: y[:].mul_(2)[1:],
    "a write through a view": lambda y: (y[0].mul_(3), y[:, 1:])[1],
}


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("of_an_argument", [False, True], ids=["result", "argument"])
@pytest.mark.parametrize("name", BETWEEN)
def test_gradients_are_those_of_the_program(name: str, of_an_argument: bool, backend: str) -> None:
    assert _calls(BETWEEN[name], of_an_argument, None) == _calls(BETWEEN[name], of_an_argument, backend)


def _calls(between: Callable[[Any], Any], of_an_argument: bool, backend: str | None) -> list[Any]:
    """What three calls show, of the function as it is if `backend` is None."""
    weight = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    function = between if of_an_argument else lambda x: between(x * weight)
    if backend is not None:
        function = torch.compile(function, backend=backend)
    numbers = []
    for i in range(1, 4):
        weight.grad = None
        x = torch.full((2, 3), float(i))
        view = function(x * weight if of_an_argument else x)
        (view * torch.arange(1.0, view.numel() + 1).reshape(view.shape)).sum().backward()
        numbers.append((view.tolist(), weight.grad.tolist(), view._is_view(), view.grad_fn.name()))
    return numbers
