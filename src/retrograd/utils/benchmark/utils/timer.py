"""Times a statement: so many runs, or as long as it takes to be sure."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from enum import Enum
from textwrap import dedent
from timeit import default_timer as timer
from typing import Any, NoReturn

from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Timer", "timer", "Language"]

_MOST_RUNS = 2147483647
_PACKAGE = __name__.partition(".")[0]


class Language(Enum):
    """The language of a statement."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Times a statement of Python, which sees `globals` and the package under the name `torch`.

    The label, the second label, the description and the environment are for tables. Raises ValueError for a statement
    that is no string, and for a wrong language. Statements of C++ raise RuntimeError.

    >>> from retrograd.utils.benchmark import Timer
    >>> Timer("torch.ones(2) + x", globals={"x": 1}).timeit(5).number_per_run
    5
    """

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None, label: str | None = None,
                 sub_label: str | None = None, description: str | None = None, env: str | None = None,
                 num_threads: int = 1, language: Language | str = Language.PYTHON) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, Language.CPP, "py", "python", "c++", "cpp"):
            raise ValueError(f"Invalid language `{language}`.")
        if language in (Language.CPP, "c++", "cpp"):
            raise RuntimeError("retrograd compiles no C++, so it cannot time C++. Time a statement of Python.")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be "
                             "moved to `setup`.")
        stmt, setup = (dedent(text).strip() for text in (stmt, setup))
        seen = {"torch": sys.modules[_PACKAGE], **(globals or {})}
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=seen)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Time this number of runs, after some runs to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timer.timeit(max(number // 100, 2))
            return Measurement(number, [self._timer.timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """Raises NotImplementedError, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> NoReturn:
        """Raises NotImplementedError, as in PyTorch."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(self, callback: Callable[[int, float], NoReturn] | None = None,
                          min_run_time: float = 0.2) -> Measurement:
        """Time blocks of runs until they have taken `min_run_time` seconds in all.

        A block has so many runs that the cost of the clock does not count.
        """
        number = self._block_size(min_run_time)
        times = self._blocks(number, min_run_time, callback or (lambda number, time: None))
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
                           callback: Callable[[int, float], NoReturn] | None = None) -> Measurement:
        """Time blocks of runs until the times are sure, or until `max_run_time` seconds.

        The times are sure if the distance of their quartiles is less than `threshold` of the median.
        """
        number = self._block_size(min_run_time)
        found = Measurement(number, [], self._task_spec)
        while sum(found.raw_times) < max_run_time:
            times = self._blocks(number, min_run_time, callback or (lambda number, time: None))
            found = Measurement(number, found.raw_times + times, self._task_spec)
            if found.meets_confidence(threshold):
                break
        return found

    def _block_size(self, min_run_time: float) -> int:
        """How many runs make a block that takes long enough."""
        with set_torch_threads(self._task_spec.num_threads):
            clock = sorted([self._timer.timeit(0) for _ in range(5)])[2]
            number = 1
            while True:
                time = self._timer.timeit(number)
                sure = clock / max(time, 1e-30) <= 1e-4 and time >= min_run_time / 1000
                if sure or time > min_run_time or number * 10 > _MOST_RUNS:
                    return number
                number *= 10

    def _blocks(self, number: int, least: float, callback: Callable[[int, float], Any]) -> list[float]:
        """The times of blocks, until they are `least` seconds in all."""
        times: list[float] = []
        with set_torch_threads(self._task_spec.num_threads):
            while not times or sum(times) < least:
                times.append(self._timer.timeit(number))
                callback(number, times[-1])
        return times

    def collect_callgrind(self, number: int = 100, *, repeats: int | None = None, collect_baseline: bool = True,
                          retain_out_file: bool = False) -> NoReturn:
        """PyTorch counts instructions with Valgrind. This method raises RuntimeError."""
        raise RuntimeError("retrograd does not count instructions with Callgrind. Use Timer.blocked_autorange.")
