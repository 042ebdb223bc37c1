"""pytorch-warmup: warms up the learning rate of Adam by several rules, below a schedule of cosines."""

import pytorch_warmup
import torch
from torch import nn


def main() -> None:
    for kind, settings in (
        (pytorch_warmup.LinearWarmup, {"warmup_period": 8}),
        (pytorch_warmup.ExponentialWarmup, {"warmup_period": 4}),
        (pytorch_warmup.UntunedLinearWarmup, {}),
        (pytorch_warmup.RAdamWarmup, {}),
    ):
        torch.manual_seed(7)
        model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
        x = torch.randn(32, 3)
        target = x.norm(dim=1, keepdim=True)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
        warmup = kind(optimizer, **settings)
        rates = []
        for _ in range(30):
            loss = nn.functional.mse_loss(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.append(optimizer.param_groups[0]["lr"])
            with warmup.dampening():
                schedule.step()
        print(f"{kind.__name__:20} loss {loss.item():.6f}, rates {rates[1]:.6f} {rates[5]:.6f} {rates[-1]:.6f}")


if __name__ == "__main__":
    main()
