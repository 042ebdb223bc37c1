"""torch.utils.benchmark: how measured times are shown and compared. Facts taken from PyTorch 2.13."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils.benchmark import (
    Compare,
    Language,
    Measurement,
    TaskSpec,
    Timer,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)


def measured(*times: float, runs: int = 1, **names: Any) -> Measurement:
    return Measurement(runs, [*times], TaskSpec(**{"stmt": "x + 1", "setup": "pass", "description": "d", **names}))


def test_units_and_digits() -> None:
    assert [select_unit(t)[0] for t in (1e-10, 1e-9, 1e-6, 2e-4, 1e-3, 0.5, 1)] == [
        "s", "ns", "us", "us", "ms", "ms", "s"]
    assert [unit_to_english(unit) for unit in ("ns", "s")] == ["nanosecond", "second"]
    assert [trim_sigfig(x, 2) for x in (12345, 0.00123456, -5.55)] == [12000.0, 0.0011999999405816197,
                                                                       -5.599999904632568]
    assert ordered_unique([3, 1, 3, 2, 1]) == [3, 1, 2]


def test_a_task_has_a_title_and_a_summary() -> None:
    task = TaskSpec("x\ny", "a\nb", sub_label="S", description="D")
    assert task.title == "stmt: (S)\n  x\n  y"
    assert task.summarize() == "stmt: (S)\n  x\n  y\n\nD\nsetup:\n  a\n  b\n"
    assert (TaskSpec("x", "y").setup_str(), TaskSpec("x", "pass").setup_str()) == ("setup: y", "")
    with pytest.raises(FrozenInstanceError):
        task.stmt = "z"  # type: ignore[misc]


def test_a_measurement_says_how_sure_it_is() -> None:
    found = measured(*[1e-6 * (1 + i) for i in range(10)], runs=10, label="L", sub_label="S", num_threads=4)
    assert repr(found).partition("\n")[2].split("\n") == [
        "L: S", "d", "  Median: 550.00 ns", "  IQR:    450.00 ns (325.00 to 775.00)",
        "  10 measurements, 10 runs per measurement, 4 threads",
        "  WARNING: Interquartile range is 81.8% of the median measurement.",
        "           This suggests significant environmental influence."]
    assert (found.significant_figures, found.has_warnings, found.description, found.num_threads) == (1, True, "d", 4)
    assert repr(measured(1.23456e-6)).partition("\n")[2] == "x + 1\nd\n  1.23 us\n  1 measurement, 1 runs , 1 thread"
    assert "This could indicate system fluctuation." in repr(measured(1., 1., 1.2, 1.15, 1.3, 1.1))
    assert measured(1., 1.001, 1.002, 1.003, 1.004, 1.005).significant_figures == 3
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'nope'"):
        found.nope  # noqa: B018


def test_times_of_one_task_are_joined() -> None:
    merged = Measurement.merge([measured(1.), measured(3., runs=2), measured(3., label="k")])
    assert [(found.raw_times, found.number_per_run, found.label) for found in merged] == [
        ([1., 1.5], 1, None), ([3.], 1, "k")]


def test_a_table_compares_times() -> None:
    results = [measured(1e-6 * (i + 1) ** 2, label="lab", sub_label=sub, description=description, num_threads=threads)
               for i, (threads, sub, description) in enumerate(
                   [(1, "s1", "old"), (1, "s1", "new"), (1, "s2", "old"), (2, "s1", "new")])]
    compare = Compare(results)
    assert str(compare).split("\n") == [
        "[--------- lab ---------]",
        "          |  old  |  new ",
        "1 threads: --------------",
        "      s1  |  1.0  |   4.0",
        "      s2  |  9.0  |      ",
        "2 threads: --------------",
        "      s1  |       |  16.0",
        "",
        "Times are in microseconds (us).",
        ""]
    compare.colorize()
    assert "\033[31m\033[1m9.0\033[0m\033[0m" in str(compare)
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'> instead"):
        compare.extend_results([3])  # type: ignore[list-item]


def test_statements_are_timed() -> None:
    calls: list[int] = []
    timer = Timer("\n  f(1)\n  torch.ones(2)\n", "  f(0)", globals={"f": calls.append})
    assert timer.timeit(5).number_per_run == 5
    assert calls == [0, 1, 1, 0, 1, 1, 1, 1, 1]
    assert timer.blocked_autorange(min_run_time=0.001).median > 0
    assert timer.adaptive_autorange(min_run_time=0.001, max_run_time=0.01).median > 0
    assert timer.timeit(1).task_spec.stmt == "f(1)\ntorch.ones(2)"
    threads = torch.get_num_threads()
    Timer("pass", num_threads=threads + 1).timeit(1)
    assert torch.get_num_threads() == threads


def test_what_cannot_be_timed() -> None:
    with pytest.raises(RuntimeError, match="retrograd compiles no C"):
        Timer("x", language=Language.CPP)
    with pytest.raises(ValueError, match="Invalid language `y`"):
        Timer("x", language="y")
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="global_setup is C\\+\\+ only, got `x`"):
        Timer("1", global_setup="x")
    with pytest.raises(RuntimeError, match="retrograd does not count instructions with Callgrind"):
        Timer("1").collect_callgrind()
    for call in (Timer("1").repeat, Timer("1").autorange):
        with pytest.raises(NotImplementedError, match="See `Timer.blocked_autorange.`"):
            call()
