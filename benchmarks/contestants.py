"""Who takes part in the comparison of compilers, and how each of them runs a step of `steps`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from benchmarks.steps import Step, Workload

EAGER, OURS = "torch", "retrograd"
RIVALS = ("torch.compile", "jax.jit")
COMPILED = ("numpy", "llvm")    # retrograd.compile with these backends
CONTESTANTS = (EAGER, *RIVALS, OURS, *COMPILED)
# PyTorch compiles the whole step as far as it can, in several graphs, or the loss with its gradients. Both are timed.
WAYS = {"torch.compile": ("whole", "loss")}
PACKAGES = {"jax.jit": ("torch", "jax")}
EQUAL = 1e-2    # how much the results may differ, as a share of their norm
CHECKED = 3     # runs after which they are compared


class Contest(NamedTuple):
    """`run` runs a workload once. `results` gives its last results and how far the parameters moved, as arrays."""

    run: Callable[[], Any]
    results: Callable[[], list[Any]]


def load(name: str) -> Any:
    """Import the packages of a contestant. The result is the package in which the workload is prepared."""
    packages = PACKAGES.get(name, (OURS if name in (OURS, *COMPILED) else "torch",))
    modules = [importlib.import_module(package) for package in packages]
    if name == "jax.jit":
        modules[-1].devices()       # starts it; the other packages are started by their import
    return modules[0]


def enter(name: str, prepared: Step, workload: Workload, way: str = "whole") -> Contest:
    """A contestant that is ready to run a prepared workload."""
    if name == "jax.jit":
        return _in_jax(prepared, workload)
    compiling = _compiler(name)
    finish, loss = prepared.finish, compiling(prepared.loss) if way == "loss" else prepared.loss

    def step(*batch: Any) -> Any:
        return finish(loss(*batch))

    whole = compiling(step) if way == "whole" else step
    before = [parameter.detach().numpy().copy() for parameter in prepared.parameters]
    last: Any = None

    def run() -> Any:
        nonlocal last
        for batch in prepared.batches:
            last = whole(*batch)
        return last

    def results() -> list[Any]:
        moved = [p.detach().numpy() - was for p, was in zip(prepared.parameters, before)]
        return [*[value.numpy() for value in last], *moved]

    return Contest(run, results)


def _compiler(name: str) -> Callable[[Any], Any]:
    torch = load(name)
    if name == "torch.compile":
        return lambda function: torch.compile(function)
    return (lambda function: torch.compile(function, backend=name)) if name in COMPILED else lambda function: function


def _in_jax(prepared: Step, workload: Workload) -> Contest:
    jax = importlib.import_module("jax")
    of = importlib.import_module("benchmarks.steps_in_jax").STEPS[workload.name]
    before = [parameter.detach().numpy() for parameter in prepared.parameters]
    batches = jax.device_put([[tensor.numpy() for tensor in batch] for batch in prepared.batches])
    parameters = jax.device_put(before, may_alias=False)
    state, step, last = of.start(parameters), jax.jit(of.step, donate_argnums=(0, 1)), None

    def run() -> Any:
        nonlocal parameters, state, last
        for batch in batches:
            last, parameters, state = step(parameters, state, *batch)
        return jax.block_until_ready((last, parameters))[0]

    def results() -> list[Any]:
        return [*map(numpy.asarray, last), *[numpy.asarray(p) - was for p, was in zip(parameters, before)]]

    return Contest(run, results)


def difference(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """The largest difference between results, as a share of their norm."""
    shares = [0.0]
    for one, other in zip(found, expected, strict=True):
        norm = float(numpy.linalg.norm(other))
        shares.append(float(numpy.linalg.norm(one - other)) / norm if norm else float(numpy.linalg.norm(one)))
    return max(shares)
