"""An LSTM learns waves, and goes on with waves that it has not seen.

In training, the network says at each moment what comes next. To forecast, the network reads its own words as the next
moment.
"""

import argparse

import torch
from torch import nn

LENGTH, FUTURE = 60, 20


def waves(count: int, length: int) -> torch.Tensor:
    """Sines with random phases and periods, one in each row."""
    time = torch.arange(float(length))
    phases, periods = 20 * torch.rand(count, 1), 12 + 8 * torch.rand(count, 1)
    return torch.sin((time + phases) * (6.2831853 / periods))


class Forecaster(nn.Module):
    """An LSTM and a linear layer. The state of the LSTM goes on from call to call."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.rnn = nn.LSTM(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(
        self, series: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        output, state = self.rnn(series.unsqueeze(-1), state)
        return self.head(output).squeeze(-1), state

    @torch.no_grad()
    def forecast(self, series: torch.Tensor, steps: int) -> torch.Tensor:
        """The steps that follow the series."""
        output, state = self(series)
        latest, found = output[:, -1:], []
        for _ in range(steps):
            found.append(latest)
            latest, state = self(latest, state)
        return torch.cat(found, dim=1)


def train_step(model: Forecaster, optimizer: torch.optim.Optimizer, series: torch.Tensor) -> torch.Tensor:
    """One step on whole series. Returns the mean square of the errors."""
    optimizer.zero_grad()
    output, _ = model(series[:, :-1])
    loss = nn.functional.mse_loss(output, series[:, 1:])
    loss.backward()
    optimizer.step()
    return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    torch.manual_seed(0)
    training, test = waves(200, LENGTH), waves(8, LENGTH + FUTURE)
    model = Forecaster()
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps, eta_min=1e-3)
    for step in range(1, options.steps + 1):
        rows = torch.randperm(len(training))[:20]
        loss = train_step(model, optimizer, training[rows])
        schedule.step()
        if step == 1 or step % 50 == 0:
            error = (model.forecast(test[:, :LENGTH], FUTURE) - test[:, LENGTH:]).square().mean().sqrt().item()
            print(f"step {step:3d}: loss {loss.item():.4f}, error of the forecast {error:.3f}")
    print("forecast:", *(f"{value:.2f}" for value in model.forecast(test[:1, :LENGTH], FUTURE)[0].tolist()))
    print("true:    ", *(f"{value:.2f}" for value in test[0, LENGTH:].tolist()))


if __name__ == "__main__":
    main()
