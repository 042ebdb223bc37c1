"""The passes in their order: what happens to a traced program until an executor writes its code.

Every plan goes through `PASSES`. Those that are `late` wait until the plan first runs, since many traces are never
repeated. What a pass does is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from ...foundations.names import reached
from ...ops.framework import Op
from ..program.lines import Program, Ref, Value
from ..program.stand_ins import let_go
from .expansions import EXPANSIONS, expanded
from .formula_lines import STEPS
from .fusing import Lowering, Unit, units
from .simplify import with_constants, with_equal_constants, with_shared_results, without_detours, without_unused
from .stacks import Stacks


class Work:
    """A program on its way to code, for inputs `given`, which may be other arrays in each run.

    `native` says whether machine code will run the loops, and `lowering` says which lines have machine code. A `sized`
    program is planned like those for other sizes, and `measured` are the values that say which of its loops are small.
    The passes `loops` and `stacks` make the units and the stacks. `left` says how many lines the program had, and how
    many lines or units each pass has left.
    """

    def __init__(self, program: Program, given: Sequence[int], native: bool, sized: bool = False,
                 lowering: Lowering | None = None, measured: list[Value] | None = None) -> None:
        self.program, self.given, self.native, self.sized = program, given, native, sized
        self.lowering, self.measured = lowering, measured
        self.constants: dict[Any, Ref] = {}                # that passes have made, since equal ones are one value
        self.units: list[Unit] = []
        self.stacks: Stacks | None = None
        self.left = {"traced": len(program.lines)}

    def run(self, late: bool) -> None:
        """Run the late passes, or the others. Late passes may run again if they were interrupted."""
        executor = "native" if self.native else "numpy"
        for each in PASSES:
            if each.late == late and each.executor in (executor, "both") and (each.sized or not self.sized):
                self.left[each.name] = each.run(self)


class Pass(NamedTuple):
    """A pass: `run` changes a `Work`, and returns how many lines or units it has left.

    `executor` says for which one it runs, and `sized` whether it runs for a program of all sizes.
    """

    name: str
    run: Callable[[Work], int]
    executor: Literal["both", "numpy", "native"] = "both"
    sized: bool = True
    late: bool = False


def _on_program(change: Callable[[Program], Program], work: Work) -> int:
    work.program = change(work.program)
    return len(work.program.lines)


def _release(work: Work) -> int:
    """Let go of the arrays of the traced run, except arrays that the plan reads. A plan asks only how they lie."""
    program = work.program
    used = {number for line in program.lines for number in line.reads} | {*program.outputs}
    let_go(program.values, {number for number in used - {*work.given} if program.values[number].source != "line"})
    return len(program.lines)


def _taken_apart(tables: Callable[[], Any], work: Work) -> int:
    """Take lines apart: by the operator, or, if they write, by its name."""
    work.program = expanded(work.program, tables(), work.native, work.constants)
    return len(work.program.lines)


def _networks() -> dict[Op, Callable[..., bool]]:
    tables: dict[Op, Callable[..., bool]] = {}
    for module, name in (("statistics", "STATISTICS"), ("losses", "LOSSES"), ("networks", "NETWORKS")):
        tables |= getattr(reached(f"compilation.passes.{module}"), name)
    return tables


def _loops(work: Work) -> int:
    work.units = units(work.program, work.lowering, work.measured)
    return len(work.units)


def _stacks(work: Work) -> int:
    work.stacks = Stacks(work.program, work.units)
    return len(work.stacks.units)


_FORMULAS: dict[Any, Callable[..., bool]] = {**EXPANSIONS, **STEPS}
PASSES = (
    # Lines that compute the same numbers in each run are computed now.
    Pass("constants", partial(_on_program, with_constants)),
    # Constants of a program for all sizes are computed again for other sizes.
    Pass("equal constants", partial(_on_program, with_equal_constants), sized=False),
    Pass("release", _release, sized=False),
    # Means, squared losses, steps of optimizers; variances, norms, losses, softmax; attention; joins as writes.
    Pass("formulas", partial(_taken_apart, lambda: _FORMULAS)),
    Pass("networks", partial(_taken_apart, _networks), "native"),
    Pass("attention", partial(_taken_apart, lambda: reached("compilation.passes.attention").ATTENTION), "native",
         sized=False),
    Pass("joins", partial(_taken_apart, lambda: reached("compilation.passes.joins").JOINS), "native", sized=False),
    # Products with vectors, and outer products, as elementwise lines and sums.
    Pass("products", partial(_taken_apart, lambda: reached("compilation.passes.products").PRODUCTS), "native",
         sized=False),
    # Copies that nobody needs, the same call again, and lines whose results nobody uses.
    Pass("detours", partial(_on_program, without_detours)),
    Pass("repeats", partial(_on_program, with_shared_results)),
    Pass("unused", partial(_on_program, without_unused)),
    # Lines in loops; small loops of one kind as one call. Nothing is joined only because it is small for one size.
    Pass("loops", _loops, late=True),
    Pass("stacks", _stacks, "numpy", sized=False, late=True),
)
