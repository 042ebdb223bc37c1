"""How the time of kernels grows with the number of elements, forward and backward, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.kernels import there_and_back
from benchmarks.report import ALONE, OURS, THEIRS
from benchmarks.timing import time_in_turns
from benchmarks.workloads import Run, by_numpy

SIZES = [10**digits for digits in range(2, 9)]
MOST = {"a product of matrices": 10**7}     # the work of this kernel grows faster than its matrices
WIDTH = 100     # of the rows, and of the tables of rows

Forward = Callable[[Any, Any], Any]


def _plain(forward: Forward, torch: Any, size: int) -> Run:
    x = torch.rand(size, requires_grad=True)
    return there_and_back([x], lambda: forward(torch, x))


def _by_rows(forward: Forward, torch: Any, size: int) -> Run:
    x = torch.rand(size // WIDTH, WIDTH, requires_grad=True)
    return there_and_back([x], lambda: forward(torch, x))


def _pair(forward: Callable[[Any, Any, Any], Any], torch: Any, size: int) -> Run:
    x, y = (torch.rand(size, requires_grad=True) for _ in range(2))
    return there_and_back([x, y], lambda: forward(torch, x, y))


def _taken(take: Callable[[Any, Any, Any], Any], torch: Any, size: int) -> Run:
    table, rows = torch.rand(1000, WIDTH, requires_grad=True), torch.randint(1000, (size // WIDTH,))
    return there_and_back([table], lambda: take(torch, table, rows))


def _added(torch: Any, size: int) -> Run:
    x, rows = torch.rand(size // WIDTH, WIDTH, requires_grad=True), torch.randint(1000, (size // WIDTH,))
    zeros = torch.zeros(1000, WIDTH)
    return there_and_back([x], lambda: zeros.index_add(0, rows, x))


def _gathered(torch: Any, size: int) -> Run:
    x, index = torch.rand(1000, WIDTH, requires_grad=True), torch.randint(1000, (size // WIDTH, WIDTH))
    return there_and_back([x], lambda: torch.gather(x, 0, index))


def _product(torch: Any, size: int) -> Run:
    side = max(round(size ** 0.5), 1)
    x, y = (torch.rand(side, side, requires_grad=True) for _ in range(2))
    return there_and_back([x, y], lambda: x @ y)


def _images(torch: Any, size: int) -> Run:
    x, weight = torch.rand(max(size // 8192, 1), 8, 32, 32, requires_grad=True), torch.rand(8, 8, 3, 3)
    return there_and_back([x], lambda: torch.nn.functional.conv2d(x, weight, padding=1))


def _classes(torch: Any, size: int) -> Run:
    x, target = torch.rand(size // WIDTH, WIDTH, requires_grad=True), torch.randint(WIDTH, (size // WIDTH,))
    return there_and_back([x], lambda: torch.nn.functional.cross_entropy(x, target), torch.ones(()))


KERNELS: dict[str, Callable[[Any, int], Run]] = {
    "a sum of arrays": partial(_pair, lambda torch, x, y: x + y),
    "a product of arrays": partial(_pair, lambda torch, x, y: x * y),
    "sin": partial(_plain, lambda torch, x: x.sin()),
    "gelu": partial(_plain, lambda torch, x: torch.nn.functional.gelu(x)),
    "sums of rows": partial(_by_rows, lambda torch, x: x.sum(1)),
    "softmax": partial(_by_rows, lambda torch, x: x.softmax(1)),
    "layer_norm": partial(_by_rows, lambda torch, x: torch.nn.functional.layer_norm(x, (WIDTH,))),
    "cross_entropy": _classes,
    "gather": _gathered,
    "embedding": partial(_taken, lambda torch, table, rows: torch.nn.functional.embedding(rows, table)),
    "index_add": _added,
    "conv2d": _images,
    "a product of matrices": _product,
}


def by_kernel(most: int, say: Callable[[str], None]) -> dict[str, dict[str, dict[int, float]]]:
    """The seconds of each kernel for each contestant and size, up to `most` elements. The contestants take turns."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    modules = {name: import_module(name) for name in (THEIRS, OURS)}
    for kernel, prepare in KERNELS.items():
        say(f"{kernel} of up to {most:,} elements")
        found[kernel] = {name: {} for name in (*modules, ALONE)}
        for size in [n for n in SIZES if n <= min(most, MOST.get(kernel, most))]:
            runs = {name: prepare(torch, size) for name, torch in modules.items()}
            runs[ALONE] = by_numpy(modules[OURS], prepare(modules[OURS], size))
            for run in runs.values():
                run()
            modules[OURS].backends.native.wait()
            for name, seconds in time_in_turns(runs, 5).items():
                found[kernel][name][size] = seconds
    return found
