"""Whole training steps run compiled as they run without: parameters, buffers, optimizer state, random streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.nn.functional as F
from comparing.optimizers import usual_optimizers
from needing import needs
from retrograd import nn

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, dampening=0.1),
    "SGD with nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, maximize=True),
    "SGD one by one": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=False),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1),
    "Adam with amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, foreach=False),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True),
    "Adamax": lambda p: torch.optim.Adamax(p),
    "NAdam": lambda p: torch.optim.NAdam(p),
    "RAdam": lambda p: torch.optim.RAdam(p),
    "RMSprop": lambda p: torch.optim.RMSprop(p, momentum=0.5, centered=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr_decay=0.1),
    "Adadelta": lambda p: torch.optim.Adadelta(p),
    "ASGD": lambda p: torch.optim.ASGD(p),
    "Rprop": lambda p: torch.optim.Rprop(p),
    "Adafactor": lambda p: torch.optim.Adafactor(p),
    "ASGD with a mean": lambda p: torch.optim.ASGD(p, t0=1, weight_decay=0.1),
    "NAdam, decoupled": lambda p: torch.optim.NAdam(p, decoupled_weight_decay=True, weight_decay=0.1, maximize=True),
}
assert {name.replace(",", "").split()[0] for name in OPTIMIZERS} == {*usual_optimizers()}
NEAR = {"numpy": 0.0, "llvm": 1e-4}


def close(a: Any, b: Any, near: float) -> None:
    """Assert that two tensors are alike."""
    assert (a.shape, a.dtype, a.stride(), a.requires_grad) == (b.shape, b.dtype, b.stride(), b.requires_grad)
    if near and a.dtype.is_floating_point:
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=near, atol=near)
    else:
        assert np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=a.dtype.is_floating_point)


def everything(model: Any, optimizer: Any) -> list[Any]:
    """All tensors of a model and of an optimizer."""
    found = [*model.state_dict().values(), *[p.grad for p in model.parameters() if p.grad is not None]]
    return found + [v for state in optimizer.state.values() for v in state.values() if isinstance(v, torch.Tensor)]


def train(make: Callable[[], tuple[Any, Any, Callable[..., Any]]], batches: list[tuple[Any, ...]], backend: str,
          whole: bool = True) -> None:
    """Run the same steps compiled and as they are, and compare everything after each."""
    torch.manual_seed(1)
    model, optimizer, step = make()
    torch.manual_seed(1)
    other, other_optimizer, other_step = make()
    compiled = torch.compile(step, backend=backend, fullgraph=whole)
    stream = [torch.get_rng_state()] * 2
    for batch in batches:
        torch.set_rng_state(stream[0])
        loss = compiled(*batch)
        stream[0] = torch.get_rng_state()
        torch.set_rng_state(stream[1])
        expected = other_step(*batch)
        stream[1] = torch.get_rng_state()
        assert torch.equal(*stream)
        close(loss, expected, NEAR[backend])
        found, wanted = everything(model, optimizer), everything(other, other_optimizer)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            close(a, b, NEAR[backend])


@pytest.fixture(params=["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
def backend(request: pytest.FixtureRequest) -> str:
    """What runs the plans."""
    return str(request.param)


def batches(*shapes: tuple[int, ...], count: int = 4) -> list[tuple[Any, ...]]:
    """Batches of normal numbers."""
    generator = torch.Generator().manual_seed(3)
    return [tuple([torch.randn(shape, generator=generator) for shape in shapes]) for _ in range(count)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str, backend: str) -> None:
    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        optimizer = OPTIMIZERS[name](model.parameters())

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return model, optimizer, step

    train(make, batches((6, 4), (6, 3), count=9), backend)


@pytest.mark.parametrize("name", ["Adamax", "RAdam", "Adagrad"])
def test_optimizers_of_many_small_parameters(name: str, backend: str) -> None:
    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(5)])
        optimizer = OPTIMIZERS[name](model.parameters())

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return model, optimizer, step

    train(make, batches((6, 4)), backend)


def test_what_was_written_is_put_back_if_a_call_is_refused(backend: str) -> None:
    p = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.Adam([p])

    def step() -> float:
        p.grad = torch.ones(3)
        optimizer.step()
        return float(p.detach().sum())

    step()
    state = [value.clone() for value in (p, *optimizer.state[p].values())]
    with pytest.raises(RuntimeError, match="looks at the numbers"):
        torch.compile(step, backend=backend, fullgraph=True)()
    assert all(map(torch.equal, state, (p, *optimizer.state[p].values())))


@pytest.mark.parametrize("to_none", [True, False])
def test_accumulation_clipping_and_norm_layers(to_none: bool, backend: str) -> None:
    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.3), nn.LayerNorm(5),
                              nn.Linear(5, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad(set_to_none=to_none)
            for part, target in zip(x.chunk(2), y.chunk(2)):
                (F.smooth_l1_loss(model(part), target) / 2).backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            return norm

        return model, optimizer, step

    train(make, batches((8, 4), (8, 3)), backend)


LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "LSTM": (lambda: nn.LSTM(4, 5, batch_first=True), (3, 6, 4)),
    "GRU": (lambda: nn.GRU(4, 5, num_layers=2, dropout=0.2), (3, 6, 4)),
    "RNN": (lambda: nn.RNN(4, 5, bidirectional=True), (3, 6, 4)),
    "attention": (lambda: nn.MultiheadAttention(4, 2, batch_first=True), (3, 6, 4)),
    "encoder": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (3, 6, 4)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2)),
                    (2, 2, 6, 6)),
    "group norm": (lambda: nn.Sequential(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4), nn.SiLU()), (2, 2, 8)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.sampled(2)
def test_layers(name: str, backend: str) -> None:
    layer, shape = LAYERS[name]

    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = layer()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            out = model(x, x, x) if isinstance(model, nn.MultiheadAttention) else model(x)
            loss = (out[0] if isinstance(out, tuple) else out).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, optimizer, step

    train(make, batches(shape), backend)


def test_classes_of_integers(backend: str) -> None:
    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(12, 5))
        optimizer = torch.optim.AdamW(model.parameters())

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, optimizer, step

    generator = torch.Generator().manual_seed(3)
    given = [(torch.randint(0, 10, (6, 3), generator=generator), torch.randint(0, 5, (6,), generator=generator))
             for _ in range(4)]
    train(make, given, backend)


def test_schedulers_outside(backend: str) -> None:
    def run(compiling: Callable[..., Any]) -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        step, losses = compiling(step), []
        for x, in batches((4, 3), count=6):
            losses.append(step(x).item())
            schedule.step()
        return losses

    assert run(lambda f: torch.compile(f, backend=backend)) == pytest.approx(run(lambda f: f), rel=1e-5)


def test_gradients_of_gradients_inside(backend: str) -> None:
    def make() -> tuple[Any, Any, Callable[..., Any]]:
        model = nn.Sequential(nn.Linear(3, 4), nn.Softplus(), nn.Linear(4, 1))
        optimizer = torch.optim.Adam(model.parameters())

        def step(x: Any) -> Any:
            x = x.clone().requires_grad_()
            slope, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
            loss = (slope.norm(dim=1) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return model, optimizer, step

    train(make, batches((5, 3)), backend)


def test_an_error_in_a_later_step_leaves_what_it_leaves_in_the_program(backend: str) -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: Any, labels: Any) -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = torch.compile(step, backend=backend, fullgraph=True)
    x, labels = torch.randn(5, 3), torch.tensor([0, 1, 2, 3, 0])
    for _ in range(3):
        compiled(x, labels)
    state = [*model.parameters(), *[value for each in optimizer.state.values() for value in each.values()]]
    before = [value.clone() for value in state]
    with pytest.raises(IndexError, match="^Target 9 is out of bounds"):
        compiled(x, torch.tensor([0, 1, 2, 3, 9]))
    assert all(map(torch.equal, before, state))
    assert model.weight.grad is None                       # `zero_grad` came before the error
    compiled(x, labels)
    assert not torch.equal(before[0], state[0])


def test_an_error_in_a_later_call_leaves_the_writes_before_it_counted(backend: str) -> None:
    def write(x: Any, y: Any, index: Any) -> Any:
        x.add_(1)
        taken = x.sum(0)[index]
        y.add_(1)
        return taken * y

    compiled = torch.compile(write, backend=backend, fullgraph=True)
    x, y = torch.zeros(2, 3), torch.zeros(2)
    for _ in range(2):
        compiled(x, y, torch.tensor([0, 2]))
    assert (x._version, y._version) == (2, 2)
    for index in ([0, 3], [-4, 0]):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(x, y, torch.tensor(index))
    assert (x._version, y._version) == (4, 2)
    assert (x.tolist(), y.tolist()) == ([[4.0] * 3] * 2, [2.0, 2.0])


def test_writes_are_counted_if_the_gradient_shares_the_memory(backend: str) -> None:
    q = torch.ones(3, requires_grad=True)

    @torch.compile(backend=backend, fullgraph=True)
    def step() -> None:
        view = q.view(3)
        with torch.no_grad():
            view.mul_(2)
        q.grad = view.detach()

    for count in range(1, 5):
        step()
        assert q._version == count


def test_gradients_in_a_traced_call_are_no_views(backend: str) -> None:
    def gradient(x: Any) -> Any:
        return torch.autograd.grad(torch.stack([x.reshape(-1)] * 2).exp().sum(), x)[0]

    compiled = torch.compile(gradient, backend=backend)
    for function in (gradient, compiled, compiled):
        assert not function(torch.ones(2, 2, requires_grad=True))._is_view()


@pytest.mark.parametrize("columns", [2, 3, 4, 8])
def test_writes_to_a_column(columns: int, backend: str) -> None:
    def write(x: Any) -> None:
        x[:, 0].neg_()
        x[:, -1].sqrt_()

    compiled = torch.compile(write, backend=backend, fullgraph=True)
    for dtype in (torch.float32, torch.float64):
        for _ in range(3):
            x = torch.rand(9, columns, dtype=dtype)
            y = x.clone()
            write(x)
            compiled(y)
            close(x, y, NEAR[backend])


def test_a_write_to_a_result_through_a_view(backend: str) -> None:
    def write(x: Any) -> Any:
        y = x * x
        y.view(-1).sin_()
        return y.cos().sum() + torch.rand(3)

    def write_twice(x: Any) -> Any:
        y = (x[0] @ x[0]).mul_(0)
        y.relu_()
        row = y[None]
        row -= 1
        return torch.rand(3) - F.silu(row.unsqueeze(-1))

    def doubled(x: Any) -> Any:
        y = x.double() + x
        y.unsqueeze_(0)
        y.relu_()
        return y * 2 + torch.rand(3)

    for function in (write, write_twice, doubled):
        compiled = torch.compile(function, backend=backend, fullgraph=True)
        for _ in range(3):
            x, found = torch.randn(3, 3), []
            for call in (function, compiled):
                torch.manual_seed(0)
                found.append(call(x))
            close(*found, NEAR[backend])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_writes_over_one_number_have_eagers_bits(dtype: Any, backend: str) -> None:
    def step(x: Any, y: Any) -> None:
        x.add_(y)
        x.mul_(y)
        x.sub_(y * 3)

    compiled = torch.compile(step, backend=backend, fullgraph=True)
    info = torch.finfo(dtype)
    numbers = [0.1, -0.0, 0.0, 1e-3, -7.3, float("inf"), info.max, -info.max, info.tiny, info.tiny / 8, 1 / 3,
               1 + info.eps]
    for a in numbers:
        for b in numbers:
            pairs = [(torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype)) for _ in range(2)]
            compiled(*pairs[0])
            step(*pairs[1])
            assert pairs[0][0].isnan() == pairs[1][0].isnan(), (a, b)
            if not pairs[0][0].isnan():
                assert pairs[0][0].numpy().tobytes() == pairs[1][0].numpy().tobytes(), (a, b)
