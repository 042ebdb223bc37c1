"""From a traced program to something that runs: the passes, and the executor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...extras import absent
from ...foundations.names import reached
from ...kernels.native import door
from ..passes.fusing import Unit
from ..passes.order import Work
from ..program.lines import Program
from .numpy_code import NumPyCode, Ready


class Plan:
    """A program that can run, on the arrays of the values `given`.

    `work` has gone through the passes that are not late. The late ones run, and the code is made, when something first
    asks for them: many traces are never repeated.
    """

    def __init__(self, work: Work) -> None:
        self.work, program = work, work.program
        self.program = program
        used = {number for line in program.lines for number in line.reads} | {*program.outputs}
        memories = {program.values[number].memory for number in used}
        self.given = [number for number in work.given if number in used or program.values[number].memory in memories]

    @cached_property
    def passed(self) -> Work:
        """The work after all passes."""
        self.work.lowering = reached("compilation.native.lowered") if self.work.native else None
        self.work.run(late=True)
        return self.work

    @property
    def units(self) -> list[Unit]:
        """The lines in the order in which they run."""
        return self.passed.units

    @cached_property
    def code(self) -> NumPyCode:
        """What runs the units."""
        return executor(self.work.native)(self.program, self.units, self.given, self.passed.stacks)

    @cached_property
    def ready(self) -> Ready:
        """What runs the plan."""
        return self.code.ready

    def begin(self) -> Ready:
        """What runs the plan. The plan itself is of no further use, and lets go of everything else.

        If this is interrupted, it may be called again.
        """
        ready = self.ready
        for name in ("work", "passed", "program", "code"):
            vars(self).pop(name, None)
        ready.leases.settle()
        return ready


def native(backend: Any) -> bool:
    """Whether plans run as machine code. Raises ImportError if this was asked for and llvmlite is absent or off."""
    if backend == "numpy" or (door.why_off and backend != "llvm"):
        return False
    if door.why_off:
        raise ImportError(f"torch.compile with backend='llvm' makes machine code, which is off: {door.why_off}")
    available = bool(reached("compilation.native").available())
    if backend == "llvm" and not available:
        raise absent("compile", "torch.compile with backend='llvm' needs")
    return available


def executor(native: bool) -> type[NumPyCode]:
    """What writes the code of plans."""
    found: type[NumPyCode] = reached("compilation.native.machine_code").MachineCode if native else NumPyCode
    return found


def planned(program: Program, given: Sequence[int], native: bool, sized: bool = False) -> Plan:
    """The plan of a program for inputs `given`, which may be other arrays in each run. All other inputs are fixed.

    A `sized` program is planned like those for other sizes.
    """
    work = Work(program._replace(values=[value.copied() for value in program.values]), given, native, sized)
    work.run(late=False)
    return Plan(work)
