"""The tensors that existed before a call, and where a repetition finds them: the guard returns some, others stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...foundations.dtypes import Array
from ..execution.plan import Plan
from ..reach.items import Item, State
from .tracing import Tape


class KnownTensors:
    """The tensors of a state. The guard returns those with the numbers `inputs`; the others are always the same.

    `given` are the values whose arrays differ from call to call, with their places in what the guard returns.
    """

    def __init__(self, before: State, tape: Tape, inputs: list[int]) -> None:
        self.before, self.inputs = before, inputs
        self.given = {tape.outside(before.items[number].array).number: place for place, number in enumerate(inputs)}

    def finder(self, item: Item) -> Callable[[list[Any]], Any]:
        """How a repetition finds a tensor, from what the guard returns."""
        if item.number in self.inputs:
            place = self.inputs.index(item.number)
            return lambda inputs: inputs[place]
        tensor = item.value
        return lambda inputs: tensor

    def are_steady(self, plan: Plan, others: Iterable[Array]) -> bool:
        """Whether a plan reads only arrays that are given or always the same. `others` are such arrays, too."""
        values = plan.program.values
        fixed = [item for item in self.before.tensors() if item.fixed]
        steady = {id(item.array) for item in fixed} | set(map(id, others))
        steady |= {id(item.value._grad_meta.base._array) for item in fixed
                   if item.value._grad_meta is not None and item.value._grad_meta.base is not None}
        used = {number for line in plan.program.lines for number in line.reads} | {*plan.program.outputs}
        return all([number not in used or number in plan.given or id(values[number].like) in steady
                    for number in plan.program.inputs])
