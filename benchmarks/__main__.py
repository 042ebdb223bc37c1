"""``python -m benchmarks``: times the workloads with both packages, in turns, and prints which targets are met."""

import argparse
import gc
import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import kernels as kernels, programs as programs, training as training, transforms as transforms
from benchmarks.report import ALONE, OURS, THEIRS, Result, header, line, write_json
from benchmarks.timing import time_imports, time_in_turns
from benchmarks.workloads import WORKLOADS, Workload, by_numpy

IMPORT = "import"
NAMES = [*(workload.name for workload in WORKLOADS), IMPORT]


def main() -> int:
    options = _options()
    if options.list:
        for result in (*(_empty(workload) for workload in WORKLOADS), _empty_import()):
            print(f"{result.name:<14} {result.summary}; target {result.target}")
        return 0
    packages = [options.only] if options.only else [THEIRS, OURS]
    modules = {package: importlib.import_module(package) for package in packages}
    chosen = options.workloads or NAMES
    print(header(), flush=True)
    results = []
    for result in _measure_all(chosen, modules):
        results.append(result)
        print(line(result), flush=True)
    if options.json:
        write_json(results, options.json)
    return 1 if any(result.met is False for result in results) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare the speed of retrograd and PyTorch. The ratio is retrograd's time divided by PyTorch's. "
        "The exit status is 1 if a ratio is above its target.",
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"time only these, of: {', '.join(NAMES)}")
    parser.add_argument("--list", action="store_true", help="list the workloads and stop")
    parser.add_argument("--only", choices=(OURS, THEIRS), metavar="PACKAGE", help=f"time only {OURS} or only {THEIRS}")
    parser.add_argument("--json", metavar="FILE", help="also write the figures into a file")
    options = parser.parse_args()
    for name in options.workloads:
        if name not in NAMES:
            parser.error(f"there is no workload {name!r}; the workloads are {', '.join(NAMES)}")
    return options


def _measure_all(chosen: Sequence[str], modules: dict[str, Any]) -> Iterator[Result]:
    for workload in WORKLOADS:
        if workload.name in chosen:
            gc.collect()
            gc.freeze()  # or each garbage collection would search what both packages have imported, in the time of one
            yield _measure(workload, modules)
    if IMPORT in chosen:
        result = _empty_import()
        result.seconds = time_imports(list(modules))
        yield result


def _empty(workload: Workload) -> Result:
    return Result(workload.name, workload.summary, workload.target, workload.alone)


def _empty_import() -> Result:
    return Result(IMPORT, "the import itself, in a fresh interpreter: the best of several", 0.2, None)


def _measure(workload: Workload, modules: dict[str, Any]) -> Result:
    """Time one workload, after a first call that checks whether the packages compute the same result."""
    result = _empty(workload)
    runs, values = {}, {}
    for package, torch in modules.items():
        try:
            torch.manual_seed(0)
            runs[package] = workload.prepare(torch)
            values[package] = runs[package]().item()
            if package == OURS:
                torch.backends.native.wait()                # for machine code that the first call has asked for
            if package == OURS and workload.alone is not None:
                torch.manual_seed(0)
                runs[ALONE] = by_numpy(torch, workload.prepare(torch))
                values[ALONE] = runs[ALONE]().item()
        except Exception as error:  # a workload that fails must not stop the other workloads
            result.problem = f"{package}: {type(error).__name__}: {error}".partition("\n")[0]
            return result
    first, *others = values.values()
    if not all(math.isclose(first, other, rel_tol=1e-3) for other in others):
        result.problem = f"they disagree: {values}"
        return result
    result.seconds = time_in_turns(runs, workload.rounds)
    return result


if __name__ == "__main__":
    sys.exit(main())
