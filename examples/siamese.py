"""A siamese network learns when two scans show the same digit, from triplets.

One network maps three scans to points: an anchor, another scan of the same digit, and a scan of another digit. The loss
pulls the first two together and pushes the third away. The network learns from seven digits alone, and is then tried on
three digits that it has never seen.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SCANS = Path(__file__).parent / "data" / "digits.npz"
SEEN = 7  # the digits from 0 to 6 are for training


class Encoder(nn.Module):
    """Maps a scan to a point on the unit sphere of 16 dimensions."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.PReLU(), nn.AvgPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.PReLU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.last = nn.Linear(32 * 4, 16)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return F.normalize(self.last(self.convolutions(images).flatten(1)))


class Triplets(nn.Module):
    """The same encoder for all three scans, and the loss of the three points."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.loss = nn.TripletMarginLoss(margin=0.5)

    def forward(self, anchor: torch.Tensor, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
        return self.loss(self.encoder(anchor), self.encoder(positive), self.encoder(negative))


def load() -> tuple[torch.Tensor, torch.Tensor]:
    """Images with one channel of 8x8 numbers from 0 to 1, and the digit of each image."""
    with np.load(SCANS) as scans:
        images, digits = scans["images"], scans["labels"]
    return torch.from_numpy(images).to(torch.get_default_dtype()).div(16).unsqueeze(1), torch.from_numpy(digits).long()


def triplets(digits: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random places of scans: anchors, scans of the same digit, and scans of other digits."""
    anchors = torch.randint(len(digits), (count,))
    same = digits[anchors].unsqueeze(1) == digits
    return anchors, torch.multinomial(same.float(), 1).squeeze(1), torch.multinomial((~same).float(), 1).squeeze(1)


def train_step(
    model: Triplets,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    places: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """One step on the scans at some places. Returns the loss."""
    optimizer.zero_grad(set_to_none=True)
    loss = model(*(images[place] for place in places))
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def neighbors(encoder: Encoder, images: torch.Tensor, digits: torch.Tensor) -> float:
    """The share of scans whose nearest other scan shows the same digit."""
    points = encoder(images)
    distances = torch.cdist(points, points)
    distances.fill_diagonal_(float("inf"))
    return (digits[distances.argmin(dim=1)] == digits).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)  # points nearly coincide at first: float32 tells too little of distances
    torch.manual_seed(0)
    images, digits = load()
    seen = digits < SEEN
    model = Triplets()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
    for step in range(options.steps + 1):
        loss = train_step(model, optimizer, images[seen], triplets(digits[seen], 32))
        if step % 20 == 0:
            old = neighbors(model.encoder, images[seen], digits[seen])
            new = neighbors(model.encoder, images[~seen], digits[~seen])
            print(f"step {step:3d}: loss {loss.item():.3f}, neighbors alike: {old:.1%} of 0 to 6, {new:.1%} of 7 to 9")
    with torch.no_grad():
        pairs = model.encoder(images[~seen][:6])
        print("digits ", digits[~seen][:6].tolist())
        print("cosines", F.cosine_similarity(pairs[:1], pairs))


if __name__ == "__main__":
    main()
