"""What a call of a custom Function keeps alive, and that it goes with the last tensor, without the collector."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function

pytestmark = pytest.mark.usefixtures("no_collector")


class Token:
    """Something to hold a weak reference to."""


def made(forward: Callable[..., Any], backward: Callable[..., Any], **more: Callable[..., Any]) -> type[Any]:
    methods = {"forward": forward, "backward": backward, **more}
    return type("Made", (Function,), {name: staticmethod(method) for name, method in methods.items()})


def save_input(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * 2


def save_output(ctx: Any, x: Any) -> Any:
    y = x * 2
    ctx.save_for_backward(y)
    return y


def save_all(ctx: Any, x: Any) -> Any:
    y, z = x * 2, x * 3
    ctx.save_for_backward(x, y, z, None, y)
    return y, z


def save_view_of_output(ctx: Any, x: Any) -> Any:
    y = x * 2
    ctx.save_for_backward(y.view(-1))
    return y


def save_intermediate(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x * 5)
    return x * 2


def save_constant_output(ctx: Any, x: Any) -> Any:
    y, z = x * 2, x * 3
    ctx.mark_non_differentiable(z)
    ctx.save_for_backward(z)
    return y, z


def save_what_was_written(ctx: Any, x: Any) -> Any:
    x.mul_(2)
    ctx.mark_dirty(x)
    ctx.save_for_backward(x)
    return x


def save_returned_input(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x


def input_as_attribute(ctx: Any, x: Any) -> Any:
    ctx.x = x
    return x * 2


def inner_graph(ctx: Any, x: Any) -> Any:
    with torch.enable_grad():
        ctx.x = x.detach().requires_grad_()
        ctx.y = ctx.x.exp()
    return ctx.y.detach()


PATTERNS = [save_input, save_output, save_all, save_intermediate, save_constant_output,
            save_what_was_written, save_returned_input, input_as_attribute, inner_graph]


def call(forward: Callable[..., Any], x: Any) -> tuple[Any, weakref.ref[Any]]:
    """The first output of a call, and a weak reference to what its context holds."""
    tokens: list[weakref.ref[Any]] = []

    def with_token(ctx: Any, x: Any) -> Any:
        ctx.token = Token()
        tokens.append(weakref.ref(ctx.token))
        return forward(ctx, x)

    out = made(with_token, lambda ctx, *gs: (ctx.saved_tensors, gs[0])[1]).apply(x)
    return (out[0] if isinstance(out, tuple) else out), tokens[0]


@pytest.mark.parametrize("forward", PATTERNS)
@pytest.mark.parametrize("use", ["drop", "backward", "twice", "double", "grad_fn", "view"])
def test_a_call_goes_with_its_outputs(forward: Callable[..., Any], use: str) -> None:
    leaf = torch.ones(3, requires_grad=True)
    x = leaf * 1
    if use == "view":
        x = x[0:2]
    y, token = call(forward, x)
    assert token() is not None
    if use in ("backward", "twice"):
        y.sum().backward(retain_graph=use == "twice")
    if use == "twice":
        y.sum().backward()
    if use == "double":
        torch.autograd.grad(y.sum(), leaf, create_graph=True)
    if use == "grad_fn":
        node = y.grad_fn
        del x, y
        assert token() is not None
        assert node.token is token()
        del node
    else:
        del x, y
    assert token() is None


@pytest.mark.parametrize("forward", [save_input, save_output, save_all, save_intermediate, input_as_attribute])
def test_memory_is_flat_over_many_steps(forward: Callable[..., Any]) -> None:
    function = made(forward, lambda ctx, *gs: gs[0])
    x = torch.ones(3, requires_grad=True)

    def steps(count: int) -> int:
        for _ in range(count):
            out = function.apply(x * 1)
            (out[0] if isinstance(out, tuple) else out).sum().backward()
        del out
        return len(gc.get_objects())

    before = steps(10)
    assert steps(2000) <= before + 5


def output_as_attribute(ctx: Any, x: Any) -> Any:
    ctx.y = x * 2
    return ctx.y


@pytest.mark.parametrize("forward", [output_as_attribute, save_view_of_output])
def test_a_context_that_holds_its_output_is_a_cycle_for_the_collector(forward: Callable[..., Any]) -> None:
    y, token = call(forward, torch.ones(3, requires_grad=True))
    del y
    assert token() is not None                          # in PyTorch too
    gc.collect()
    assert token() is None


def test_a_kept_context_keeps_the_graph_behind_it() -> None:
    contexts: list[Any] = []
    x = torch.ones(3, requires_grad=True)
    middle = x * 2
    made(lambda ctx, x: (contexts.append(ctx), x * 2)[1], lambda ctx, g: g).apply(middle)
    del middle
    assert contexts[0].next_functions[0][0].next_functions[0][0].variable is x


def test_nothing_is_kept_where_nothing_is_recorded() -> None:
    contexts: list[Any] = []
    x = torch.ones(3)
    y = made(lambda ctx, x: (contexts.append(ctx), ctx.save_for_backward(x), x * 2)[2], lambda ctx, g: g).apply(x)
    gone = weakref.ref(x)
    del x
    assert gone() is None
    assert y.grad_fn is None


def test_a_failed_forward_keeps_nothing() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        raise ValueError("mine")

    x = torch.ones(3, requires_grad=True) * 1
    with pytest.raises(ValueError, match="mine"):
        made(forward, lambda ctx, g: g).apply(x)
    gone = weakref.ref(x)
    del x
    assert gone() is None


def test_saved_tensors_go_as_soon_as_the_node_has_run() -> None:
    x = torch.ones(3, requires_grad=True)
    saved: list[weakref.ref[Any]] = []

    def forward(ctx: Any, x: Any) -> Any:
        middle = x * 5
        saved.append(weakref.ref(middle))
        ctx.save_for_backward(middle)
        return x * 2

    y = made(forward, lambda ctx, g: g).apply(x)
    assert saved[0]() is not None
    y.sum().backward()
    assert saved[0]() is None
    assert y.grad_fn is not None
