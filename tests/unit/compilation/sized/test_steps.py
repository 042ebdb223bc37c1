"""Training steps and backward passes of models with one plan for all sizes (`dynamic=True`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, check, normal, noted_traces
from compiled.steps import losses_of

F = torch.nn.functional


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes of the calls that were traced."""
    return noted_traces(monkeypatch)


def training(steps: str, loss: Callable[..., Any]) -> Callable[[Callable[..., Any]], tuple[Any, Any]]:
    """A model, and its step after a change such as compiling."""
    def make(change: Callable[..., Any]) -> tuple[Any, Any]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 6, bias=False), torch.nn.BatchNorm1d(6), torch.nn.ReLU(),
                                    torch.nn.Dropout(0.2), torch.nn.Linear(6, 3))
        optimizer = getattr(torch.optim, steps)(model.parameters(), lr=0.01)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            found = loss(model(x), y)
            found.backward()
            optimizer.step()
            return found.detach(), model[0].weight.grad

        return model, change(step)
    return make


@pytest.mark.sampled(4)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop"])
@pytest.mark.parametrize("loss", ["mse", "entropy"])
@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_training_step(optimizer: str, loss: str, backend: str, traces: list[Any]) -> None:
    compare = F.mse_loss if loss == "mse" else lambda out, y: F.cross_entropy(out, y[:, 0].abs().long().clamp(0, 2))
    make = training(optimizer, compare)
    plain, step = make(lambda function: function)
    model, made = make(lambda function: torch.compile(function, dynamic=True, backend=backend))
    for size in (8, 8, 12, 30, 5, 64, 8, 200, 3, 12):
        x, y, streams = normal(size, 4), normal(size, 3), []
        for function, seen in ((step, streams), (made, streams)):
            torch.manual_seed(size)
            seen.append((function(x, y), torch.rand(1).item()))
        assert streams[0][1] == streams[1][1]               # both have drawn as many numbers
        for one, other in zip(streams[0][0], streams[1][0], strict=True):
            check(one, other, backend == "numpy")
    for one, other in zip(plain.state_dict().values(), model.state_dict().values(), strict=True):
        check(one, other, backend == "numpy")
    assert len(traces) == (2 if optimizer == "SGD" else 3) + (optimizer == "SGD")


class Attention(torch.nn.Module):
    """Attention written by hand, with the sizes of its argument."""

    def __init__(self) -> None:
        super().__init__()
        self.given, self.out, self.norm = torch.nn.Linear(8, 24), torch.nn.Linear(8, 3), torch.nn.LayerNorm(8)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.given(self.norm(x)).view(batch, length, 3, 2, 4).permute(2, 0, 3, 1, 4)
        found = (q @ k.transpose(-2, -1) / 2).softmax(-1) @ v
        return self.out(found.transpose(1, 2).reshape(batch, length, width)).mean(1)


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.out = torch.nn.LSTM(8, 6, batch_first=True), torch.nn.Linear(6, 3)

    def forward(self, x: Any) -> Any:
        return self.out(self.lstm(x)[0][:, -1])


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.out = torch.nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.out(self.layer(x).mean(1))


def convolutions() -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Unflatten(1, (1, 5)), nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 3))


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("network", [Attention, Recurrent, Encoder, convolutions])
@pytest.mark.sampled(2)
def test_networks(network: Callable[[], Any], backend: str, traces: list[Any]) -> None:
    batches = [lambda size=size: (torch.randn(size, 5, 8), torch.randint(0, 3, (size,)))  # type: ignore[misc]
               for size in (4, 6, 9, 4, 13, 3, 30, 2, 50)]
    losses = [losses_of(change, network, lambda model, x, y: F.cross_entropy(model(x), y), batches)
              for change in (lambda step: step, lambda step: torch.compile(step, dynamic=True, backend=backend))]
    for one, other in zip(*losses, strict=True):
        check(one, other, backend == "numpy")
    assert traces == [4, 6, 9]                              # the first call finds no gradients in the parameters


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_backward_pass_outside(backend: str, traces: list[Any]) -> None:
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
    model.load_state_dict(plain.state_dict())
    made, losses = torch.compile(model, dynamic=True, backend=backend), []
    for size in (6, 9, 20, 3, 100, 6):
        x = normal(size, 4)
        one, other = plain(x), made(x)
        check(one.detach(), other.detach(), backend == "numpy")
        losses.append((one.square().sum(), other.square().sum()))
        if len(losses) % 2 == 0:                            # the passes of two sizes run after both calls
            for first, second in losses[-2:]:
                first.backward()
                second.backward()
    for one, other in zip(plain.parameters(), model.parameters(), strict=True):
        check(one.grad, other.grad, backend == "numpy")
    assert traces == [6, 9, 20, 3]                          # the first passes leave gradients in the parameters
