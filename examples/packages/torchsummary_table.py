"""torchsummary: writes the table of a small convolutional network."""

import torch
from torch import nn
from torchsummary import summary


class Network(nn.Module):
    """Two branches of one picture, added."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU())
        self.right = nn.Conv2d(1, 6, 5, padding=2)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.decision = nn.Linear(24, 3)

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        return self.decision(self.pool(self.left(picture) + self.right(picture)).flatten(1))


def main() -> None:
    summary(Network(), input_size=(1, 14, 14), batch_size=8, device="cpu")


if __name__ == "__main__":
    main()
