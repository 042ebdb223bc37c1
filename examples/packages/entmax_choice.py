"""entmax: trains a classifier with the sparse losses of the package, and shows sparse probabilities."""

import torch
from entmax import (
    Entmax15Loss,
    EntmaxBisectLoss,
    SparsemaxLoss,
    budget_bisect,
    entmax15,
    entmax_bisect,
    normmax_bisect,
    sparsemax,
)
from torch import nn


def main() -> None:
    torch.manual_seed(6)
    scores = torch.tensor([[2.0, 1.2, 0.3, -1.0]], requires_grad=True)
    for name, function in (
        ("softmax", torch.softmax),
        ("entmax15", entmax15),
        ("sparsemax", sparsemax),
        ("bisect 1.25", lambda x, dim: entmax_bisect(x, 1.25, dim)),
        ("normmax", lambda x, dim: normmax_bisect(x, 2, dim)),
        ("budget", lambda x, dim: budget_bisect(x, budget=2, dim=dim)),
    ):
        chances = function(scores, dim=-1)
        (slopes,) = torch.autograd.grad(chances[0, 0], scores)
        print(f"{name:12}", [round(value, 4) for value in chances[0].tolist() + slopes[0].tolist()])
    alpha = torch.tensor([1.3], requires_grad=True)
    entmax_bisect(scores.detach(), alpha).square().sum().backward()
    print(f"slope by alpha: {alpha.grad.item():.5f}")

    x = torch.randn(60, 6)
    y = x[:, :4].argmax(1)
    for loss_of in (nn.CrossEntropyLoss(), Entmax15Loss(), SparsemaxLoss(), EntmaxBisectLoss(alpha=1.2)):
        model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(40):
            loss = loss_of(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        zeros = (entmax15(model(x), dim=-1) == 0).double().mean().item()
        print(f"{type(loss_of).__name__:18} loss {loss.item():.5f}, {zeros:.3f} of the chances are zero")


if __name__ == "__main__":
    main()
