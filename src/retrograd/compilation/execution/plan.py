"""From a traced program to something that runs: passes, units, and the executor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...extras import absent
from ...kernels.native import door
from ...names import reached
from ..passes.expansions import expanded
from ..passes.fusing import Unit, units
from ..passes.simplify import simplified, with_constants
from ..program.lines import Program
from ..program.stand_ins import let_go
from .numpy_code import NumPyCode, Ready


class Plan:
    """A program that can run, on the arrays of the values `given`.

    The loops are machine code if `native`; otherwise NumPy runs them. The units and the code are made when they are
    first asked for: many traces are never repeated.
    """

    def __init__(self, program: Program, given: Sequence[int], native: bool) -> None:
        self.program, self.native = program, native
        used = {number for line in program.lines for number in line.reads} | {*program.outputs}
        memories = {program.values[number].memory for number in used}
        self.given = [number for number in given if number in used or program.values[number].memory in memories]

    @cached_property
    def units(self) -> list[Unit]:
        """The lines in the order in which they run."""
        return units(self.program, reached("compilation.native.lowered") if self.native else None)

    @cached_property
    def code(self) -> NumPyCode:
        """What runs the units."""
        executor = reached("compilation.native.machine_code").MachineCode if self.native else NumPyCode
        code: NumPyCode = executor(self.program, self.units, self.given)
        return code

    @cached_property
    def ready(self) -> Ready:
        """What runs the plan."""
        return self.code.ready

    def begin(self) -> Ready:
        """What runs the plan. The plan itself is of no further use, and lets go of everything else.

        If this is interrupted, it may be called again.
        """
        ready = self.ready
        for name in ("program", "units", "code"):
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


def planned(program: Program, given: Sequence[int], native: bool, sized: bool = False) -> Plan:
    """The plan of a program for inputs `given`, which may be other arrays in each run. All other inputs are fixed.

    A `sized` program is planned like those for other sizes.
    """
    program = with_constants(program._replace(values=[value.copied() for value in program.values]))
    used = {number for line in program.lines for number in line.reads} | {*program.outputs}
    if not sized:                                          # whose constants are computed again for other sizes
        let_go(program.values, {number for number in used - {*given} if program.values[number].source != "line"})
    return Plan(simplified(expanded(program, native, sized)), given, native)
