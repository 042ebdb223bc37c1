"""`retrograd compare`, as far as it needs no PyTorch: what differs between two results, and which steps are pairs."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograd.command import compare, difference
from retrograd.command.difference import Tolerance, between
from retrograd.command.steps import Array, Step

USUAL = Tolerance(None, None)


def tensor(*numbers: Any, dtype: str = "float32") -> Array:
    values = np.array(numbers, dtype)
    return Array(f"torch.{dtype}", values.shape, values)


def step(*found: Any, name: str = "exp", line: int = 3, error: str = "") -> Step:
    return Step(name, "train.py", line, [*found], error)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (step(tensor(1, 2)), step(tensor(1, 2 + 2e-6))),
        (step(tensor(1, np.nan, np.inf)), step(tensor(1, np.nan, np.inf))),
        (step(tensor()), step(tensor())),
        (step(0.1), step(0.1 + 1e-8)),
        (step(3, True, float("nan")), step(3, True, float("nan"))),
        (step(error="RuntimeError"), step(error="RuntimeError")),
        (step(Array("torch.float32", (2,), None)), step(Array("torch.float32", (2,), None))),
    ],
)
def test_results_that_agree(one: Step, other: Step) -> None:
    assert between(one, other, USUAL) == ""


@pytest.mark.parametrize(
    ("one", "other", "row"),
    [
        (step(tensor(1, 2)), step(tensor(1, 2.001)), "at [1]      2.0            2.000999927520752"),
        (step(tensor(1, 2)), step(tensor(1, np.nan)), "difference  inf"),
        (step(tensor(1)), step(tensor(1, dtype="float64")), "dtype   torch.float32  torch.float64"),
        (step(tensor(1)), step(tensor(1, 1)), "shape   [1]            [2]"),
        (step(tensor(1, dtype="int64")), step(tensor(2, dtype="int64")), "difference  1"),
        (step(tensor(0, 2**60, dtype="int64")), step(tensor(0, 2**60 + 1, dtype="int64")), "difference  1"),
        (step(tensor(5, dtype="uint8")), step(tensor(7, dtype="uint8")), "difference  2"),
        (step(tensor(True, dtype="bool")), step(tensor(False, dtype="bool")), "at [0]      True        False"),
        (step(Array("torch.int64", (), np.array(3))), step(Array("torch.int64", (), np.array(4))), "there       3"),
        (step(1), step(1.0), "type   int      float"),
        (step(1.0), step(1.1), "value  1.0      1.1"),
        (step(1), step(2), "value  1        2"),
        (step(tensor(1), tensor(2)), step(tensor(1), tensor(3)), "result      2 of 2"),
        (step(tensor(1)), step(tensor(1), tensor(2)), "results  1        2"),
        (step(error="RuntimeError"), step(tensor(1)), "ended with  RuntimeError  a result"),
    ],
)
def test_results_that_differ_are_shown(one: Step, other: Step, row: str) -> None:
    lines = between(one, other, USUAL).splitlines()
    assert lines[0].split() == ["PyTorch", "retrograd"]
    assert [line for line in lines if line.startswith(row)], lines


def test_a_tolerance_is_for_numbers_with_fractions() -> None:
    wide = Tolerance(0.1, 0.0)
    assert between(step(tensor(1.0)), step(tensor(1.05)), wide) == ""
    assert between(step(tensor(10, dtype="int64")), step(tensor(11, dtype="int64")), wide)


class Side(compare._Side):
    """A run whose steps are known."""

    def __init__(self, *lines: int, end: str = "exit status 0") -> None:
        self.package, self.end, self.skipped = "", end, 0
        self.steps = compare.deque(step(tensor(line), line=line) for line in lines)


@pytest.mark.parametrize(
    ("theirs", "ours", "pairs", "skipped"),
    [
        ([1, 2, 3], [1, 2, 3], [1, 2, 3], 0),
        ([1, 9, 2], [1, 2], [1, 2], 1),
        ([1, 2], [8, 9, 1, 2], [1, 2], 2),
        ([7, 1], [8, 9, 1], [1], 3),
        ([1, 2], [3, 4], [], 0),
        ([], [1], [], 0),
    ],
)
def test_steps_of_one_run_are_left_out(theirs: list[int], ours: list[int], pairs: list[int], skipped: int) -> None:
    left, right = Side(*theirs), Side(*ours)
    found = [*compare._pairs(left, right)]
    assert [(one.line, other.line) for one, other in found] == [(line, line) for line in pairs]
    assert left.skipped + right.skipped == skipped


@pytest.mark.parametrize(
    ("theirs", "ours", "status", "said"),
    [
        (Side(1, 2), Side(1, 2), 0, "All 2 steps agree. Both runs ended with exit status 0"),
        (Side(1, 5), Side(5), 0, "The only step agrees. 1 step that only one run makes was left out. Both runs ended"),
        (Side(1, 2, 5), Side(5), 0, "The only step agrees. 2 steps that only one run makes were left out. Both runs"),
        (Side(), Side(), 0, "All 0 steps agree. Both runs ended with exit status 0"),
        (Side(1, end="ValueError: a"), Side(1, end="ValueError: b"), 0,
         "The only step agrees. Both runs ended with ValueError: b"),
        (Side(1), Side(1, end="exit status 1"), 1, "From here on the two runs differ."),
        (Side(1, 2), Side(1), 1, "From here on the two runs differ."),
    ],
)
def test_the_end_is_compared(
    theirs: Side, ours: Side, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare._compared(theirs, ours, USUAL) == status
    assert capsys.readouterr().out.startswith(said)


def test_nothing_to_compare_is_no_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare._compared(Side(end="EOFError: EOF"), Side(end="EOFError: EOF"), USUAL) == 2
    assert capsys.readouterr().err == "Nothing was compared. Both runs ended with EOFError: EOF\n"


@pytest.mark.parametrize(("count", "said"), [
    (0, "It is the first step."), (1, "The step before agrees."), (2, "The 2 steps before agree.")])
def test_the_steps_before_are_counted(count: int, said: str) -> None:
    assert compare._before(count) == said


def test_long_values_are_short() -> None:
    assert difference._short(np.arange(100.0)) == "[ 0., 1., ..., 98., 99.]"
    assert difference._short(None) == "not shown"


@pytest.mark.parametrize(
    ("here", "arguments", "message"),
    [
        (False, ["train.py"], "retrograd: to compare, PyTorch must be installed beside retrograd: pip install torch\n"),
        (True, ["-"], "retrograd compare: standard input cannot be given to two runs; name a file\n"),
        (True, ["none.py"], "retrograd: can't open file 'none.py': it is no file\n"),
    ],
)
def test_what_cannot_be_compared_is_said(here: bool, arguments: list[str], message: str, tmp_path: Path) -> None:
    program = f"""
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: {here} or None if name == "torch" else found(name, *rest)
from retrograd.command.cli import main
main(["compare", *{arguments}])
"""
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", message)


def test_an_interrupt_waits_until_a_process_has_started() -> None:
    started = []

    def start() -> None:
        with compare._holding_interrupts():
            signal.raise_signal(signal.SIGINT)
            started.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)    # programs in the background ignore interrupts
    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        signal.signal(signal.SIGINT, before)
    assert started


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="two runs need PyTorch")
@pytest.mark.skipif(os.name == "nt", reason="an interrupt of Windows reaches all processes of a console")
def test_an_interrupt_ends_both_runs_without_a_report(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("import torch, time\nprint('runs', flush=True)\ntime.sleep(300)")
    heard = ("import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
             "from retrograd.command.cli import main; main(sys.argv[1:])")
    with subprocess.Popen([sys.executable, "-c", heard, "compare", "long.py"], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "runs\n"
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == ""
