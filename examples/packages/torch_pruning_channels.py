"""torch-pruning: removes channels of a network with all that depends on them, and trains what is left."""

import torch
import torch_pruning
from torch import nn


class Block(nn.Module):
    """Two convolutions beside a connection that skips them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.normal = nn.BatchNorm2d(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both ways."""
        return torch.relu(x + self.normal(self.second(torch.relu(self.first(x)))))


def main() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(1, 8, 3), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
    x, labels = torch.randn(16, 1, 8, 8), torch.randint(3, (16,))
    for name in ("MagnitudeImportance", "TaylorImportance", "BNScaleImportance"):
        print(name, torch_pruning.utils.count_ops_and_params(network, x[:1]))
        nn.functional.cross_entropy(network(x), labels).backward()
        pruner = torch_pruning.pruner.BasePruner(
            network, x[:1], getattr(torch_pruning.importance, name)(), pruning_ratio=0.3, ignored_layers=[network[4]])
        pruner.step()
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
        for _ in range(5):
            loss = nn.functional.cross_entropy(network(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"channels {network[0].out_channels}, inside {network[1].first.out_channels}, loss {loss.item():.5f}")
    print(network)


if __name__ == "__main__":
    main()
