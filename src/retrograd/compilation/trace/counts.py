"""How often a traced call writes memory: a repetition counts as many writes, as `Tensor._version` shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...graph import versions
from ...kernels.layout import owner_of
from ..passes import effects
from ..program.lines import Line
from ..reach.items import State
from ..repeat.recipe import Recipe
from .tracing import Tape


class Counts:
    """The counts of writes to the memory of a traced call, from its beginning on."""

    def __init__(self, tape: Tape, arrays: list[Array]) -> None:
        self.tape = tape
        self.before = {id(owner_of(array)): (array, versions.count(array)) for array in arrays}

    def check(self) -> None:
        """Give up if memory was written that no line of the tape writes, such as by a change of the geometry."""
        if self.tape.reason is None:
            noted = self._owners_written(self.tape.lines)
            if any([self._times(array) and owner not in noted for owner, (array, _) in self.before.items()]):
                self.tape.give_up("the program changes a tensor in a way that no operator shows", True)

    def note(self, recipe: Recipe, state: State, lines: list[Line], given: dict[int, int]) -> None:
        """Note which memory from outside a run writes, and how often. Writes to `.data` are not counted."""
        written = self._owners_written(lines)
        for item in sorted(state.tensors(), key=lambda item: item.fixed):
            array = item.array if type(item.array) is np.ndarray else item.array.like
            owner = id(owner_of(array))
            number = self.tape.outside(item.array).number if owner in written else -1
            if number in given:
                recipe.written_given.append((given[number], self._times(array)))
            elif owner in written and item.fixed:
                recipe.written.append(item.array)
                recipe.times.append(self._times(array))
            else:
                continue
            written.remove(owner)                          # other tensors may share this memory

    def note_results(self, recipe: Recipe, made: list[Any]) -> None:
        """Note how often the run has written the memory of new tensors, and which of them count writes apart, as
        `.data` does.
        """
        values, seen, done = self.tape.values, dict[int, int](), set[int]()  # the owner that counts for each memory
        for place, tensor in enumerate(made):
            owner, memory = owner_of(tensor._array.like), values[values[tensor._array.number].memory]
            outside = memory.source != "line"
            known = seen.setdefault(memory.number, id(owner_of(memory.like) if outside else owner))
            if known != id(owner):
                recipe.apart.append(place)
            elif outside:
                continue
            if versions.count(owner) and id(owner) not in done:              # a view counts with it
                done.add(id(owner))
                recipe.counted.append((place, versions.count(owner)))

    def _times(self, array: Array) -> int:
        """How often memory from outside was written."""
        before = self.before.get(id(owner_of(array)))
        return versions.count(array) - (0 if before is None else before[1])

    def _owners_written(self, lines: list[Line]) -> set[int]:
        """The identities of the arrays that own the memory that lines write."""
        values = self.tape.values
        return {id(owner_of(values[number].like)) for line in lines for number in effects.targets(line)}
