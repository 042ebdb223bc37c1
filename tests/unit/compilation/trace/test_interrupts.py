"""Ctrl-C at any line of the compiler: nothing is left in place, and the next calls do what the program does.

Each program is interrupted at all lines that a call runs, the first time and the last time that it runs the line. An
interrupt that Python itself swallows, in the callback of a weak reference, ends nothing, and must change nothing.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import retrograd as torch
from compiled.interrupts import PROGRAMS, Interrupted, Program, difference, interrupted, left_behind, reset
from needing import needs
from retrograd.compilation.program.undoing import Undo

LLVM = pytest.param("llvm", marks=needs("llvmlite"))
BACKENDS = ["numpy", LLVM]
TESTS = Path(__file__).parents[3]
# The calls that are interrupted: the first one, in which each program is traced, and later ones.
CASES = [*[(name, "numpy", 0) for name in PROGRAMS], ("Steps", "llvm", 1), ("Adam", "numpy", 1), ("Sized", "llvm", 1),
         ("Listed", "numpy", 1), ("Steps", "numpy", 2), ("Adam", "llvm", 2), ("Sized", "numpy", 2),
         ("Large", "llvm", 2), ("Outside", "llvm", 2), ("Hooked", "numpy", 1), ("Sized", "llvm", 3),
         ("Sized", "numpy", 4), ("Counting", "llvm", 1), ("Counting", "numpy", 2), ("SizedCounting", "numpy", 1),
         ("SizedCounting", "numpy", 3), ("SizedCounting", "llvm", 4), ("Held", "llvm", 2), ("Held", "numpy", 3),
         ("Held", "llvm", 4)]
PARTS = 24                                                 # cases of a program, which share its lines
SKIPPED = 90                                               # of so many lines of a case one is tried, unless all are
pytestmark = [pytest.mark.filterwarnings("ignore:torch.compile runs (step|<lambda>) as it is"),
              pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]


def places(lines: list[tuple[str, int]]) -> list[int]:
    """When each line runs for the first and for the last time."""
    first, last = dict[tuple[str, int], int](), dict[tuple[str, int], int]()
    for place, line in enumerate(lines):
        first.setdefault(line, place)
        last[line] = place
    return sorted({*first.values(), *last.values()})


@pytest.mark.sampled(4 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(("name", "backend", "call"), [
    pytest.param(*case, marks=needs("llvmlite")) if "llvm" in case else case for case in CASES])
def test_an_interrupt_at_any_line(name: str, backend: str, call: int, part: int,
                                  request: pytest.FixtureRequest) -> None:
    kind = PROGRAMS[name]
    _, _, whole = interrupted(kind, backend, call, None)
    step = PARTS * (1 if request.config.getoption("--thorough") else SKIPPED)
    for place in places(whole.lines)[part::step]:
        program, step, seen = interrupted(kind, backend, call, place)
        where = seen.lines[-1]
        left = left_behind(program)
        if left:
            reset()
        assert not left, f"{left} after an interrupt at {where}"
        assert not difference(program, step, call, backend == "numpy"), where


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["Steps", "Adam", "Sized", "Large"])
def test_signals_at_random_moments(name: str, backend: str) -> None:
    _run_apart(name, backend)


def test_signals_while_other_threads_call_compiled_functions() -> None:
    _run_apart("threads")


def _run_apart(*words: str) -> None:
    """Run the program that interrupts itself. A signal must not reach what runs the tests."""
    done = subprocess.run([sys.executable, "-m", "compiled.signals", *words], cwd=TESTS, capture_output=True, text=True,
                          timeout=600)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_what_two_exits_have_left_is_given_back_by_the_next_trace() -> None:
    program, made = PROGRAMS["Gradients"](), list[int]()
    undo, interrupts = Undo(), [KeyboardInterrupt, KeyboardInterrupt]

    def give_back() -> None:
        if interrupts:
            raise interrupts.pop()
        made.append(1)

    with pytest.raises(KeyboardInterrupt), undo, undo:
        undo.note(give_back)
    assert not made
    torch.compile(program.step, backend="numpy")(program.batch(0))
    assert made == [1]
    assert not Undo.begun


def test_an_error_in_one_step_does_not_stop_the_others() -> None:
    made, undo = list[int](), Undo()

    def fail() -> None:
        raise ValueError("the first")

    for step in (lambda: made.append(1), fail, lambda: made.append(2)):
        undo.note(step)
    with pytest.raises(ValueError, match="the first"), undo, undo:
        pass
    assert made == [2, 1]


def test_the_programs_of_these_tests_are_traced_and_repeated() -> None:
    for name, kind in PROGRAMS.items():
        program: Program = kind()
        step = torch.compile(program.step, backend="numpy")
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for call in range(5):
                step(program.batch(call))
        assert bool(found) is (name == "Looks")
        with Interrupted(None) as lines:
            step(program.batch(5))
        assert any([file.startswith("<compiled") for file, _ in lines.lines]) is (name != "Looks")
