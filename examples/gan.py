"""A generative adversarial network learns a distribution of points (Goodfellow and others, 2014).

The points lie near a ring. The discriminator learns to tell points of the ring from points that the generator makes.
The generator learns to make points that the discriminator takes for points of the ring.
"""

import argparse
import math

import torch
from torch import nn

BATCH = 64
NOISE = 4


class Generator(nn.Module):
    """Makes points from noise. Batch norm keeps the points from falling together."""

    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(NOISE, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 2),
        )  # fmt: skip

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        return self.main(noise)


class Discriminator(nn.Module):
    """A number for each point: large if the point looks as if it came from the ring."""

    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
        )

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        return self.main(points).squeeze(1)


def initialize(module: nn.Module) -> None:
    """Start the weights from a normal distribution."""
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0.0, 0.15)
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.BatchNorm1d):
        nn.init.normal_(module.weight, 1.0, 0.02)
        nn.init.zeros_(module.bias)


def ring(count: int) -> torch.Tensor:
    """Points whose distance from the center is near 2."""
    angles = 2 * math.pi * torch.rand(count)
    return 2 * torch.stack((angles.cos(), angles.sin()), dim=1) + 0.1 * torch.randn(count, 2)


class Game:
    """The two networks, and an optimizer for each."""

    def __init__(self) -> None:
        self.generator, self.discriminator = Generator().apply(initialize), Discriminator().apply(initialize)
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer_g = torch.optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))

    def step(self) -> tuple[torch.Tensor, torch.Tensor]:
        """One step of the discriminator and one step of the generator. Returns both losses."""
        real, made = torch.ones(BATCH), torch.zeros(BATCH)
        self.optimizer_d.zero_grad()
        loss_real = self.criterion(self.discriminator(ring(BATCH)), real)
        loss_real.backward()
        points = self.generator(torch.randn(BATCH, NOISE))
        loss_made = self.criterion(self.discriminator(points.detach()), made)
        loss_made.backward()
        self.optimizer_d.step()

        self.optimizer_g.zero_grad()
        loss = self.criterion(self.discriminator(points), real)
        loss.backward()
        self.optimizer_g.step()
        return (loss_real + loss_made).detach(), loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.manual_seed(3)
    game = Game()
    noise = torch.randn(500, NOISE)
    for step in range(options.steps + 1):
        loss_d, loss_g = game.step()
        if step % 100 == 0:
            game.generator.eval()
            with torch.no_grad():
                distances = game.generator(noise).norm(dim=1)
            game.generator.train()
            print(
                f"step {step:3d}: discriminator {loss_d.item():.2f}, generator {loss_g.item():.2f},"
                f" distance from the center {distances.mean().item():.2f} +- {distances.std().item():.2f}"
            )


if __name__ == "__main__":
    main()
