"""A neural ordinary differential equation learns a spiral (Chen and others, 2018).

A network gives the speed of a point at each place. A solver of fourth order (Runge and Kutta) moves the point. The
backward pass stores no steps of the solver. It solves a second equation, the adjoint one, backward in time.
"""

import argparse
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import nn

STEPS = 2  # of the solver, between two points of time


def rk4(
    speed: Callable[[tuple[torch.Tensor, ...]], tuple[torch.Tensor, ...]], state: tuple[torch.Tensor, ...], time: float
) -> tuple[torch.Tensor, ...]:
    """The state after some time. The equation does not depend on the time itself."""
    h = time / STEPS

    def moved(slope: tuple[torch.Tensor, ...], by: float) -> tuple[torch.Tensor, ...]:
        return tuple(x + by * dx for x, dx in zip(state, slope, strict=True))

    for _ in range(STEPS):
        k1 = speed(state)
        k2 = speed(moved(k1, h / 2))
        k3 = speed(moved(k2, h / 2))
        k4 = speed(moved(k3, h))
        state = tuple(x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(state, k1, k2, k3, k4, strict=True))
    return state


class Solve(torch.autograd.Function):
    """The places at several times. The gradient is that of the adjoint equation."""

    @staticmethod
    def forward(
        ctx: Any, network: nn.Module, place: torch.Tensor, times: list[float], *weights: torch.Tensor
    ) -> torch.Tensor:
        places = [place]
        for before, after in pairwise(times):
            places.extend(rk4(lambda state: (network(*state),), (places[-1],), after - before))
        ctx.network, ctx.times = network, times
        path = torch.stack(places)
        ctx.save_for_backward(path, *weights)
        return path

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        path, *weights = ctx.saved_tensors

        def speed(state: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            """The speeds of the place, of its adjoint, and of the gradients of the weights."""
            with torch.enable_grad():
                place = state[0].detach().requires_grad_()
                out = ctx.network(place)
                slopes = torch.autograd.grad(out, (place, *weights), -state[1])
            return (out.detach(), *slopes)

        state = (path[-1], grad[-1], *(torch.zeros_like(weight) for weight in weights))
        for i in range(len(path) - 1, 0, -1):
            _, adjoint, *sums = rk4(speed, state, ctx.times[i - 1] - ctx.times[i])
            state = (path[i - 1], adjoint + grad[i - 1], *sums)
        return None, state[1], None, *state[2:]


class NeuralODE(nn.Module):
    """A network for the speed at a place."""

    def __init__(self) -> None:
        super().__init__()
        self.speed = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, place: torch.Tensor, times: list[float]) -> torch.Tensor:
        return Solve.apply(self.speed, place, times, *self.speed.parameters())


def train_step(
    model: NeuralODE, optimizer: torch.optim.Optimizer, path: torch.Tensor, times: list[float]
) -> torch.Tensor:
    """One step on a path, or on several beside each other. Returns the mean distance."""
    optimizer.zero_grad()
    loss = (model(path[0], times) - path).abs().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=150)
    options = parser.parse_args()
    torch.manual_seed(0)
    turning = torch.tensor([[-0.1, 1.0], [-1.0, -0.1]])
    times = torch.linspace(0, 6, 31).tolist()
    with torch.no_grad():
        path = Solve.apply(lambda place: place @ turning, torch.tensor([[2.0, 0.0], [0.0, 1.5]]), times)
    model = NeuralODE()

    exact = model.double()
    start, few = path[0].double().requires_grad_(), times[:3]
    print("gradcheck of the adjoint:", torch.autograd.gradcheck(lambda x: exact(x, few), start, rtol=1e-2, atol=1e-4))
    model.float()

    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    for step in range(1, options.steps + 1):
        begin = torch.randint(len(times) - 10, ()).item()
        loss = train_step(model, optimizer, path[begin : begin + 10], times[:10])
        if step == 1 or step % 50 == 0:
            with torch.no_grad():
                error = (model(path[0], times) - path).abs().mean()
            print(f"step {step:3d}: loss {loss.item():.3f}, error on the whole path {error.item():.3f}")


if __name__ == "__main__":
    main()
