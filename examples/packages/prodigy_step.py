"""prodigyopt: Adam that finds its own step size, below a schedule of cosines."""

import torch
from prodigyopt import Prodigy
from torch import nn


def main() -> None:
    torch.manual_seed(4)
    x = torch.randn(48, 3)
    inside = (x.square().sum(1) < 2).long()
    for settings in (
        {},
        {"weight_decay": 0.1, "decouple": False},
        {"use_bias_correction": True, "safeguard_warmup": True},
        {"slice_p": 3},
        {"beta3": 0.9, "d_coef": 2.0, "growth_rate": 1.5},
    ):
        torch.manual_seed(5)
        model = nn.Sequential(nn.Linear(3, 12), nn.GELU(), nn.Linear(12, 2))
        optimizer = Prodigy(model.parameters(), **settings)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=40)
        for _ in range(40):
            loss = nn.functional.cross_entropy(model(x), inside)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"loss {loss.item():.4f}, step size {optimizer.param_groups[0]['d']:.4e} with {settings}")


if __name__ == "__main__":
    main()
