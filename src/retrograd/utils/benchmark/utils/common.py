"""Measured times, what they are times of, and how they are shown."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np

from ....foundations.dtypes import float64
from ....tensors.face.threading import get_num_threads, set_num_threads
from ....tensors.functions.creation.creation import tensor

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique",
           "set_torch_threads"]

_MOST_FIGURES = 4
_LEAST_INTERVAL = 25e-9     # seconds; a clock is not more exact
_WARN, _WARN_STRONGLY = 0.1, 0.25
_UNITS = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


@dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What was timed: a statement with its setup, and the names under which tables show the times."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label or the statement, with the second label."""
        name = self.label or (None if "\n" in self.stmt else self.stmt)
        if name is not None:
            return f"{name}: {self.sub_label}" if self.sub_label else name
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup as a report shows it: nothing if there is none."""
        if self.setup in ("", "pass"):
            return ""
        return f"setup:\n{indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The title, the description and the setup."""
        parts = [part for part in (self.title, self.description, self.setup_str()) if part]
        return "\n".join([f"{part}\n" if "\n" in part else part for part in parts])


@dataclass(init=True, repr=False)
class Measurement:
    """Times in seconds. Each of `raw_times` is the time of `number_per_run` runs of the statement.

    >>> from retrograd.utils.benchmark import Measurement, TaskSpec
    >>> found = Measurement(10, [2e-05, 3e-05, 4e-05], TaskSpec("x + 1", "pass"))
    >>> found.median, found.title
    (3e-06, 'x + 1')
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        self._known: tuple[float, float, float, float] | None = None

    def __getattr__(self, name: str) -> Any:
        """The names of the task are those of its times, too."""
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """The time of one run, for each measured time."""
        return [time / self.number_per_run for time in self.raw_times]

    def _figures(self) -> tuple[float, float, float, float]:
        """The median, the mean, and the quartiles. All are -1 if there are no times."""
        if self._known is None and self.raw_times:
            found = tensor(sorted(self.times), dtype=float64)
            self._known = (found.quantile(0.5).item(), found.mean().item(), found.quantile(0.25).item(),
                           found.quantile(0.75).item())
        return self._known or (-1.0, -1.0, -1.0, -1.0)

    @property
    def median(self) -> float:
        """The median time of a run."""
        return self._figures()[0]

    @property
    def mean(self) -> float:
        """The mean time of a run."""
        return self._figures()[1]

    @property
    def iqr(self) -> float:
        """The distance between the first and the third quartile."""
        _, _, first, third = self._figures()
        return third - first

    @property
    def significant_figures(self) -> int:
        """How many digits of the median are sure: 1 to 4.

        The times between the quartiles give the interval in which the median lies with a probability of 0.9.
        """
        times = sorted(self.times)
        middle = tensor(times[len(times) // 4: math.ceil(3 * len(times) / 4)], dtype=float64)
        interval = max(1.645 * middle.std(unbiased=False).item() / math.sqrt(len(middle)), _LEAST_INTERVAL)
        digits = math.floor(_log10(self.median / interval))
        return min(max(digits, 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ so much that a report warns."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WARN) -> bool:
        """Whether the distance of the quartiles is less than this part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The title of the task."""
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        """The environment of the task."""
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of the row of a table: the second label, or the statement."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count, runs, threads = len(self.raw_times), self.number_per_run, self.task_spec.num_threads
        lines = [object.__repr__(self), self.task_spec.summarize(),
                 f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}"]
        if count >= 4:
            _, _, first, third = self._figures()
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({first / scale:.2f} to {third / scale:.2f})")
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {runs} runs "
                     f"{'per measurement' if count > 1 else ''}, {threads} thread"
                     f"{'s' if threads > 1 else ''}")
        if self.has_warnings:
            said = ("This suggests significant environmental influence." if not self.meets_confidence(_WARN_STRONGLY)
                    else "This could indicate system fluctuation.")
            share = self.iqr / self.median * 100
            lines += [f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.",
                      f"           {said}"]
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Join the times of each task. Every time is then the time of one run."""
        found: dict[TaskSpec, list[float]] = defaultdict(list)
        for measurement in measurements:
            found[measurement.task_spec] += measurement.times
        return [Measurement(1, times, spec) for spec, times in found.items()]


def select_unit(t: float) -> tuple[str, float]:
    """The unit that suits a time in seconds, and the unit in seconds.

    >>> from retrograd.utils.benchmark import select_unit
    >>> select_unit(2e-05)
    ('us', 1e-06)
    """
    power = int(_log10(t) // 3)
    return {-3: "ns", -2: "us", -1: "ms"}.get(power, "s"), {-3: 1e-9, -2: 1e-6, -1: 1e-3}.get(power, 1)


def unit_to_english(u: str) -> str:
    """The name of a unit: 'ns', 'us', 'ms' or 's'."""
    return _UNITS[u]


def trim_sigfig(x: float, n: int) -> float:
    """A number rounded to n significant digits, as a float32."""
    if n != int(n):
        raise AssertionError("n must be an integer")
    scale = 10 ** (magnitude(abs(x)) - n)
    return (tensor(x) / scale).round().mul(scale).item()


def _log10(x: float) -> float:
    """The logarithm as a float32: what PyTorch decides by."""
    return float(np.float32(math.log10(np.float32(x))))


def magnitude(x: float) -> int:
    """How many digits stand before the point, at least if x is no power of 10."""
    return math.ceil(_log10(x))


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The different elements, in order of first appearance."""
    return [*dict.fromkeys(elements)]


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Compute with n threads in the block."""
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
