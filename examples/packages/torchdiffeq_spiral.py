"""torchdiffeq: learns the field of a spiral from points on it, and solves the equation with several methods.

The gradients go through the steps of the solver, or come from the adjoint equation. An event stops a falling ball.
"""

import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event


class Field(nn.Module):
    """A velocity that a small network computes from the cubes of the position."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.layers(y**3)


def main() -> None:
    torch.set_default_dtype(torch.float64)
    times = torch.linspace(0.0, 1.5, 8)
    start = torch.tensor([2.0, 0.0])
    turn = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    truth = odeint(lambda t, y: y**3 @ turn, start, times, rtol=1e-5, atol=1e-7)
    print("end of the spiral:", [round(value, 5) for value in truth[-1].tolist()])

    for solve in (odeint, odeint_adjoint):
        torch.manual_seed(1)
        field = Field()
        optimizer = torch.optim.RMSprop(field.parameters(), lr=0.005)
        for step in range(6):
            loss = (solve(field, start, times, method="dopri5", rtol=1e-4, atol=1e-5) - truth).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 0:
                print(f"{solve.__name__}: step {step}   loss {loss.item():.5f}")

    for method in ("euler", "midpoint", "rk4", "explicit_adams", "implicit_adams", "bosh3", "dopri8", "adaptive_heun"):
        exact = torch.exp(torch.tensor(-1.0))
        grid = torch.linspace(0, 1, 21)
        end = odeint(lambda t, y: -y, torch.ones(1), grid, method=method)[-1]
        print(f"{method:15} error {abs((end - exact).item()):.2e}")

    height, speed = torch.tensor([10.0]), torch.tensor([0.0])
    gravity = torch.tensor(9.8, requires_grad=True)
    when, _ = odeint_event(
        lambda t, state: (state[1], -gravity * torch.ones_like(state[0])),
        (height, speed),
        torch.tensor(0.0),
        event_fn=lambda t, state: state[0][0],
    )
    when.backward()
    print(f"the ball lands after {when.item():.5f} s, and {gravity.grad.item():.6f} s later for more gravity")


if __name__ == "__main__":
    main()
