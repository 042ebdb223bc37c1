"""From a traced program to something that runs: passes, units, and the executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..names import reached
from .expansions import expanded
from .fusing import Unit, units
from .native import available
from .numpy_code import NumPyCode
from .program import Program
from .simplify import simplified


class Plan(NamedTuple):
    """A program that can run. `code.run(*arrays)` takes the arrays of the values `given`, and returns the outputs."""

    program: Program
    units: list[Unit]
    code: Any
    given: list[int]
    native: bool


def native(backend: Any) -> bool:
    """Whether plans run as machine code. Raises ImportError if this was asked for and llvmlite is absent."""
    if backend == "llvm" and not available():
        raise ImportError("torch.compile with backend='llvm' needs llvmlite: pip install retrograd[compile]")
    return backend != "numpy" and available()


def planned(program: Program, given: Sequence[int], native: bool) -> Plan:
    """The plan of a program for inputs `given`, which may be other arrays in each run. All other inputs are fixed.

    The loops are machine code if `native`; otherwise NumPy runs them.
    """
    return _with_code(simplified(expanded(program, native)), given, native, True)


def without_leases(plan: Plan) -> Plan:
    """The same plan with new memory for the results of each run."""
    return _with_code(plan.program, plan.given, plan.native, False)


def _with_code(program: Program, given: Sequence[int], native: bool, leasing: bool) -> Plan:
    if native:
        lowered, machine = reached("compilation.lowered"), reached("compilation.machine_code")
    parts = units(program, lowered if native else None)
    executor = machine.MachineCode if native else NumPyCode
    used = {number for line in program.lines for number in line.reads} | {*program.outputs}
    memories = {program.values[number].memory for number in used}
    taken = [number for number in given if number in used or program.values[number].memory in memories]
    code = executor(program, parts, taken, leasing)
    for lease in code.leases.values():
        lease.settle()
    return Plan(program, parts, code, taken, native)
