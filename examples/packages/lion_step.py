"""lion-pytorch: trains a small network by the signs of averaged gradients, and continues from a saved state."""

import io

import torch
from lion_pytorch import Lion
from torch import nn


def main() -> None:
    torch.manual_seed(3)
    x = torch.randn(64, 2)
    inside = (x.square().sum(1, keepdim=True) < 1).float()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = Lion(model.parameters(), lr=3e-3, weight_decay=1e-2, decoupled_weight_decay=True)
    for step in range(80):
        if step == 40:
            memory = io.BytesIO()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, memory)
            memory.seek(0)
            saved = torch.load(memory)
            model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
            model.load_state_dict(saved["model"])
            optimizer = Lion(model.parameters())
            optimizer.load_state_dict(saved["optimizer"])
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), inside)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:2d}   loss {loss.item():.6f}")
    right = ((model(x) > 0) == (inside > 0)).float().mean()
    print(f"{right.item():.4f} of the points are on the right side, loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
