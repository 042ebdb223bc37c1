"""A small convolutional network learns to read handwritten digits: convolution, batch norm, pooling, dropout.

After each epoch the program prints the share of the test digits that the network reads correctly.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SCANS = Path(__file__).parent / "data" / "digits.npz"
BATCH = 64


class Reader(nn.Module):
    """Two convolutions, each followed by pooling that halves the image, and a linear layer on the result."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.last = nn.Linear(32 * 2 * 2, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.first(images))), 2)
        x = F.avg_pool2d(F.hardswish(self.second(x)), 2)
        return self.last(F.dropout(x.flatten(1), 0.1, self.training))


def load() -> tuple[torch.Tensor, torch.Tensor]:
    """Images with one channel of 8x8 numbers from 0 to 1, and the digit of each image."""
    with np.load(SCANS) as scans:
        images, digits = scans["images"], scans["labels"]
    return torch.from_numpy(images.astype("float32") / 16).view(-1, 1, 8, 8), torch.from_numpy(digits.astype("int64"))


def train(model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, digits: torch.Tensor) -> float:
    """Goes through the scans once, in random order, and returns the mean loss."""
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).split(BATCH):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[batch]), digits[batch], label_smoothing=0.05)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    images, digits = load()
    held_out = torch.arange(len(images)) % 4 == 0
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    print(sum(p.numel() for p in model.parameters()), "weights")
    for epoch in range(1, options.epochs + 1):
        loss = train(model, optimizer, images[~held_out], digits[~held_out])
        model.eval()
        with torch.no_grad():
            right = (model(images[held_out]).argmax(1) == digits[held_out]).float().mean().item()
        print(f"epoch {epoch}: loss {loss:.2f}, {right:.1%} of the held-out scans read right")


if __name__ == "__main__":
    main()
