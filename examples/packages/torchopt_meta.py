"""torchopt: gradients through steps of an optimizer, and implicit gradients of an inner minimum."""

import torch
import torchopt
from torch import nn


def inner_loss(parameters: tuple[torch.Tensor, ...], meta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A least squares loss with a penalty, whose weight is what is learned outside."""
    return ((x @ parameters[0] - x[:, :1]).square().mean() + meta.exp() * parameters[0].square().sum())


@torchopt.diff.implicit.custom_root(
    torch.func.grad(inner_loss, argnums=0), argnums=1, solve=torchopt.linear_solve.solve_normal_cg())
def solved(parameters: tuple[torch.Tensor, ...], meta: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The inner minimum, by many steps."""
    optimizer = torchopt.FuncOptimizer(torchopt.sgd(lr=0.2))
    for _ in range(60):
        with torch.enable_grad():
            leaves = tuple(p.detach().requires_grad_() for p in parameters)
            parameters = optimizer.step(inner_loss(leaves, meta.detach(), x), leaves)
    return tuple(p.detach() for p in parameters)


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(20, 3)
    network = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    for kind in (torchopt.Adam, torchopt.AdamW, torchopt.RMSProp, torchopt.SGD):
        optimizer, losses = kind(network.parameters(), lr=0.01), []
        for _ in range(5):
            loss = (network(x) - x[:, :1]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(f"{loss.item():.5f}")
        print(f"{kind.__name__:8} losses {' '.join(losses)}")

    rate = torch.tensor(1.0, requires_grad=True)
    inner = torchopt.MetaSGD(network, lr=0.05)
    start = torchopt.extract_state_dict(network, by="reference", with_buffers=True)
    for _ in range(3):
        inner.step(rate * (network(x) - x[:, :1]).square().mean() + (1 - rate).square())
    outer = (network(x) - x[:, 1:2]).square().mean()
    print(f"through three steps: {outer.item():.5f}, slope {torch.autograd.grad(outer, rate)[0].item():.6f}")
    torchopt.recover_state_dict(network, start)

    meta = torch.tensor(-1.0, requires_grad=True)
    (weights,) = solved((torch.zeros(3, 1),), meta, x)
    weights.square().sum().backward()
    print(f"implicit: {[round(w, 4) for w in weights.flatten().tolist()]}, slope {meta.grad.item():.5f}")


if __name__ == "__main__":
    main()
