"""A variational autoencoder learns to draw digits (Kingma and Welling, 2013).

The encoder gives each image a normal distribution over eight numbers. The decoder draws an image from a sample of this
distribution. The loss is the error of the drawing plus the distance of the distribution from the standard normal one.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SCANS = Path(__file__).parent / "data" / "digits.npz"
INK = " .:+#"


class VAE(nn.Module):
    """Encoder and decoder, each with one hidden layer."""

    def __init__(self, latent: int = 8) -> None:
        super().__init__()
        self.latent = latent
        self.hidden = nn.Linear(64, 128)
        self.mean, self.log_variance = nn.Linear(128, latent), nn.Linear(128, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = F.relu(self.hidden(x))
        return self.mean(hidden), self.log_variance(hidden)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encode(x.view(-1, 64))
        std = torch.exp(0.5 * log_variance)
        return self.decoder(mean + torch.randn_like(std) * std), mean, log_variance


def vae_loss(drawn: torch.Tensor, x: torch.Tensor, mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """The sum, over the batch, of the error of the drawing and of the Kullback-Leibler divergence."""
    error = F.binary_cross_entropy(drawn, x.view(-1, 64), reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return error + divergence


def train_step(model: VAE, optimizer: torch.optim.Optimizer, images: torch.Tensor) -> torch.Tensor:
    """One step on one batch. Returns the loss."""
    optimizer.zero_grad()
    loss = vae_loss(*_drawn(model, images))
    loss.backward()
    optimizer.step()
    return loss.detach()


def _drawn(model: VAE, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    drawn, mean, log_variance = model(images)
    return drawn, images, mean, log_variance


def load() -> torch.Tensor:
    """The scans as images of 8x8 numbers from 0 to 1."""
    with np.load(SCANS) as scans:
        return torch.from_numpy(scans["images"]).float() / 16


def show(images: torch.Tensor) -> None:
    """Print images of 8x8 numbers beside each other."""
    for rows in (images.view(-1, 8, 8) * (len(INK) - 0.01)).long().clamp(0, len(INK) - 1).transpose(0, 1).tolist():
        print("   ".join("".join(INK[shade] * 2 for shade in row) for row in rows).rstrip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()
    torch.manual_seed(0)
    images = load()
    loader = DataLoader(TensorDataset(images[:1500]), batch_size=100, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, options.epochs + 1):
        total = sum(train_step(model, optimizer, batch).item() for (batch,) in loader)
        if epoch % 3 == 0 or epoch == 1:
            with torch.no_grad():
                test = vae_loss(*_drawn(model, images[1500:])).item() / len(images[1500:])
            print(f"epoch {epoch:2d}: loss {total / 1500:.2f}, on the test scans {test:.2f}")
    print("\nscans, and how the decoder draws the means of their distributions:\n")
    with torch.no_grad():
        scans = images[1500:1505]
        show(scans)
        print()
        show(model.decoder(model.encode(scans.view(-1, 64))[0]))
        print("\ndrawings of random numbers:\n")
        show(model.decoder(torch.randn(5, model.latent)))


if __name__ == "__main__":
    main()
