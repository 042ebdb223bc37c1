"""From a traced program to something that runs: passes, units, and the executor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..names import reached
from .expansions import expanded
from .fusing import Unit, units
from .native import available
from .numpy_code import NumPyCode
from .program import Program
from .simplify import simplified, with_constants


class Plan:
    """A program that can run. `code.run(*arrays)` takes the arrays of the values `given`, and returns the outputs.

    The loops are machine code if `native`; otherwise NumPy runs them. If `leasing`, results lie in memory that is lent
    to the program. The units and the code are made when they are first asked for: many traces are never repeated.
    """

    def __init__(self, program: Program, given: Sequence[int], native: bool, leasing: bool) -> None:
        self.program, self.native, self.leasing = program, native, leasing
        used = {number for line in program.lines for number in line.reads} | {*program.outputs}
        memories = {program.values[number].memory for number in used}
        self.given = [number for number in given if number in used or program.values[number].memory in memories]

    @cached_property
    def units(self) -> list[Unit]:
        """The lines in the order in which they run."""
        return units(self.program, reached("compilation.lowered") if self.native else None)

    @cached_property
    def code(self) -> NumPyCode:
        """What runs the units."""
        executor = reached("compilation.machine_code").MachineCode if self.native else NumPyCode
        code: NumPyCode = executor(self.program, self.units, self.given, self.leasing)
        for lease in code.leases.values():
            lease.settle()
        return code

    def unleased(self) -> Plan:
        """The same plan with new memory for the results of each run."""
        return Plan(self.program, self.given, self.native, False)


def native(backend: Any) -> bool:
    """Whether plans run as machine code. Raises ImportError if this was asked for and llvmlite is absent."""
    if backend == "llvm" and not available():
        raise ImportError("torch.compile with backend='llvm' needs llvmlite: pip install retrograd[compile]")
    return backend != "numpy" and available()


def planned(program: Program, given: Sequence[int], native: bool) -> Plan:
    """The plan of a program for inputs `given`, which may be other arrays in each run. All other inputs are fixed."""
    program = program._replace(values=[value.copied() for value in program.values])      # other plans have them, too
    return Plan(simplified(expanded(with_constants(program), native)), given, native, True)

