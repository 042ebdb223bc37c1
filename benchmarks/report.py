"""The output: one result per workload, as a table for people and as JSON for programs."""

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OURS, THEIRS = "retrograd", "torch"
ALONE = "NumPy alone"  # retrograd without machine code


@dataclass
class Result:
    name: str
    summary: str
    target: float
    target_alone: float | None
    seconds: dict[str, float] = field(default_factory=dict)
    problem: str | None = None

    def _ratio(self, name: str) -> float | None:
        if name in self.seconds and THEIRS in self.seconds:
            return self.seconds[name] / self.seconds[THEIRS]
        return None

    @property
    def ratio(self) -> float | None:
        """The time of retrograd divided by the time of PyTorch; None if one of the two was not measured."""
        return self._ratio(OURS)

    @property
    def ratio_alone(self) -> float | None:
        """The same without machine code; None for a workload that machine code does not change."""
        return self._ratio(ALONE)

    @property
    def met(self) -> bool | None:
        """Whether the targets are reached; None if nothing was compared."""
        if self.problem is not None:
            return False
        pairs = ((self.ratio, self.target), (self.ratio_alone, self.target_alone))
        found = [ratio <= target for ratio, target in pairs if ratio is not None and target is not None]
        return all(found) if found else None


def header() -> str:
    return (f"{'workload':<14}{THEIRS:>11}{OURS:>11}{'ratio':>8}{'target':>8}{ALONE:>13}{'ratio':>8}{'target':>8}"
            "  met")


def line(result: Result) -> str:
    times = "".join(f"{duration(result.seconds.get(package)):>11}" for package in (THEIRS, OURS))
    first, second = [f"{'-':>8}{'-':>8}" if ratio is None else f"{ratio:>8.2f}{target:>8.2f}" for ratio, target in (
        (result.ratio, result.target), (result.ratio_alone, result.target_alone))]
    met = {True: "yes", False: "NO", None: "-"}[result.met]
    problem = f"  {result.problem}" if result.problem else ""
    return f"{result.name:<14}{times}{first}{duration(result.seconds.get(ALONE)):>13}{second}  {met}{problem}"


def write_json(results: Iterable[Result], file: str) -> None:
    """Write the figures, and a description of the machine."""
    rows = [
        {
            "name": result.name,
            "summary": result.summary,
            "seconds": result.seconds,
            "ratio": result.ratio,
            "target": result.target,
            "ratio_alone": result.ratio_alone,
            "target_alone": result.target_alone,
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
