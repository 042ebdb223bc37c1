"""A convolutional network learns to read handwritten digits, the way most image classifiers are trained.

The program shows a data set of one's own, transformations of images, data loaders, a schedule of the learning rate, and
weights that are saved and loaded.
"""

import argparse
import io
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

SCANS = Path(__file__).parent / "data" / "digits.npz"


class Digits(Dataset):
    """Scans of one channel and 8x8 numbers from -1 to 1, each with its digit."""

    def __init__(self) -> None:
        with np.load(SCANS) as scans:
            self.images, self.digits = scans["images"], scans["labels"]

    def __len__(self) -> int:
        return len(self.digits)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        image = torch.from_numpy(self.images[index]).float().div(8).sub(1)
        return image.unsqueeze(0), int(self.digits[index])


class Classifier(nn.Module):
    """Two convolutions, pooling, and two linear layers with dropout. The output is a logarithm for each digit."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.dropout1, self.dropout2 = nn.Dropout(0.1), nn.Dropout(0.2)
        self.fc1, self.fc2 = nn.Linear(32 * 3 * 3, 64), nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv1(images))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout1(torch.flatten(x, 1))
        return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(x)))), dim=1)


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, digits: torch.Tensor
) -> torch.Tensor:
    """One step on one batch. Returns the loss."""
    optimizer.zero_grad()
    loss = F.nll_loss(model(images), digits)
    loss.backward()
    optimizer.step()
    return loss.detach()


def test(model: nn.Module, loader: DataLoader) -> tuple[float, float]:
    """The mean loss and the share of scans that are read correctly."""
    model.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for images, digits in loader:
            output = model(images)
            loss += F.nll_loss(output, digits, reduction="sum").item()
            right += output.argmax(dim=1, keepdim=True).eq(digits.view_as(output[:, :1])).sum().item()
            count += len(digits)
    model.train()
    return loss / count, right / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(1)
    training, held_out = random_split(Digits(), [1400, 397])
    train_loader = DataLoader(training, batch_size=64, shuffle=True, drop_last=True)
    test_loader = DataLoader(held_out, batch_size=200)

    model = Classifier()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    print(model)
    for epoch in range(1, options.epochs + 1):
        losses = [train_step(model, optimizer, images, digits).item() for images, digits in train_loader]
        loss, right = test(model, test_loader)
        rate = schedule.get_last_lr()[0]
        print(
            f"epoch {epoch}: rate {rate:.2f}, training loss {sum(losses) / len(losses):.3f},"
            f" test loss {loss:.3f}, {right:.1%} right"
        )
        schedule.step()

    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    copy = Classifier()
    print(copy.load_state_dict(torch.load(file, weights_only=True)))
    print("the copy reads", "the same" if test(copy, test_loader) == test(model, test_loader) else "something else")


if __name__ == "__main__":
    main()
