"""Branches on numbers of tensors: a repetition asks whether they turn out as in the traced call, before it is final.

A traced run notes the outcome of each branch and goes on. A repetition keeps the memory and the random streams that its
plan changes, runs the plan, and asks for the outcomes. If one of them is another one, everything is put back, and the
call is declined: another traced call may serve it, or the function runs as it is and is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...foundations.dtypes import Array
from ...kernels.kinds import with_numbers
from ...kernels.layout import owner_of
from ...tensors.arguments.generator import Generator, default_generator
from ..passes import effects
from ..program.lines import Program
from ..reach.items import State


class WayBack:
    """What puts back all that a run of a plan changes outside of the plan.

    `fixed` is memory that is always the same, and `places` are those of tensors that the guard finds.
    """

    def __init__(self, fixed: Sequence[Array], places: Sequence[int], generators: Sequence[Generator]) -> None:
        self.fixed, self.places, self.generators = fixed, places, generators

    def keep(self, inputs: list[Any]) -> Callable[[], None]:
        """Keep everything as it is. The result puts it back."""
        given = [owner_of(with_numbers(inputs[place]._array)) for place in self.places]
        memory = [(each, each.copy()) for each in [*self.fixed, *given]]
        streams = [(each.twister, each.twister.get_state()) for each in self.generators]

        def put_back() -> None:
            for each, numbers in memory:
                each[...] = numbers
            for twister, state in streams:
                twister.set_state(state)

        return put_back


def way_back(program: Program, state: State, numbers: dict[int, int], given: dict[int, int]) -> WayBack | None:
    """What puts back the changes of a program; None if some of the memory is not known.

    `numbers` are the values of the tensors of the state, by item. `given` are places of tensors that the guard finds.
    """
    values = program.values
    written = {memory for memory in effects.all_memory_written(program) if values[memory].source != "line"}
    fixed: dict[int, Array] = {}
    places, known = [], set()
    for item in state.tensors():
        number = numbers[item.number]
        memory = values[number].memory
        if memory in written and number in given:
            places.append(given[number])
            known.add(memory)
        elif memory in written and item.fixed:
            owner = owner_of(values[number].like)
            fixed[id(owner)] = owner
            known.add(memory)
    if written - known:
        return None
    draws = any(map(effects.draws, program.lines))
    found = [item.value for item in state.items if isinstance(item.value, Generator)] if draws else []
    generators = {id(each): each for each in [*found, *([default_generator] if draws else ())]}
    return WayBack([*fixed.values()], places, [*generators.values()])
