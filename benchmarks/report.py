"""The output: one result per workload, as a table for people and as JSON for programs."""

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OURS, THEIRS = "retrograd", "torch"


@dataclass
class Result:
    name: str
    summary: str
    target: float
    seconds: dict[str, float] = field(default_factory=dict)
    problem: str | None = None

    @property
    def ratio(self) -> float | None:
        """The time of retrograd divided by the time of PyTorch; None if one of the two was not measured."""
        if OURS in self.seconds and THEIRS in self.seconds:
            return self.seconds[OURS] / self.seconds[THEIRS]
        return None

    @property
    def met(self) -> bool | None:
        if self.problem is not None:
            return False
        return None if self.ratio is None else self.ratio <= self.target


def header() -> str:
    return f"{'workload':<14}{THEIRS:>11}{OURS:>11}{'ratio':>8}{'target':>8}  met"


def line(result: Result) -> str:
    times = "".join(f"{duration(result.seconds.get(package)):>11}" for package in (THEIRS, OURS))
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    met = {True: "yes", False: "NO", None: "-"}[result.met]
    problem = f"  {result.problem}" if result.problem else ""
    return f"{result.name:<14}{times}{ratio:>8}{result.target:>8.2f}  {met}{problem}"


def write_json(results: Iterable[Result], file: str) -> None:
    """Write the figures, and a description of the machine."""
    rows = [
        {
            "name": result.name,
            "summary": result.summary,
            "seconds": result.seconds,
            "ratio": result.ratio,
            "target": result.target,
            "met": result.met,
            "problem": result.problem,
        }
        for result in results
    ]
    with open(file, "w", encoding="utf-8") as stream:
        json.dump({"machine": machine(), "results": rows}, stream, indent=2)
        stream.write("\n")


def machine() -> dict[str, object]:
    """What the figures depend on: the processor, and the versions of all that takes part."""
    versions = {package: _version(package) for package in (OURS, THEIRS, "numpy", "jax", "llvmlite")}
    return {"python": platform.python_version(), "architecture": platform.machine(), "processor": _processor(),
            "cpus": os.cpu_count(), **versions}


def _processor() -> str:
    """The processor's name where Linux tells it, or the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # the package is used from its source folder, or it is not installed
        return None


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
