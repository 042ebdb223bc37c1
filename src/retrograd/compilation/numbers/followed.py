"""Learning rates that the program itself reads or writes in a call, as in `optimizer.param_groups[0]["lr"] = 0.1`.

A stand-in for a number (`numbers`) replaces such a rate while a call is traced. The step of the optimizer
reads the rate from an `OptionMemory`. Before each run of the plan, the recipe computes the rate of the step, from what
the guard has found, and writes it there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...optim.option_memory import Option, OptionMemory
from ..program.expressions import Expression, constant
from ..program.formulas import Formulas, Maker
from ..program.stand_in_numbers import FloatNumber
from ..reach.items import Item, State
from ..reach.put_off import READING, WHERE
from ..reach.strict import may_be_strict


def may_follow(state: State) -> bool:
    """Whether stand-ins can replace learning rates that the program may read or write."""
    return READING & state.mentioned == WHERE and not may_be_strict(state)


class Followed:
    """The learning rate of one group. `rate` is what the step of the optimizer has read; None if it has read none."""

    def __init__(self, group: dict[str, Any], item: Item, memory: OptionMemory, option: Option, tape: Any) -> None:
        self.group, self.item, self.memory, self.option, self.tape = group, item, memory, option, tape
        self.rate: Expression | None = None

    def read(self) -> None:
        """Note that the step of the optimizer reads the rate, and give its memory the present one."""
        rate = self.present()
        if rate is None or rate.of_tape or rate.is_late or self.option.refuses(rate.value):
            self.tape.give_up("the program sets a learning rate that no run of a plan can read")
        elif self.rate is None:
            self.rate = rate
        elif self.rate is not rate and (self.rate.what != "constant" or rate.what != "constant"
                                        or self.rate.value != rate.value):
            self.tape.give_up("the program steps an optimizer twice in a call, with different learning rates")

    def present(self) -> Expression | None:
        """The rate that stands in the group now; None if it is no float."""
        rate = self.group.get("lr")
        if type(rate) is FloatNumber and rate.numbers is self.tape.numbers:
            return rate.expression
        return constant(rate) if type(rate) is float else None

    def kept(self) -> None:
        """Note that the trace has kept the value of the rate, so that another value needs another trace."""
        numbers = self.tape.numbers
        if numbers is not None:
            numbers.looked_at(self.item.array if self.rate is None else self.rate)


class Preparing:
    """Writes the numbers of a repetition to memory, before the run of the plan: rates to that of their groups, and
    operands of lines to `operands`. `formulas` tell the rates, then the operands, from what the guard has found. They
    may depend on `count` sizes, which the `maker` is given then.
    """

    def __init__(self, options: list[Option], operands: list[Array], formulas: Formulas, count: int = 0) -> None:
        self.options, self.operands, self.formulas = options, operands, formulas
        self.maker = Maker(formulas, count)

    def __call__(self, inputs: list[Any]) -> bool:
        """Write the numbers. Returns whether the plan takes them."""
        numbers, first = self.maker.make(None, inputs) or [], len(self.options)
        try:
            with np.errstate(all="ignore"):
                for array, number in zip(self.operands, numbers[first:], strict=True):
                    array[()] = number
        except OverflowError:                              # which the program shall raise
            return False
        return not any([option.refuses(rate) for option, rate in zip(self.options, numbers[:first], strict=True)])
