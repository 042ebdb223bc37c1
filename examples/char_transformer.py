"""A small Transformer learns, letter by letter, how numbers are written in words.

The text counts from 0 to 999 in English. Each position sees only the letters before it: a mask hides the letters after
it. The model then continues a text of its own accord.
"""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

CONTEXT = 32
ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    """A number below 1000 in English."""
    if number < 20:
        return ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{ONES[hundreds]} hundred" + (f" and {in_words(rest)}" if rest else "")


TEXT = ", ".join(map(in_words, range(1000)))
LETTERS = sorted(set(TEXT))


class Positions(nn.Module):
    """Adds sines and cosines that tell the positions apart."""

    def __init__(self, width: int) -> None:
        super().__init__()
        position = torch.arange(CONTEXT).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        waves = torch.zeros(CONTEXT, width)
        waves[:, 0::2] = torch.sin(position * frequency)
        waves[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("waves", waves)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.waves[: x.size(1)]


class CharTransformer(nn.Module):
    """Embedding, positions, two layers of a Transformer, and a linear layer that scores each next letter."""

    def __init__(self, letters: int, width: int = 32) -> None:
        super().__init__()
        self.width = width
        self.embedding = nn.Embedding(letters, width)
        self.positions = Positions(width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=64, dropout=0.05, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.decoder = nn.Linear(width, letters)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(letters.size(1))
        x = self.positions(self.embedding(letters) * math.sqrt(self.width))
        return self.decoder(self.encoder(x, mask=mask, is_causal=True))


def batch(text: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random pieces of the text, and the same pieces one letter later."""
    starts = torch.randint(len(text) - CONTEXT - 1, (size,)).tolist()
    pieces = torch.stack([text[start : start + CONTEXT + 1] for start in starts])
    return pieces[:, :-1], pieces[:, 1:]


def train_step(
    model: CharTransformer, optimizer: torch.optim.Optimizer, letters: torch.Tensor, following: torch.Tensor
) -> torch.Tensor:
    """One step on one batch. Returns the loss."""
    loss = F.cross_entropy(model(letters).flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def continued(model: CharTransformer, start: str, count: int) -> str:
    """The text with the most likely letters added, one by one."""
    model.eval()
    letters = torch.tensor([[LETTERS.index(letter) for letter in start]])
    for _ in range(count):
        scores = model(letters[:, -CONTEXT:])[:, -1]
        letters = torch.cat((letters, scores.argmax(dim=1, keepdim=True)), dim=1)
    return "".join(LETTERS[number] for number in letters[0].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)  # in float32, rounding errors grow until they can be seen
    torch.manual_seed(0)
    text = torch.tensor([LETTERS.index(letter) for letter in TEXT])
    model = CharTransformer(len(LETTERS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=options.steps + 1)
    print(f"{len(text)} letters, {len(LETTERS)} different ones, {sum(p.numel() for p in model.parameters())} weights")
    for step in range(options.steps + 1):
        loss = train_step(model, optimizer, *batch(text, 16)).item()
        if step % 50 == 0:
            print(f"step {step:3d}: loss {loss:.3f}, rate {schedule.get_last_lr()[0]:.4f}")
        schedule.step()
    print(continued(model, "six hundred and twenty-three, ", 60))


if __name__ == "__main__":
    main()
