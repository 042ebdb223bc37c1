"""One training step of a small network in slow motion: what changes the weights, and what changes the gradients."""

from collections.abc import Callable

import torch
from torch import nn

BATCH = 16


class Funnel(nn.Module):
    """A network from 1000 numbers to 10 numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(1000, 100)
        self.narrow = nn.Linear(100, 10)
        self.bend = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.narrow(self.bend(self.wide(x)))


Loss = Callable[[], torch.Tensor]


def one_step(weight: torch.Tensor, loss: Loss, optimizer: torch.optim.SGD) -> None:
    """Shows what a backward pass and a step change, and what they do not change."""
    print("a few weights:   ", weight[2][10:16])
    print("their gradients: ", weight.grad)

    before = loss()
    print("loss:            ", before)
    before.backward()
    first = weight.grad.clone()
    print("after backward():", weight[2][10:16])
    print("their gradients: ", weight.grad[2][10:16])

    old = weight.detach().clone()
    optimizer.step()
    print("after step():    ", weight[2][10:16])
    print("step is -lr * gradient:", torch.allclose(weight - old, -0.001 * first, atol=1e-7))
    print(f"loss went from {before.item():.2f} to {loss().item():.2f}")


def accumulation(weight: torch.Tensor, loss: Loss, optimizer: torch.optim.SGD) -> None:
    """Shows that gradients add up until the program clears them."""
    optimizer.zero_grad(set_to_none=False)
    print("zeroed:          ", weight.grad[2][10:16])
    loss().backward()
    once = weight.grad.clone()
    for _ in range(3):
        loss().backward()
    ratio = (weight.grad.norm() / once.norm()).item()
    print(f"four backward passes without zeroing: {ratio:.3f} times the gradient of one")
    optimizer.zero_grad()
    print("set to none:     ", weight.grad)


def main() -> None:
    torch.manual_seed(42)
    model = Funnel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    inputs, wanted = torch.randn(BATCH, 1000), torch.randn(BATCH, 10)

    def loss() -> torch.Tensor:
        return (wanted - model(inputs)).pow(2).sum()

    one_step(model.narrow.weight, loss, optimizer)
    accumulation(model.narrow.weight, loss, optimizer)
    for step in range(30):
        optimizer.zero_grad()
        current = loss()
        current.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"{step + 1} more steps: loss {current.item():.3f}")


if __name__ == "__main__":
    main()
