"""``python -m benchmarks.fresh KIND WORKLOAD CONTESTANT``: what can be measured only once in a process, as JSON.

`first` is the time to the first result, with everything that a contestant loads for it after its import, once the data
are there. `memory` is how much the workload adds to the peak of a process that has loaded the compiler.
"""

from __future__ import annotations

import compileall
import ctypes
import gc
import json
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.all_steps import WORKLOADS
from benchmarks.contestants import COMPILED, OURS, enter, load
from benchmarks.timing import environment

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
WARM_UP = ("sin-exp-1e5", "model")      # they load the compiler and an optimizer, and start the threads
RUNS = 5
BY_NAME = {workload.name: workload for workload in WORKLOADS}


def first(workload: str, contestant: str) -> dict[str, Any]:
    """The seconds until the first result, and until all is compiled: the second and third run may compile again.

    `with_import` counts the import of the package, and the data, too.
    """
    started = perf_counter()
    prepared = BY_NAME[workload].prepare(load(contestant))
    start = perf_counter()
    run = enter(contestant, prepared, BY_NAME[workload]).run
    run()
    result = perf_counter()
    run(), run()
    return {"first": result - start, "third": perf_counter() - start, "with_import": result - started}


def memory(workload: str, contestant: str) -> dict[str, Any]:
    """The bytes that the workload adds to the peak, with its inputs, in the first runs and in later runs.

    The first runs compile. `process` is the whole peak beyond the import.
    """
    torch = load(contestant)
    imported = resident()
    for name in WARM_UP:
        warm = enter(contestant, BY_NAME[name].prepare(torch), BY_NAME[name]).run
        for _ in range(RUNS):                              # a compiler may load and make more with each of the first
            warm()
    if contestant in (OURS, *COMPILED):
        torch.softmax(torch.ones(1000, 1000), 1)           # loads what makes kernels for large arrays
    before = reset_peak()
    run = enter(contestant, BY_NAME[workload].prepare(torch), BY_NAME[workload]).run
    for _ in range(RUNS):
        run()
    most = peak()
    reset_peak()
    run(), run()
    return {"first": most - before, "later": peak() - before, "process": most - imported}


def resident() -> int:
    """The bytes of memory that this process holds."""
    return _status("VmRSS")


def peak() -> int:
    """The most bytes that this process has held since `reset_peak`."""
    return _status("VmHWM")


def reset_peak() -> int:
    """Give back what is free, and count the peak from here. The result is what the process holds now."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    CLEAR.write_text("5", encoding="ascii")
    return resident()


def _status(field: str) -> int:
    line, = [line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith(field)]
    return int(line.split()[1]) * 1024


def in_a_process(module: str, *arguments: str) -> dict[str, Any]:
    """What a module of this package prints as JSON, run in a new process. Raises RuntimeError if it fails."""
    _install()
    child = subprocess.run([sys.executable, "-W", "ignore", "-m", f"benchmarks.{module}", *arguments],
                           capture_output=True, text=True, check=False, env=environment())
    if child.returncode:
        raise RuntimeError((child.stderr.strip().splitlines() or ["no message"])[-1])
    found: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return found


@cache
def _install() -> None:
    """Compile the modules of retrograd, as pip does with those of a package that it installs."""
    spec = find_spec(OURS)
    assert spec is not None
    compileall.compile_dir(str(Path(spec.origin or "").parent), quiet=1)


if __name__ == "__main__":
    print(json.dumps({"first": first, "memory": memory}[sys.argv[1]](*sys.argv[2:])))
