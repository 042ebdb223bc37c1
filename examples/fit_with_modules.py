"""Fits a cubic to log(1 + x) on [0, 2] with torch.nn and torch.optim.

A module consists of tensors that require grad and a function of these tensors. The optimizer is the update loop.
"""

import torch
from torch import nn


class Powers(nn.Module):
    """Turns a column of numbers into the columns of their powers 1 to `degree`."""

    def __init__(self, degree: int) -> None:
        super().__init__()
        # A buffer belongs to the module, but it is not trained.
        self.register_buffer("exponents", torch.arange(1, degree + 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.unsqueeze(-1) ** self.exponents


def main() -> None:
    torch.manual_seed(11)
    x = torch.linspace(0, 2, 300)
    target = torch.log1p(x)
    model = nn.Sequential(Powers(3), nn.Linear(3, 1), nn.Flatten(0, 1))
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    print(model)

    for step in range(901):
        loss = criterion(model(x), target)
        if step % 300 == 0:
            print(f"step {step:4d}   loss {loss.item():.5f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    print()
    for name, parameter in model.named_parameters():
        print(f"{name}: shape {tuple(parameter.shape)}, requires_grad {parameter.requires_grad}")
    at_one = model(torch.ones(1))
    print(f"the cubic at 1 is {at_one.item():.3f}, log 2 is 0.693")
    print(f"loss came from {loss.grad_fn.name()}, the model's output from {at_one.grad_fn.name()}")


if __name__ == "__main__":
    main()
