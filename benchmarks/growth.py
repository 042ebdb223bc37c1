"""``python -m benchmarks.growth``: how time and memory grow with the number of elements and of nodes.

Elements: a step sin(a) * a + exp(a), forward and backward, eager and compiled. Nodes: a chain of multiplications on two
numbers, forward, backward and release. Kernels: each by itself, forward and backward. The limits of the machine are
measured in the same run. `--pictures` draws all.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from math import log10
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.contestants import COMPILED, EAGER, OURS, enter, load
from benchmarks.fresh import CLEAR, in_a_process, peak, reset_peak
from benchmarks.kernel_growth import SIZES, by_kernel
from benchmarks.limits import all_limits
from benchmarks.report import machine
from benchmarks.steps import Step, Workload, with_gradients
from benchmarks.timing import time_in_turns

NODES = [10**3, 10**4, 10**5, 10**6]
ON_ELEMENTS, ON_NODES = (EAGER, OURS, *COMPILED), (EAGER, OURS)
PARTS = ("forward", "backward", "release")
NEEDS = {"llvm": "llvmlite", "torch": "torch"}
NODES_A_POINT = 20_000      # small chains are run several times

Points = dict[str, dict[int, Any]]      # for each contestant the figure at each size


def pointwise(name: str, size: int) -> Callable[[], Any]:
    """The step on so many elements, as a contestant runs it."""
    torch = load(name)
    torch.manual_seed(0)
    a = torch.rand(size, requires_grad=True)
    step = Step(lambda: (a.sin() * a + a.exp()).sum(), with_gradients(torch, (a,)), (a,))
    return enter(name, step, Workload("", "", (0, 0), lambda torch: step)).run


def chain(name: str, nodes: int) -> dict[str, float]:
    """The seconds of each part of a chain of so many nodes: the median of several."""
    torch = load(name)
    x = torch.ones(2, requires_grad=True)
    times: dict[str, list[float]] = {part: [] for part in PARTS}
    for _ in range(max(1, NODES_A_POINT // nodes)):
        x.grad = None
        marks = [perf_counter()]
        y = x
        for _ in range(nodes):
            y = y * 1.0000001
        marks.append(perf_counter())
        y.backward(torch.ones(2), retain_graph=True)
        marks.append(perf_counter())
        del y
        marks.append(perf_counter())
        for part, start, end in zip(PARTS, marks, marks[1:]):
            times[part].append(end - start)
    return {part: median(seconds) for part, seconds in times.items()}


def memory(name: str, kind: str, size: int) -> dict[str, int]:
    """The bytes that a step or a chain adds to the peak of this process, which has run a small one before.

    The first run of a compiled step is the trace, so it is told apart from the later runs.
    """
    if kind == "nodes":
        chain(name, 10**3)
        before = reset_peak()
        chain(name, size)
        return {"peak": peak() - before}
    small = pointwise(name, 10**5)
    for _ in range(3):                              # loads the compiler, which may compile late, and starts the threads
        small()
    before = reset_peak()
    step = pointwise(name, size)
    step()
    first = peak() - before
    reset_peak()
    step(), step()
    return {"peak": peak() - before, "first": first}


def by_elements(sizes: Iterable[int], names: list[str]) -> Points:
    """The seconds of a step for each number of elements. The contestants take turns."""
    found: Points = {name: {} for name in names}
    for size in sizes:
        say(f"a step on {size:,} elements")
        runs = {name: pointwise(name, size) for name in names}
        for run in runs.values():
            for _ in range(3):                              # the first calls compile
                run()
        for name, seconds in time_in_turns(runs, 9).items():
            found[name][size] = seconds
    return found


def by_nodes(counts: Iterable[int], names: list[str]) -> Points:
    """The seconds of each part for each number of nodes. The contestants take turns."""
    found: Points = {name: {} for name in names}
    for nodes in counts:
        say(f"a chain of {nodes:,} nodes")
        for name in names:
            gc.collect()
            found[name][nodes] = chain(name, nodes)
    return found


def memory_by(kind: str, sizes: Iterable[int], names: list[str]) -> Points:
    """The bytes for each size, each in a process of its own."""
    found: Points = {name: {} for name in names}
    for size in sizes:
        say(f"memory of {size:,} {kind}")
        for name in names:
            found[name][size] = in_a_process("growth", "--memory", name, kind, str(size))
    return found


def say(words: str) -> None:
    print(f"  {words}", file=sys.stderr, flush=True)


def measure(most_elements: int, most_nodes: int) -> dict[str, Any]:
    """All figures. Memory is left out where the system does not tell it."""
    on_elements, on_nodes = ([name for name in names if find_spec(NEEDS.get(name, "numpy"))]
                             for names in (ON_ELEMENTS, ON_NODES))
    sizes, nodes = [n for n in SIZES if n <= most_elements], [n for n in NODES if n <= most_nodes]
    say("limits of the machine")
    return {
        "machine": machine(), "limits": all_limits(),
        "elements": by_elements(sizes, on_elements), "nodes": by_nodes(nodes, on_nodes),
        "kernels": by_kernel(most_elements, say) if EAGER in on_elements else {},
        "elements_memory": memory_by("elements", sizes, on_elements) if CLEAR.exists() else {},
        "nodes_memory": memory_by("nodes", nodes, on_nodes) if CLEAR.exists() else {},
    }


def table(figures: dict[str, Any]) -> str:
    """The figures for people, for each element or node: nanoseconds, and bytes at the peak of later and first runs."""
    rows = []
    for title, scale in (("elements", 1e9), ("nodes", 1e9), ("elements_memory", 1), ("nodes_memory", 1)):
        of = {name: {int(size): value for size, value in points.items()} for name, points in figures[title].items()}
        rows += ["", f"{'bytes' if scale == 1 else 'ns'} each: {title.replace('_', ', ')}"]
        for size in sorted({size for points in of.values() for size in points}):
            cells = [f"{name} {_each(points[size], size, scale)}" for name, points in of.items()]
            rows.append(f"  1e{log10(size):.0f}  " + "   ".join(cells))
    limits = figures["limits"]
    return "\n".join([f"memory: {limits['gigabytes_a_second']:.1f} GB/s; a call of NumPy: "
                      f"{limits['call_seconds'] * 1e9:.0f} ns", *rows[1:]])


def _each(value: Any, size: int, scale: float) -> str:
    parts = value.values() if isinstance(value, dict) else [value]
    return ", ".join(f"{part / size * scale:,.4g}" for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth",
        description="Measure how time and memory grow with the number of elements and of nodes.",
    )
    parser.add_argument("--elements", type=float, default=SIZES[-1], metavar="N", help="at most so many elements")
    parser.add_argument("--nodes", type=float, default=NODES[-1], metavar="N", help="at most so many nodes")
    parser.add_argument("--json", metavar="FILE", help="also write the figures into a file")
    parser.add_argument("--pictures", metavar="FOLDER", help="also draw the figures, as SVG")
    parser.add_argument("--memory", nargs=3, metavar=("CONTESTANT", "KIND", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        name, kind, size = options.memory
        print(json.dumps(memory(name, kind, int(size))))
        return
    figures = measure(int(options.elements), int(options.nodes))
    print(table(figures))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    if options.pictures:
        import_module("benchmarks.pictures").draw(figures, Path(options.pictures))


if __name__ == "__main__":
    main()
