"""The formula of an optimizer as lines of arithmetic: it is computed once, on objects that write the lines.

The objects stand for tensors and for the options of the group (`optim/written.py`). Numbers that follow from options
are computed when the options change, and the lines read them from memory. Numbers that follow from the count of steps
are computed by a function in each run, or by lines if loops are machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from ...ops.basic import cast
from ...ops.elementwise.arithmetic import add
from ...ops.framework import Op
from ...optim.elementwise import ElementsOptimizer
from ...optim.option_memory import OptionMemory
from ...optim.quick_code import CodeWriter
from ...optim.stepping import numbers
from ...optim.written import Number, Options, Unwritten, Written, computing, option_text
from ..program.lines import Arithmetic, Ref
from .line_writer import LineWriter

# The names of the state of a parameter, the names that the formula has yet to make, the arrays, and the numbers.
Row = tuple[tuple[str, ...], tuple[str, ...], list[Ref], list[Ref]]


class PlanWriter:
    """Writes the lines of the step of one parameter, for `Written` tensors. `late` has the numbers that each run makes.
    """

    def __init__(self, writer: LineWriter, memory: OptionMemory | None, late: dict[str, Ref]) -> None:
        self.writer, self.memory, self.late = writer, memory, late

    def operand(self, x: Ref, other: Any) -> Ref:
        """A value or a number as a value of the dtype of `x`."""
        dtype = self.writer.like(x).dtype
        if type(other) is Ref:
            like = self.writer.like(other)
            return other if like.dtype == dtype else self.writer.call(cast, other, dtype, like=np.empty((), dtype))
        if type(other) is not Number:
            return self.writer.constant(other, dtype)
        if other.text in self.late:
            return self.late[other.text]
        if self.memory is None:
            return self.writer.constant(other.value, dtype)  # type: ignore[arg-type]
        names = tuple([name for name in self.memory.options if option_text(name) in other.text])
        compute = computing(other.text)
        array, = self.memory.numbers(
            dtype, other.text, lambda *options: compute(dict(zip(names, options, strict=True)), None), names)
        return self.writer.outside(array)

    def call(self, op: Op, x: Ref, *others: Ref) -> Ref:
        return self.writer.call(op, x, *others, like=np.empty_like(self.writer.like(x)))

    def write(self, op: Op, target: Ref, *args: Ref) -> None:
        self.writer.assign(op, target, *args)

    def copy(self, target: Ref, value: Ref) -> None:
        """Have the line before, which has made the value, write over the target instead."""
        line = self.writer.lines.pop()
        if line.results != (value.number,):
            raise Unwritten("a formula copies what it has not just made")
        self.writer.assign(line.op, target, *line.args)

    def made(self, kernel: Callable[..., Any], *args: Ref) -> Ref:
        raise Unwritten("a formula uses a kernel that is no line")


def group_step(w: LineWriter, rows: list[Row], optimizer: ElementsOptimizer, options: OptionMemory | dict[str, Any],
               lr: tuple[Ref, ...]) -> bool:
    """Write the lines of the steps of the parameters of a group, unless numbers of the state decide about them.

    `lr` is empty, or has the learning rate if this is a tensor.
    """
    if not optimizer.writes_lines or any([missing or w.like(ref).dtype.char not in "fd" for _, missing, refs, _ in rows
                                          for ref in refs]) or any([w.like(ref).ndim for ref in lr]):
        return False
    steps = _Steps(w, optimizer, options, lr)
    for names, _, refs, counts in rows:
        for step in counts:
            w.write(add, step, w.constant(1, w.like(step).dtype))
        steps.write(names, refs, counts)
    return True


class _Steps:
    """Writes the lines of the steps of the parameters of a group."""

    def __init__(self, w: LineWriter, optimizer: ElementsOptimizer, options: OptionMemory | dict[str, Any],
                 lr: tuple[Ref, ...]) -> None:
        self.writer, self.optimizer, self.lr = w, optimizer, lr
        self.memory = options if isinstance(options, OptionMemory) else None
        self.options = options if isinstance(options, dict) else options.options
        self.counts = type(optimizer)._rates is not ElementsOptimizer._rates    # whether the formula needs the count
        self.held: dict[Any, list[Any]] = {}

    def write(self, names: tuple[str, ...], refs: list[Ref], counts: list[Ref]) -> None:
        """Write the lines of a step."""
        late: dict[str, Ref] = {}
        plan, given = PlanWriter(self.writer, self.memory, late), (*(counts if self.counts else ()), *self.lr)
        if self.writer.native:
            known: list[Any] = [Written(plan, self._wide(ref)) for ref in given]
        else:
            known = [Number(None, f"{_LATE}{place}]", []) for place in range(len(given))]
            found = CodeWriter()
            self._compute(found, names, [f"a{place}" for place in range(len(refs))], known)
            late.update(self._late([text for text in found.numbers if _LATE in text], refs[0], given))
        self._compute(plan, names, refs, known)

    def _wide(self, ref: Ref) -> Ref:
        """A number in double precision."""
        return ref if self.writer.like(ref).dtype == F64 else self.writer.call(cast, ref, F64, like=np.empty((), F64))

    def _compute(self, writer: Any, names: tuple[str, ...], refs: Sequence[Any], known: list[Any]) -> None:
        """Compute the formula, with the count of steps and the learning rate as `known`."""
        options = Options({**self.options, "lr": known[-1]} if self.lr else self.options, [])
        rates, _ = self.optimizer._rates({"step": known[0]} if self.counts else {}, options)
        p, g, *kept = [Written(writer, ref) for ref in refs]
        self.optimizer._compute(p, g, dict(zip(names, kept)), rates, options)

    def _late(self, texts: list[str], like: Ref, given: Sequence[Ref]) -> dict[str, Ref]:
        """Values of the numbers with these texts, which a function computes in each run."""
        if not texts:
            return {}
        dtype = self.writer.like(like).dtype
        held = self.held.setdefault((dtype, *texts), [None, None])
        function = Arithmetic(_late_numbers, computing(*texts), dtype, self.memory or self.options, held)
        return dict(zip(texts, self.writer.several(function, *given, likes=(np.empty((), dtype),) * len(texts))))


# How the texts of numbers begin that are known only in a run.
_LATE = "rates["


def _late_numbers(compute: Callable[[Any, Any], tuple[float, ...]], dtype: np.dtype[Any],
                  options: OptionMemory | dict[str, Any], held: list[Any], *arrays: Array) -> tuple[Array, ...]:
    """The numbers of a step. Most parameters have taken the same number of steps, so `held` has the last numbers."""
    known = options.options if isinstance(options, OptionMemory) else options
    given = [array.item() for array in arrays]
    key = (*given, *known.values())
    if held[0] != key:
        held[:] = key, numbers(dtype, *compute(known, given))
    found: tuple[Array, ...] = held[1]
    return found


STEPS: dict[str, Callable[..., bool]] = {"_fused_group_": group_step}
