"""torch_optimizer: walks down Rosenbrock's valley and trains a small network with each optimizer of the package."""

import torch
import torch_optimizer
from torch import nn

NAMES = """
    A2GradExp A2GradInc A2GradUni AccSGD AdaBelief AdaBound AdaMod Adahessian Adafactor AdamP AggMo Apollo DiffGrad
    LARS Lamb MADGRAD NovoGrad PID QHAdam QHM RAdam Ranger RangerQH RangerVA SGDP SGDW SWATS Shampoo Yogi
"""


def valley(point: torch.Tensor) -> torch.Tensor:
    """Rosenbrock's function of two numbers."""
    x, y = point
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def main() -> None:
    for name in NAMES.split():
        kind = getattr(torch_optimizer, name)
        settings = {"lips": 10} if name.startswith("A2Grad") else {"lr": 1e-3}
        if name == "Shampoo":
            settings["epsilon"] = 1.0
        point = torch.tensor([-1.5, 1.0], requires_grad=True)
        torch.manual_seed(3)
        optimizer = kind([point], **settings)
        for _ in range(12):
            optimizer.zero_grad()
            valley(point).backward(create_graph=name == "Adahessian")
            optimizer.step()

        torch.manual_seed(5)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        x = torch.randn(20, 4)
        target = x.prod(1, keepdim=True)
        optimizer = torch_optimizer.Lookahead(kind(model.parameters(), **settings), k=3)
        for _ in range(8):
            loss = nn.functional.mse_loss(model(x), target)
            optimizer.zero_grad()
            loss.backward(create_graph=name == "Adahessian")
            optimizer.step()
        print(f"{name:10} ({point[0].item():.5f}, {point[1].item():.5f})   loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
