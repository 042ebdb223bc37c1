"""Training steps, compiled and as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import retrograd as torch


def mean_square(model: Any, x: Any) -> Any:
    return model(x).square().mean()


def step_of(model: Any, optimizer: Any, loss_of: Callable[..., Any] = mean_square) -> Callable[..., Any]:
    """A step that minimizes `loss_of(model, *batch)`."""
    def step(*batch: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(model, *batch)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def losses_of(change: Callable[[Any], Any], network: Callable[[], Any], loss_of: Callable[..., Any],
              batches: Iterable[Callable[[], Any]]) -> list[Any]:
    """The losses of steps of a new network, as `change` makes them. Each batch is drawn with a seed of its own."""
    torch.manual_seed(0)
    model = network()
    step = change(step_of(model, torch.optim.SGD(model.parameters(), lr=0.1), loss_of))
    losses = []
    for seed, batch in enumerate(batches):
        torch.manual_seed(seed)
        losses.append(step(*batch()))
    return losses
