"""Hooks on saved tensors around transforms: what the hooks get, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd.autograd.graph import saved_tensors_hooks


def test_hooks_get_the_pieces_of_values_of_transforms() -> None:
    """A batch is one array with an ordinary axis, and a dual number two arrays. Both come back as they were."""
    x, w = torch.rand(4, 3, requires_grad=True), torch.rand(3, requires_grad=True)

    def on_disk(function: Callable[[], Any]) -> tuple[list[Any], list[tuple[int, ...]]]:
        shapes: list[tuple[int, ...]] = []

        def pack(t: Any) -> Any:
            shapes.append(tuple(t.shape))
            return t.detach().numpy().copy()

        with saved_tensors_hooks(pack, torch.from_numpy):
            result = function()
        return [result.tolist(), *[g.tolist() for g in torch.autograd.grad(result.sum(), (x, w))]], shapes

    def plain(function: Callable[[], Any]) -> list[Any]:
        result = function()
        return [result.tolist(), *[g.tolist() for g in torch.autograd.grad(result.sum(), (x, w))]]

    def batched() -> Any:
        return torch.vmap(lambda row: (row * w).sin() * row)(x)

    def dual() -> Any:
        return torch.func.jvp(lambda x: (x * w).sin() * x, (x,), (x.cos(),))[1]

    found, shapes = on_disk(batched)
    assert found == plain(batched)
    assert set(shapes) == {(4, 3), (3,)}
    found, shapes = on_disk(dual)
    assert found == plain(dual)
    assert on_disk(lambda: torch.func.jvp(torch.vmap(lambda row: (row * w).exp()), (x,), (x,))[1])[0] == plain(
        lambda: torch.func.jvp(torch.vmap(lambda row: (row * w).exp()), (x,), (x,))[1])


def test_the_transform_that_linearizes_puts_hooks_off() -> None:
    x, seen = torch.rand(3, requires_grad=True), []
    with saved_tensors_hooks(lambda t: seen.append(t), lambda t: 1 / 0):
        value, push = torch.func.linearize(torch.sin, x)
        pushed = push(torch.ones(3))
    assert torch.equal(pushed, x.cos())
    assert torch.equal(value, x.sin())
    assert seen == []
