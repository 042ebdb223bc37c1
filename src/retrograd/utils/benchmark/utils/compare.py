"""Tables of measured times: a row for each statement, a column for each description."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import Any

from .common import Measurement, magnitude, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

# Codes for a terminal: for times that are so much worse than the best, and for times that are nearly the best.
_WORSE = ((5.0, "\033[31m\033[1m"), (2.0, "\033[2m\033[91m"))
_NEAR = ((1.01, "\033[92m\033[1m"), (1.1, "\033[34m\033[1m"))
_END = "\033[0m\033[0m"


class Colorize(Enum):
    """With which times a time is compared for its color."""

    NONE = auto()
    COLUMNWISE = auto()
    ROWWISE = auto()


class Compare:
    """Shows times in tables, one for each label.

    >>> from retrograd.utils.benchmark import Compare, Measurement, TaskSpec
    >>> specs = [TaskSpec("x + 1", "pass", label="sums", description=name) for name in ("old", "new")]
    >>> print(Compare([Measurement(1, [time], spec) for time, spec in zip((3e-06, 2e-06), specs)]))
    [---------- sums ---------]
                 |  old  |  new
    1 threads: ----------------
          x + 1  |  3.0  |  2.0
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add times. Raises ValueError for other values."""
        results = [*results]
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results += results

    def trim_significant_figures(self) -> None:
        """Show only the digits that are sure."""
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Show the best times of each column, or of each row, in green, and much worse ones in red."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that differ much from measurement to measurement."""
        self._highlight_warnings = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            groups.setdefault(result.task_spec.label, []).append(result)
        return "\n".join([self._table(label or "", results) for label, results in groups.items()])

    def _table(self, label: str, results: list[Measurement]) -> str:
        unit, scale = select_unit(min([result.median for result in results]))
        keys = sorted(ordered_unique([_row(result) for result in results]), key=lambda key: key[:2])
        names = ordered_unique([result.task_spec.description or "" for result in results])
        by_place = {(_row(result), result.task_spec.description or ""): result for result in results}
        cells = [[by_place.get((key, name)) for name in names] for key in keys]
        columns = [self._column(name, [row[i] for row in cells], scale) for i, name in enumerate(names)]
        first = _row_names(keys)
        width = max([len(name) for name in first])
        header = "  |  ".join([" " * width, *(column[0] for column in columns)])
        lines = [f"[{f' {label} '.center(len(header) - 2, '-')}]", header]
        for i, key in enumerate(keys):
            if i == 0 or key[0] != keys[i - 1][0]:
                lines.append(f"{key[0]} threads: ".ljust(len(header), "-"))
            shown = [self._colored(column[i + 1], i, j, cells) for j, column in enumerate(columns)]
            lines.append("  |  ".join([first[i].ljust(width), *shown]))
        lines += ["", f"Times are in {unit_to_english(unit)}s ({unit})."]
        if self._highlight_warnings and any(result.has_warnings for result in results):
            lines.append("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.")
        return "\n".join([*lines, ""])

    def _column(self, name: str, results: list[Measurement | None], scale: float) -> list[str]:
        """The name and the cells of a column, all of one width."""
        found = [result for result in results if result is not None]
        digits = [magnitude(result.median / scale) for result in found]
        decimals = 1
        if self._trim_significant_figures:
            decimals = min([max(result.significant_figures - n, 0) for result, n in zip(found, digits)])
        length = max(digits) + decimals + (1 if decimals else 0)
        marks = [self._mark(result) for result in results]
        room = len(" (! XX%)") if any(marks) else 0
        texts = [name, *("" if result is None else self._time(result, scale, length, decimals) + mark.ljust(room)
                         for result, mark in zip(results, marks))]
        width = max([len(text) for text in texts])
        return [text.center(width) for text in texts]

    def _time(self, result: Measurement, scale: float, length: int, decimals: int) -> str:
        time = result.median / scale
        if self._trim_significant_figures:
            time = trim_sigfig(time, result.significant_figures)
        return f"{time:>{length}.{decimals}f}"

    def _mark(self, result: Measurement | None) -> str:
        if result is None or not self._highlight_warnings or not result.has_warnings:
            return ""
        return f" (! {result.iqr / result.median * 100:.0f}%)"

    def _colored(self, text: str, row: int, column: int, cells: list[list[Any]]) -> str:
        result = cells[row][column]
        if result is None or self._colorize is Colorize.NONE:
            return text
        if self._colorize is Colorize.ROWWISE:
            others = cells[row]
        else:
            others = [line[column] for line in cells if line[column] is not None
                      and line[column].task_spec.num_threads == result.task_spec.num_threads]
        ratio = result.median / min([other.median for other in others if other is not None])
        codes = [code for limit, code in _WORSE if ratio >= limit] + [code for limit, code in _NEAR if ratio <= limit]
        return f"{codes[0]}{text}{_END}" if codes else text


def _row(result: Measurement) -> tuple[int, str, str]:
    """The number of threads, the environment and the name: what makes a row."""
    return result.task_spec.num_threads, result.task_spec.env or "", result.as_row_name


def _row_names(keys: list[tuple[int, str, str]]) -> list[str]:
    """The first column. If there are several environments, the first row of each shows its name."""
    several = len({env for _, env, _ in keys}) > 1
    width = max([len(env) for _, env, _ in keys]) + 4 if several else 4
    names, before = [], None
    for threads, env, name in keys:
        shown = f"({env})" if several and env and (threads, env) != before else ""
        names.append(f"  {shown:<{width}}{name}")
        before = (threads, env)
    return names
