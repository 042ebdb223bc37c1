"""madgrad: trains an embedding and a classifier with momentum, and the mirror variant beside it."""

import torch
from madgrad import MADGRAD, MirrorMADGRAD
from torch import nn


def main() -> None:
    for kind in (MADGRAD, MirrorMADGRAD):
        torch.manual_seed(2)
        words = torch.randint(20, (40, 5))
        labels = (words.sum(1) % 3 == 0).long()
        model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(40, 2))
        optimizer = kind(model.parameters(), lr=5e-3, momentum=0.9, weight_decay=1e-4)
        for step in range(31):
            loss = nn.functional.cross_entropy(model(words), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"{kind.__name__}: step {step:2d}   loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
