"""The plan of a compiled call as text: its loops and calls, its memory, and the user's lines that they come from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from ..foundations.dtypes import dtype as torch_dtype
from .execution.plan import Plan, native
from .execution.python_source import Source
from .passes.fusing import Unit
from .program.lines import Line, Value
from .trace.run_once import FirstRun
from .turns import Turn


class Explanation:
    """What `compile` makes of a call. Its text is the plan.

    `reason` says why the call cannot be compiled; it is None if the call can be compiled. `plans` are the forward plan
    and, if the results need gradients, the backward plan. `passes` has for each plan how many lines were traced, and
    how many lines or units each pass has left. `python` is the source that runs, `llvm` and `assembly` are the texts of
    the machine code, which are empty if the package llvmlite is absent.
    """

    def __init__(self, name: str, run: FirstRun) -> None:
        self.name = name
        self.reason = None if run.reason is None else str(run.reason)
        self.plans: list[Plan] = run.plans if run.reason is None else []

    @property
    def passes(self) -> list[dict[str, int]]:
        """For each plan: the passes that it went through, with the number of lines or units that each has left."""
        return [plan.passed.left for plan in self.plans]

    @property
    def python(self) -> str:
        """The Python source that the plans run as."""
        return "\n".join([plan.code.text for plan in self.plans])

    @property
    def llvm(self) -> str:
        """The machine code as LLVM's text."""
        return "\n".join(dict.fromkeys([native.llvm for plan in self.plans for native in plan.code.natives]))

    @property
    def assembly(self) -> str:
        """The machine code as assembly text."""
        return "\n".join(dict.fromkeys([native.assembly for plan in self.plans for native in plan.code.natives]))

    def __str__(self) -> str:
        if self.reason is not None:
            return f"{self.name} runs as it is, since {self.reason}."
        parts = [f"{self.name}"]
        for title, plan in zip(("forward", "backward"), self.plans):
            parts += [f"{title}: {_summary(plan)}", _passes(plan), *_listing(plan)]
        return "\n".join(parts)

    __repr__ = __str__


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Run a call once, for real, and say what `compile` makes of it."""
    function = getattr(function, "_torchdynamo_orig_callable", function)
    turn = Turn()
    with turn, turn:
        turn.take()
        run = FirstRun(function, args, kwargs, False, native(None))
        if run.reason is None:
            run.run()
    return Explanation(getattr(function, "__name__", type(function).__name__), run)


def _summary(plan: Plan) -> str:
    loops = [unit for unit in plan.units if unit.shape is not None]
    calls = sum(len(unit.lines) for unit in plan.units)
    moved = sum(_moved(unit, plan.program.values) for unit in plan.units)
    return (f"{calls} operations in {len(plan.units)} units, {len(loops)} of them loops; "
            f"{plan.code.storage.bytes:,} bytes of buffers; {moved:,} bytes moved")


def _passes(plan: Plan) -> str:
    """What the passes have made of the traced lines. Those that leave as many lines or units as before are left out."""
    left = plan.passed.left
    parts = [f"{left['traced']} lines traced"]
    for before, (name, count) in zip(left.values(), [*left.items()][1:]):
        if name == "loops":
            parts.append(f"{count} {'unit' if count == 1 else 'units'} after loops")
        elif count != before:
            parts.append(f"{count} after {name}")
    return f"  {', '.join(parts)}"


def _moved(unit: Unit, values: list[Value]) -> int:
    """How many bytes a unit reads and writes: each array once."""
    made = {number for line in unit.lines for number in line.results}
    used = {number for line in unit.lines for number in line.reads if number not in made}
    return sum(values[number].like.nbytes for number in used | made if not (
        unit.shape is not None and number in made and len(unit.lines) > 1))


def _listing(plan: Plan) -> list[str]:
    """The units, one operation to a line."""
    text, source = [], Source()
    for unit in plan.units:
        indent = ""
        if unit.shape is not None and len(unit.lines) > 1:
            text.append(f"  for each element of {list(unit.shape)}, {math.prod(unit.shape):,} in all:")
            indent = "  "
        text += [f"  {indent}{_line(line, plan.program.values, source)}" for line in unit.lines]
    if plan.program.outputs:
        text.append("  return " + ", ".join([f"v{number}" for number in plan.program.outputs]))
    return text


def _line(line: Line, values: list[Value], source: Source) -> str:
    """One operation, with the types of its results and the user's line."""
    args = ", ".join([source.argument(arg, lambda number: f"v{number}") for arg in (line.args[1:] if (
        line.write and len(line.args) > 1) else line.args)])
    if line.write:
        left = f"v{line.reads[0]}[...]"
        values_text = ""
    else:
        left = ", ".join([f"v{number}" for number in line.results])
        values_text = ", ".join([_type(values[number]) for number in line.results])
    call = f"{left} = {line.op.name}({args})"
    site = line.site
    place = "" if site is None else f"{os.path.basename(site.code.co_filename)}:{site.line} {site.text}"
    return f"{call:<44} {values_text:<20} # {place}".rstrip(" #")


def _type(value: Value) -> str:
    return f"{str(torch_dtype.of[value.like.dtype]).removeprefix('torch.')}{list(value.like.shape)}"
