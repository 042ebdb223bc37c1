"""torchcrf: a recurrent network learns tags of sequences, with a conditional random field as its last layer."""

import torch
from torch import nn
from torchcrf import CRF


class Tagger(nn.Module):
    """Words to tags: an embedding, a GRU in both directions, and the field."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.read = nn.Embedding(12, 8), nn.GRU(8, 6, bidirectional=True, batch_first=True)
        self.scores, self.field = nn.Linear(12, 4), CRF(4, batch_first=True)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.scores(self.read(self.words(words))[0])


def main() -> None:
    torch.manual_seed(1)
    words = torch.randint(12, (10, 9))
    tags = (words + words.roll(1, 1)) % 4
    mask = torch.arange(9) < torch.randint(3, 10, (10, 1))
    tagger = Tagger()
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=0.05)
    for step in range(31):
        loss = -tagger.field(tagger(words), tags, mask, reduction="token_mean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}   loss {loss.item():.5f}")
    found = tagger.field.decode(tagger(words), mask)
    right = sum(a == b for row, each in zip(tags.tolist(), found, strict=True) for a, b in zip(row, each, strict=False))
    print(f"{right} of {int(mask.sum())} tags are right; the first sequence: {found[0]}")
    likelihoods = tagger.field(tagger(words), tags, mask, reduction="none")
    print("likelihoods", [f"{value:.4f}" for value in likelihoods[:4].tolist()])


if __name__ == "__main__":
    main()
