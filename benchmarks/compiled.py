"""``python -m benchmarks.compiled``: compiled programs, beside torch.compile and jax.jit, in turns.

Each workload is a step: forward, backward and update. `prepare(torch)` returns the step and the tensors that show the
result. `jax_step` does the same work in JAX, if JAX can; it gets the same numbers.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.timing import time_in_turns

CONTESTANTS = ("torch", "torch.compile", "jax.jit", "retrograd", "numpy", "llvm")
RIVALS = ("torch.compile", "jax.jit")


@dataclass(frozen=True)
class Workload:
    """`targets` are the largest ratios to the best rival: compiled with NumPy, and with machine code."""

    name: str
    targets: tuple[float, float]
    prepare: Callable[[Any], Callable[[], Any]]
    in_jax: Callable[[Any, Any], Callable[[], Any]] | None = None


WORKLOADS: list[Workload] = []


def workload(name: str, numpy: float, llvm: float, in_jax: Any = None) -> Callable[[Any], Any]:
    """Add a workload to the list."""

    def add(prepare: Any) -> Any:
        WORKLOADS.append(Workload(name, (numpy, llvm), prepare, in_jax))
        return prepare

    return add


def _numbers(torch: Any) -> Any:
    """The same random numbers for each package."""
    torch.manual_seed(0)
    return torch


def _chain_in_jax(jax: Any, torch: Any) -> Callable[[], Any]:
    x, y = (jax.numpy.asarray(_factors(torch)[i].detach().numpy()) for i in range(2))

    def loss(x: Any, y: Any) -> Any:
        z = jax.numpy.ones((2, 3), dtype="float32")
        for _ in range(100):
            z = (z / x) * y
        return z.sum()

    step = jax.jit(jax.value_and_grad(loss, (0, 1)))
    return lambda: jax.block_until_ready(step(x, y))[0]


def _factors(torch: Any) -> tuple[Any, Any]:
    torch.manual_seed(0)
    x = (1 + 0.001 * torch.rand(2, 3)).requires_grad_()
    y = (1 + 0.001 * torch.rand(2, 3)).requires_grad_()
    return x, y


@workload("chain", 5, 0.3, _chain_in_jax)
def chain(torch: Any) -> Callable[[], Any]:
    x, y = _factors(torch)

    def step() -> Any:
        z = torch.ones(2, 3)
        for _ in range(100):
            z = (z / x) * y
        loss = z.sum()
        gradients = torch.autograd.grad(loss, (x, y))
        return loss.detach(), *gradients

    return step


def _cubic_in_jax(jax: Any, torch: Any) -> Callable[[], Any]:
    numpy = jax.numpy
    x = numpy.linspace(-math.pi, math.pi, 2000, dtype="float32")
    y = numpy.sin(x)
    torch.manual_seed(0)
    weights = [numpy.asarray(torch.randn(()).numpy()) for _ in range(4)]

    def loss(weights: Any) -> Any:
        a, b, c, d = weights
        return ((a + b * x + c * x**2 + d * x**3 - y) ** 2).sum()

    @jax.jit
    def update(weights: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights)
        return value, [w - 1e-6 * g for w, g in zip(weights, gradients)]

    def step() -> Any:
        nonlocal weights
        value, weights = update(weights)
        return jax.block_until_ready(value)

    return step


@workload("cubic", 0.8, 0.3, _cubic_in_jax)
def cubic(torch: Any) -> Callable[[], Any]:
    torch.manual_seed(0)
    x = torch.linspace(-math.pi, math.pi, 2000)
    y = torch.sin(x)
    a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))

    def step() -> Any:
        loss = ((a + b * x + c * x**2 + d * x**3 - y) ** 2).sum()
        gradients = torch.autograd.grad(loss, (a, b, c, d))
        with torch.no_grad():
            for weight, gradient in zip((a, b, c, d), gradients):
                weight -= 1e-6 * gradient
        return loss.detach()

    return step


def _pointwise(size: int) -> None:
    def in_jax(jax: Any, torch: Any) -> Callable[[], Any]:
        torch.manual_seed(0)
        a = jax.numpy.asarray(torch.rand(size).numpy())
        step = jax.jit(jax.value_and_grad(lambda a: (jax.numpy.sin(a) * a + jax.numpy.exp(a)).sum()))
        return lambda: jax.block_until_ready(step(a))[0]

    @workload(f"sin-exp-1e{round(math.log10(size))}", 1.2, 0.6, in_jax)
    def prepare(torch: Any) -> Callable[[], Any]:
        torch.manual_seed(0)
        a = torch.rand(size, requires_grad=True)

        def step() -> Any:
            loss = (a.sin() * a + a.exp()).sum()
            gradient, = torch.autograd.grad(loss, a)
            return loss.detach(), gradient

        return step


for size in (10**3, 10**5, 10**6, 10**7):
    _pointwise(size)


@workload("model", 1, 0.8)
def model(torch: Any) -> Callable[[], Any]:
    torch.manual_seed(0)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 10))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001)
    x, y = torch.randn(16, 1000), torch.randn(16, 10)
    return _training(torch, optimizer, lambda: nn.functional.mse_loss(network(x), y))


def _training(torch: Any, optimizer: Any, loss_of: Callable[[], Any]) -> Callable[[], Any]:
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


@workload("digits", 0.8, 0.6)
def digits(torch: Any) -> Callable[[], Any]:
    torch.manual_seed(0)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
    images, labels = torch.rand(64, 64), torch.randint(0, 10, (64,))
    return _training(torch, optimizer, lambda: nn.functional.cross_entropy(network(images), labels))


@workload("lstm", 1.2, 0.8)
def lstm(torch: Any) -> Callable[[], Any]:
    torch.manual_seed(0)
    layer = torch.nn.LSTM(32, 32)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
    x = torch.randn(20, 16, 32)
    return _training(torch, optimizer, lambda: layer(x)[0].pow(2).mean())


@workload("attention", 1.5, 1)
def attention(torch: Any) -> Callable[[], Any]:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
    x = torch.randn(8, 64, 64)
    return _training(torch, optimizer, lambda: layer(x).pow(2).mean())


def contestant(name: str, workload: Workload) -> Callable[[], Any] | None:
    """The step of a workload as one contestant runs it; None if it cannot."""
    ours = name in ("retrograd", "numpy", "llvm")
    torch = importlib.import_module("retrograd" if ours else "torch")
    if name == "jax.jit":
        return None if workload.in_jax is None else workload.in_jax(importlib.import_module("jax"), torch)
    step = workload.prepare(torch)
    if name == "torch.compile":
        return torch.compile(step)
    return torch.compile(step, backend=name) if name in ("numpy", "llvm") else step


def measured(workload: Workload, names: list[str]) -> dict[str, Any]:
    """The median seconds of a step of each contestant, and of its first call."""
    runs, first, values = {}, {}, {}
    for name in names:
        start = time.perf_counter()
        try:
            run = contestant(name, workload)
            if run is None:
                continue
            value = run()
        except Exception as error:
            print(f"  {name}: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        first[name] = time.perf_counter() - start
        values[name] = float(value[0] if isinstance(value, tuple) else value)
        run()
        runs[name] = run
    expected = next(iter(values.values()))
    for name, value in values.items():
        if not math.isclose(value, expected, rel_tol=1e-3):
            print(f"  {name} disagrees: {value}, not {expected}")
    return {"seconds": time_in_turns(runs, 15), "first": first}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD")
    parser.add_argument("--with", dest="names", default=",".join(CONTESTANTS))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    names, rows, met = options.names.split(","), {}, True
    print(f"{'workload':<14}" + "".join([f"{name:>15}" for name in names]) + "   numpy/best  llvm/best")
    for each in WORKLOADS:
        if options.workloads and each.name not in options.workloads:
            continue
        found = rows[each.name] = measured(each, names)
        seconds = found["seconds"]
        best = min([seconds[name] for name in RIVALS if name in seconds], default=math.nan)
        ratios = [seconds.get(name, math.nan) / best for name in ("numpy", "llvm")]
        marks = [f"{ratio:8.2f} {'yes' if ratio <= target else 'NO'}" for ratio, target in zip(ratios, each.targets)]
        met = met and all(ratio <= target for ratio, target in zip(ratios, each.targets))
        print(f"{each.name:<14}" + "".join([f"{seconds.get(n, math.nan) * 1e6:>12,.1f} us" for n in names])
              + "  ".join(marks), flush=True)
        print(f"{'':<14}" + "".join([f"{found['first'].get(n, math.nan) * 1e3:>12,.1f} ms" for n in names]) + "  first")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
