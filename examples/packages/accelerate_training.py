"""accelerate: trains a small network through an accelerator, which accumulates and clips gradients and keeps states."""

import tempfile

import torch
from accelerate import Accelerator, init_empty_weights
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    set_seed(0)
    x = torch.rand(96, 2) * 2 - 1
    data = DataLoader(TensorDataset(x, torch.sin(3 * x[:, :1]) * x[:, 1:]), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    print(accelerator.state)
    model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)

    for epoch in range(5):
        for inputs, targets in data:
            with accelerator.accumulate(model):
                loss = nn.functional.mse_loss(model(inputs), targets)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}   loss {accelerator.gather(loss).item():.6f}, rate {schedule.get_last_lr()[0]:.6f}")

    with tempfile.TemporaryDirectory() as folder:
        before = nn.functional.mse_loss(model(x), x[:, :1]).item()
        accelerator.save_state(folder)
        nn.init.zeros_(accelerator.unwrap_model(model)[0].weight)
        accelerator.load_state(folder)
        print(f"loaded: {nn.functional.mse_loss(model(x), x[:, :1]).item() == before}, loss {before:.6f}")
    with init_empty_weights():
        empty = nn.Linear(10_000, 10_000)
    print(f"without memory: {empty.weight.device}, {tuple(empty.weight.shape)}")


if __name__ == "__main__":
    main()
