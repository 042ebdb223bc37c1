"""Teaches a small network to read handwritten digits, then shows the parts of a training step.

The program keeps a quarter of the 1,797 scans for the test. It writes loss.png into the current directory. The exit
status is 0 if the network reads at least 97 % of the test digits correctly.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.autograd import profiler

SCANS = Path(__file__).parent / "data" / "digits.npz"
BATCH = 32
NOISE = 0.15
GOAL = 0.97


def load() -> tuple[torch.Tensor, torch.Tensor]:
    """The scans as rows of 64 numbers from 0 to 1, and the digit of each row."""
    with np.load(SCANS) as scans:
        pixels, labels = scans["images"].reshape(-1, 64), scans["labels"]
    return torch.from_numpy(pixels.astype("float32") / 16), torch.from_numpy(labels.astype("int64"))


class Reader(nn.Module):
    """Two layers. Dropout keeps the first layer from learning the training scans by heart."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 10))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.layers(pixels)


class Progress:
    """Shows the progress: on a terminal in one line that changes, elsewhere in a new line every few epochs."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.live = sys.stdout.isatty()

    def show(self, epoch: int, loss: float, accuracy: float) -> None:
        line = f"epoch {epoch:2d} of {self.epochs}   loss {loss:.4f}   held-out accuracy {accuracy:6.2%}"
        if self.live:
            print("\r" + line, end="\n" if epoch == self.epochs else "", flush=True)
        elif epoch == 1 or epoch % 5 == 0 or epoch == self.epochs:
            print(line, flush=True)


@torch.no_grad()
def accuracy(model: nn.Module, pixels: torch.Tensor, digits: torch.Tensor) -> float:
    model.eval()
    right = (model(pixels).argmax(dim=1) == digits).float().mean().item()
    model.train()
    return right


def train_epoch(
    model: nn.Module, optimizer: torch.optim.Optimizer, pixels: torch.Tensor, digits: torch.Tensor
) -> float:
    """Goes through the scans once, in random order, and returns the mean loss."""
    order, total = torch.randperm(len(pixels)), 0.0
    pixels = pixels + NOISE * torch.randn(pixels.shape)  # every epoch sees slightly different scans
    for batch in order.split(BATCH):
        loss = nn.functional.cross_entropy(model(pixels[batch]), digits[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    for group in optimizer.param_groups:
        group["lr"] *= 0.93  # the steps become smaller near the minimum
    return total / len(pixels)


def graph(loss: torch.Tensor, model: nn.Module) -> str:
    """The nodes that computed the loss. Each node is indented below the node that uses its result."""
    viz = getattr(torch, "viz", None)
    if viz is not None:  # this torch draws its graphs itself
        return str(viz.tree(loss, model.named_parameters()))
    names = {parameter: name for name, parameter in model.named_parameters()}
    lines, stack = [], [(loss.grad_fn, 0)]
    while stack:
        node, depth = stack.pop()
        name = f" {names[node.variable]}" if hasattr(node, "variable") else ""
        lines.append("  " * depth + type(node).__name__ + name)
        stack.extend((below, depth + 1) for below, _ in reversed(node.next_functions) if below is not None)
    return "\n".join(lines)


def show_one_step(model: nn.Module, pixels: torch.Tensor, digits: torch.Tensor) -> None:
    """Shows the gradient graph of one batch's loss, and how long each part of the step takes."""
    with profiler.profile() as profile:
        loss = nn.functional.cross_entropy(model(pixels[:BATCH]), digits[:BATCH])
        loss.backward()
    print("\nWhat the loss was made by:\n")
    # The profiled pass has freed its graph, so this draws the graph of another pass.
    print(graph(nn.functional.cross_entropy(model(pixels[:BATCH]), digits[:BATCH]), model))
    print("\nWhere the time of one step goes:\n")
    print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=12))


def draw(losses: list[float], accuracies: list[float], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")  # draws into a file, without a screen
    from matplotlib import pyplot as plt

    epochs = range(1, len(losses) + 1)
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")
    above.semilogy(epochs, losses, color="tab:blue")
    above.set(ylabel="training loss (cross entropy)", title="Learning to read digits")
    below.plot(epochs, [100 * value for value in accuracies], color="tab:green")
    below.axhline(100 * GOAL, color="grey", linestyle=":", label=f"goal, {GOAL:.0%}")
    below.set(xlabel="epoch", ylabel="held-out accuracy (%)", ylim=(80, 100.5))
    below.legend(loc="lower right")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=40, metavar="N")
    epochs = parser.parse_args().epochs
    torch.manual_seed(8)
    pixels, digits = load()
    order = torch.randperm(len(pixels))
    held_out, training = order.tensor_split([len(order) // 4])
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    print(f"{len(training)} scans to learn from, {len(held_out)} held out")

    progress, losses, accuracies, start = Progress(epochs), [], [], time.perf_counter()
    for epoch in range(1, epochs + 1):
        losses.append(train_epoch(model, optimizer, pixels[training], digits[training]))
        accuracies.append(accuracy(model, pixels[held_out], digits[held_out]))
        progress.show(epoch, losses[-1], accuracies[-1])
    print(f"trained in {time.perf_counter() - start:.1f} seconds")

    show_one_step(model, pixels[training], digits[training])
    file = Path.cwd() / "loss.png"
    try:
        draw(losses, accuracies, file)
        print(f"\nThe loss and the accuracy over time are drawn in {file}")
    except ModuleNotFoundError as error:
        print(f"\nThe loss and the accuracy are not drawn, since there is no {error.name}: pip install matplotlib")
    return 0 if accuracies[-1] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
