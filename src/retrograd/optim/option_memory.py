"""The options of optimizers as values that compiled steps read again in each run.

A schedule changes options from call to call: the learning rate, the momentum, the betas, the weight decay. The guard of
a compiled step writes each new value into an `OptionMemory`, and with it all numbers that follow from the options. The
numbers are computed in Python, as a step that is not compiled computes them. This module must not know any single
optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.modes import tape

_DOUBLE = np.dtype(np.float64)


class Derived(NamedTuple):
    """Numbers that follow from options: `compute(*options)`, as arrays without dimensions. `wide` says that they are in
    double precision, in which nothing overflows.
    """

    compute: Callable[..., tuple[float, ...]]
    names: tuple[str, ...]
    arrays: tuple[Array, ...]
    wide: bool

    def refresh(self, options: dict[str, Any]) -> None:
        """Write the numbers of these options."""
        numbers = self.compute(*[options[name] for name in self.names])
        if self.wide:
            self._write(numbers)
        else:
            with np.errstate(all="ignore"):
                self._write(numbers)

    def _write(self, numbers: tuple[float, ...]) -> None:
        for array, number in zip(self.arrays, numbers):
            array[()] = number


class OptionMemory:
    """The options of one group, as the guard of the present call has found them, and numbers that follow from them.

    The memory serves all plans in whose traces the options had the same `sides`.
    """

    __slots__ = ("baked", "known", "options", "read", "readers")

    # Those of the call that is being traced, by the identity of the group.
    of_groups: ClassVar[dict[int, OptionMemory]] = {}

    def __init__(self, options: dict[str, Any]) -> None:
        self.options, self.known = options, dict[Any, Derived]()
        self.readers: dict[str, list[Derived]] = {name: [] for name in options}
        self.baked: set[str] = set()                       # options whose values the present trace has kept
        self.read: Callable[[], None] | None = None        # what the present trace does before the options are read

    def numbers(self, dtype: np.dtype[Any], key: Any, compute: Callable[..., tuple[float, ...]],
                names: tuple[str, ...]) -> tuple[Array, ...]:
        """Arrays of a dtype that hold `compute(*options)` in each run. Equal keys stand for equal functions."""
        found = self.known.get((key, dtype))
        if found is None:
            values = compute(*[self.options[name] for name in names])
            found = Derived(compute, names, tuple([np.empty((), dtype) for _ in values]), dtype == _DOUBLE)
            self.known[key, dtype] = found
            for name in names:
                self.readers[name].append(found)
            found.refresh(self.options)
        return found.arrays


class Option:
    """One option of a memory. `value` is the object that the memory knows."""

    __slots__ = ("memory", "name", "sides", "value")

    def __init__(self, memory: OptionMemory, name: str, value: Any) -> None:
        self.memory, self.name, self.value, self.sides = memory, name, value, sides(name, value)

    def refuses(self, value: Any) -> bool:
        """Whether a plan does not serve a value. If the plan serves the value, the memory takes the value."""
        if sides(self.name, value) != self.sides:
            return True
        memory, name = self.memory, self.name
        memory.options[name] = value
        for derived in memory.readers[name]:
            derived.refresh(memory.options)
        self.value = value
        return False


def sides(name: str, value: Any) -> Any:
    """On which sides of those numbers an option lies with which formulas compare it. None: it cannot change in a plan.

    A formula asks whether an option is 0 or positive, and whether a weight or the rest of it is less than a half. A
    weight of 1 may divide by 0. No formula compares the learning rate.
    """
    if type(value) is float:
        return "lr" if name == "lr" else (value == 0, value > 0, value < 1, abs(value) < 0.5, abs(1 - value) < 0.5)
    if type(value) is tuple and value and all([type(part) is float for part in value]):
        return tuple([sides("", part) for part in value])
    return None


def memory_of(group: dict[str, Any]) -> OptionMemory | None:
    """The memory of a group, if the call is being traced and its plan shall read the options from there."""
    written: Any = tape() if OptionMemory.of_groups else None
    memory = None if written is None else OptionMemory.of_groups.get(id(group))
    if memory is None or written.reason is not None:
        return None
    if memory.read is not None:
        memory.read()
    return memory if written.reason is None else None


def keep_values(group: dict[str, Any], *names: str) -> None:
    """Note that the trace keeps the values of options, so that another value needs another trace."""
    memory = memory_of(group)
    if memory is not None:
        memory.baked.update(names)
