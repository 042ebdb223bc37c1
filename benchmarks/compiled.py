"""``python -m benchmarks.compiled``: compiled steps, beside torch.compile and jax.jit, in turns.

Each step is forward, backward and update; `steps` lists them. The contestants begin with the same numbers, and their
results are compared. A ratio is the time of compiled retrograd divided by the time of the faster rival.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.all_steps import WORKLOADS
from benchmarks.contestants import (
    CHECKED,
    COMPILED,
    CONTESTANTS,
    EAGER,
    EQUAL,
    OURS,
    RIVALS,
    WAYS,
    difference,
    enter,
    load,
)
from benchmarks.fresh import CLEAR, in_a_process
from benchmarks.report import duration, machine
from benchmarks.steps import Workload
from benchmarks.timing import time_in_turns

FIRST_TARGETS = {"numpy": 0.2, "llvm": 0.5}     # of the time that the faster rival needs for its first result
ROUNDS = 15
SLACK = 2**20       # bytes. Two runs of one program differ as much.
NEEDS = {"jax.jit": "jax", "llvm": "llvmlite", "torch": "torch", "torch.compile": "torch"}


@dataclass
class Found:
    """The figures of one workload: for each contestant the seconds of a run, of the first run, and bytes."""

    name: str
    summary: str
    targets: dict[str, float]
    seconds: dict[str, float] = field(default_factory=dict)
    way: str = ""       # what torch.compile was given in the faster way: the whole step, or the loss
    first: dict[str, float] = field(default_factory=dict)
    third: dict[str, float] = field(default_factory=dict)           # of the first three runs, which may all compile
    with_import: dict[str, float] = field(default_factory=dict)     # from the import to the first result
    memory: dict[str, int] = field(default_factory=dict)            # what later runs add to the peak
    first_memory: dict[str, int] = field(default_factory=dict)      # what the first runs add, which compile
    process: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def ratios(self) -> dict[str, float]:
        """Compiled retrograd's time divided by the time of the faster rival."""
        return _to_best(self.seconds)

    def first_ratios(self) -> dict[str, float]:
        """The same for the time to the first result."""
        return _to_best(self.first)

    def memory_ratios(self) -> dict[str, float]:
        """Retrograd's peak divided by that of PyTorch without a compiler. Peaks within the slack are equal."""
        mine = {name: self.memory[name] for name in (OURS, *COMPILED) if name in self.memory}
        theirs = self.memory.get(EAGER, math.nan)
        return {name: 1.0 if abs(size - theirs) <= SLACK else size / theirs for name, size in mine.items()}

    def met(self) -> bool:
        """Whether all that was measured reaches its target, and no contestant failed."""
        return not self.problems and all([
            *(ratio <= self.targets[name] for name, ratio in self.ratios().items()),
            *(ratio <= FIRST_TARGETS[name] for name, ratio in self.first_ratios().items()),
            *(ratio <= 1 for ratio in self.memory_ratios().values())])

    def row(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {**asdict(self), "ratios": self.ratios(), "first_ratios": self.first_ratios(),
                "memory_ratios": self.memory_ratios(), "met": self.met()}


def _to_best(values: dict[str, float]) -> dict[str, float]:
    rivals = [values[name] for name in RIVALS if name in values]
    return {name: values[name] / min(rivals) for name in COMPILED if name in values and rivals}


def measure(workload: Workload, names: Sequence[str], fresh: bool) -> Found:
    """All figures of a workload. What a contestant cannot do is a problem, and the others go on.

    PyTorch's compiler keeps results in a folder, which is empty here when the first process begins.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        return _measure(workload, names, fresh)


def _measure(workload: Workload, names: Sequence[str], fresh: bool) -> Found:
    found = Found(workload.name, workload.summary, dict(zip(COMPILED, workload.targets)))
    if fresh:
        for name in names:
            _say(f"{workload.name}: first result and memory of {name}")
            _measure_fresh(found, name)
    _say(f"{workload.name}: in turns")
    runs = dict(_checked_runs(found, workload, names))
    seconds = time_in_turns(runs, ROUNDS)
    for name in names:
        ways = {way: seconds[label] for way in WAYS.get(name, ("whole",)) if (label := f"{name}/{way}") in seconds}
        if ways:
            found.seconds[name] = min(ways.values())
        if len(ways) > 1:
            found.way = min(ways, key=ways.__getitem__)
    return found


def _measure_fresh(found: Found, name: str) -> None:
    """The figures of new processes."""
    try:
        if name in (*RIVALS, *COMPILED):
            result = in_a_process("fresh", "first", found.name, name)
            found.first[name], found.third[name] = result["first"], result["third"]
            found.with_import[name] = result["with_import"]
        if name not in RIVALS and CLEAR.exists():
            result = in_a_process("fresh", "memory", found.name, name)
            found.memory[name], found.first_memory[name] = result["later"], result["first"]
            found.process[name] = result["process"]
    except RuntimeError as error:
        found.problems.append(f"{name}: {error}")


def _checked_runs(found: Found, workload: Workload, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The contestants that can run the workload, after some runs whose results are compared."""
    expected = None
    if "torch.compile" in names:
        import_module("torch._dynamo").reset()      # else the functions of all workloads count as one
    for name in names:
        for way in WAYS.get(name, ("whole",)):
            try:
                contest = enter(name, workload.prepare(load(name)), workload, way)
                for _ in range(CHECKED):
                    contest.run()
                results = contest.results()
            except Exception as error:  # a contestant that fails must not stop the others
                found.problems.append(f"{name}, {way}: {type(error).__name__}: {error}".partition("\n")[0])
                continue
            expected = results if expected is None else expected
            if (share := difference(results, expected)) > EQUAL:
                found.problems.append(f"{name}, {way}: the results differ by {share:.0e}")
            yield f"{name}/{way}", contest.run


def _say(words: str) -> None:
    """Show what is being measured, on a terminal or in a log, beside the table."""
    print(f"  {words}", file=sys.stderr, flush=True)


def header(names: Sequence[str]) -> str:
    return f"{'workload':<13}{'':<8}" + "".join(f"{name:>14}" for name in names) + f"{'numpy':>14}{'llvm':>14}"


def lines(found: Found, names: Sequence[str]) -> Iterator[str]:
    """The rows of a workload: a run, the first run, the peak; at the end the ratios, and whether they are small enough.

    The ratios of the peak are to PyTorch without a compiler. "peak 1" is the peak of the first runs, which compile.
    """
    yield (_line(found.name, "run", [_or_dash(found.seconds, name, duration) for name in names])
           + _marks(found.ratios(), found.targets))
    if found.first:
        yield (_line("", "first", [_or_dash(found.first, name, duration) for name in names])
               + _marks(found.first_ratios(), FIRST_TARGETS))
    if found.memory:
        yield (_line("", "peak", [_or_dash(found.memory, name, size) for name in names])
               + _marks(found.memory_ratios(), dict.fromkeys(COMPILED, 1.0)))
        yield _line("", "peak 1", [_or_dash(found.first_memory, name, size) for name in names])
    for problem in found.problems:
        yield f"  {problem}"


def _line(name: str, what: str, cells: list[str]) -> str:
    return f"{name:<13}{what:<8}" + "".join(f"{cell:>14}" for cell in cells)


def _marks(ratios: dict[str, float], targets: dict[str, float]) -> str:
    cells = [f"{ratios[name]:.2f} {'yes' if ratios[name] <= targets[name] else 'NO'}" if name in ratios else "-"
             for name in COMPILED]
    return "".join(f"{cell:>14}" for cell in cells)


def _or_dash(values: dict[str, Any], name: str, show: Any) -> str:
    return show(values[name]) if name in values else "-"


def size(number: float) -> str:
    """Bytes as people write them."""
    return f"{number / 2**20:.3g} MiB"


def main() -> int:
    options = _options()
    names = [name for name in options.names.split(",") if find_spec(NEEDS.get(name, "numpy"))]
    print(header(names), flush=True)
    results = []
    for workload in WORKLOADS:
        if options.workloads and workload.name not in options.workloads:
            continue
        results.append(measure(workload, names, not options.warm))
        print("\n".join(lines(results[-1], names)), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump({"machine": machine(), "results": [found.row() for found in results]}, stream, indent=2)
            stream.write("\n")
    return 0 if all(found.met() for found in results) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compiled",
        description="Compare compiled steps with torch.compile and jax.jit. The exit status is 1 if a ratio is above "
        "its target, or if results differ.",
    )
    known = [workload.name for workload in WORKLOADS]
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"only these, of: {', '.join(known)}")
    parser.add_argument("--with", dest="names", default=",".join(CONTESTANTS), metavar="CONTESTANTS",
                        help=f"only these, of: {','.join(CONTESTANTS)}")
    parser.add_argument("--warm", action="store_true", help="leave out what needs new processes: first result, memory")
    parser.add_argument("--json", metavar="FILE", help="also write the figures into a file")
    options = parser.parse_args()
    for name in options.workloads:
        if name not in known:
            parser.error(f"there is no workload {name!r}; the workloads are {', '.join(known)}")
    for name in options.names.split(","):
        if name not in CONTESTANTS:
            parser.error(f"there is no contestant {name!r}; the contestants are {', '.join(CONTESTANTS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
