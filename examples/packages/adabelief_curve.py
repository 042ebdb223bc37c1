"""adabelief-pytorch: fits a curve with and without rectified steps, with weight decay and amsgrad."""

import torch
from adabelief_pytorch import AdaBelief
from torch import nn


def main() -> None:
    for settings in ({}, {"rectify": False}, {"amsgrad": True}, {"weight_decay": 0.1, "weight_decouple": False}):
        torch.manual_seed(4)
        x = torch.linspace(-2, 2, 50)[:, None]
        model = nn.Sequential(nn.Linear(1, 12), nn.SiLU(), nn.Linear(12, 1))
        optimizer = AdaBelief(model.parameters(), lr=0.02, eps=1e-12, print_change_log=False, **settings)
        for _ in range(60):
            loss = nn.functional.mse_loss(model(x), torch.sin(2 * x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(settings, f"loss {loss.item():.6f}, at one {model(torch.ones(1, 1)).item():.5f}")


if __name__ == "__main__":
    main()
