"""How workloads are timed: the packages take turns, so that other load on the machine affects both packages equally.

This module must not know which workloads it times.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import repeat
from statistics import median
from time import perf_counter, process_time, sleep

from benchmarks.workloads import Run

SAMPLE_SECONDS = 0.02
ASLEEP, SECONDS_AWAKE = 0.005, 0.5      # a pause in which no thread computes, and how long one may do so
IMPORT_ROUNDS = 9


def time_in_turns(runs: Mapping[str, Run], rounds: int) -> dict[str, float]:
    """The median seconds of one call, for each function."""
    calls = {name: _calls_a_sample(run) for name, run in runs.items()}
    samples: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    for _ in range(rounds):
        for name in order:
            wait_for_threads()
            if calls[name] > 1:
                _sample(runs[name], calls[name])  # fills the caches, and each thread has a processor of its own
            samples[name].append(_sample(runs[name], calls[name]))
        order.reverse()  # A B, B A: no package always runs after the other
    return {name: median(times) for name, times in samples.items()}


def time_imports(packages: list[str]) -> dict[str, float]:
    """The least seconds of importing each package in a fresh interpreter, without the start of the interpreter."""
    best = dict.fromkeys(packages, float("inf"))
    for _ in range(IMPORT_ROUNDS):
        for package in packages:
            best[package] = min(best[package], _import(package))
    return best


def _calls_a_sample(run: Run) -> int:
    """The number of calls that last long enough for the clock. Finding the number also warms up."""
    calls = 1
    while (seconds := _sample(run, calls) * calls) < SAMPLE_SECONDS:
        calls = max(2 * calls, int(calls * SAMPLE_SECONDS / max(seconds, 1e-6)))
    return calls


def wait_for_threads() -> None:
    """Wait until the threads of the package that ran last are asleep.

    Threads look for more work before they sleep: those of OpenMP, which PyTorch has, for some 10 ms, those of OpenBLAS,
    which NumPy has, for some 100 ms. Meanwhile they take a processor from the package that runs next.
    """
    end = perf_counter() + SECONDS_AWAKE
    while perf_counter() < end:
        before = process_time()
        sleep(ASLEEP)
        if process_time() - before < ASLEEP / 5:
            break


def _sample(run: Run, calls: int) -> float:
    start = perf_counter()
    for _ in repeat(None, calls):
        run()
    return (perf_counter() - start) / calls


def _import(package: str) -> float:
    code = f"from time import perf_counter as now; start = now(); import {package}; print(now() - start)"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    return float(child.stdout)


def environment() -> dict[str, str]:
    """The environment of a new process that imports packages as they are after an installation.

    Their modules are compiled then. With this variable set, every import would compile them again.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
