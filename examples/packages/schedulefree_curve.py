"""schedulefree: trains a network without a schedule of rates, by averages that its optimizers switch in and out."""

import io

import schedulefree
import torch
from torch import nn


def main() -> None:
    torch.manual_seed(2)
    x = torch.linspace(-2, 2, 64)[:, None]
    target = torch.sin(2 * x) + 0.1 * torch.randn(64, 1)
    for kind, settings in (
        (schedulefree.AdamWScheduleFree, {"lr": 0.02, "warmup_steps": 5}),
        (schedulefree.AdamWScheduleFree, {"lr": 0.02, "weight_decay": 0.1, "foreach": False}),
        (schedulefree.RAdamScheduleFree, {"lr": 0.02}),
        (schedulefree.SGDScheduleFree, {"lr": 0.1, "momentum": 0.9}),
    ):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        optimizer = kind(model.parameters(), **settings)
        optimizer.train()
        for step in range(30):
            if step == 15:
                memory = io.BytesIO()
                torch.save(optimizer.state_dict(), memory)
                memory.seek(0)
                optimizer.load_state_dict(torch.load(memory))
            loss = nn.functional.mse_loss(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        optimizer.eval()
        average = nn.functional.mse_loss(model(x), target)
        print(f"{kind.__name__:18} loss {loss.item():.5f}, of the average {average.item():.5f}")


if __name__ == "__main__":
    main()
