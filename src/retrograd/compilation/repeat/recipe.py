"""A traced call that can be repeated: where its arrays come from, its plan, and what it leaves behind.

A repetition reads the arrays of the arguments, runs the plan, and then does what the traced call did to the world: it
returns the same structure with new tensors, and puts new tensors in the places where the call left tensors.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...graph import versions
from ...graph.node import Output
from ...kernels.kinds import with_numbers
from ...kernels.layout import owner_of
from ...tensors.state.base import edge_of, plain
from ..execution.again import quiet
from ..execution.leases import Lease
from ..execution.numpy_code import Ready
from ..execution.plan import Plan
from ..passes.effects import may_start_again
from ..program.interrupts import interrupts
from .outside import Backward, CompiledFunctionBackward

# What `repeat` returns if the traced call does not tell what this call does.
DECLINED: Any = object()


class Recipe:
    """A call that can be repeated.

    The guard finds the tensors that may be others in each call; `given` are the places of those whose arrays `run`
    takes. `returned` makes what the call returned, from the new tensors and from the tensors that the guard found.
    `finishing` are marks and views of the new tensors. The first `count` outputs of the plan become tensors; the others
    are saved.
    """

    def __init__(self, given: list[int], plan: Plan, count: int) -> None:
        self.given, self.count = given, count
        self.plan: Plan | None = plan                      # before the first repetition
        self.ready: Any = None                             # from then on
        self.lent: list[Lease | None] = []                 # the leases of the outputs that become tensors
        self.leaves: dict[int, Any] = {}                   # whose gradients the results are, by the place of the result
        self.lock = threading.Lock()
        self.returned: Any = None
        self.finishing: list[Any] = []
        self.effects: list[Any] = []
        self.prepare: Any = None                           # what writes learning rates before a run
        self.schedules: list[Any] = []                     # steps whose rates the call hands on
        self.last: list[Callable[[list[Any]], None]] = []  # steps of other schedules, which come last
        self.written: list[Array] = []                     # captured memory that the plan writes
        self.times: list[int] = []                         # how often; 0 if writes to it are not counted
        self.owners: versions.Together | None = None       # and the arrays that own it, if writes are counted
        self.written_given: list[tuple[int, int]] = []     # the places of such tensors that the guard finds, how often
        self.counted: list[tuple[int, int]] = []           # the places of results that the run writes, and how often
        self.apart: list[int] = []                         # the places of results that count writes apart
        self.backward: list[Backward] = []
        self.may_start_again = may_start_again(plan.program)
        self.quiet = quiet()
        self.site: Any = None
        self.numbers: Any = None                           # the maker of numbers, which follow what the guard returns
        self.warnings: list[Callable[[], None]] = []       # which each call gives
        self.way_back: Any = None                          # from a run, if the call has branches

    @property
    def is_differentiated_twice(self) -> bool:
        """Whether the program has taken gradients of gradients of the results."""
        return any([each.second is not None and each.second.used for each in self.backward])

    def repeat(self, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced call did, with other numbers. Returns what the call would return.

        The result is `DECLINED` if a branch of the call would turn out otherwise. Then nothing has changed.
        """
        if self.prepare is not None and not self.prepare(inputs):
            return DECLINED
        if self.warnings and not self._warned():
            return DECLINED
        if self.ready is None:
            self._begin()
        else:
            self.ready.leases.take_back()
        given = [array if type(array := inputs[place]._array) is np.ndarray else with_numbers(array)
                 for place in self.given]                  # which another thread may trace
        written = self.written
        if self.written_given:
            written = [*written, *[inputs[i]._array for i, _ in self.written_given]]
        if versions.before_write:
            for array in written:
                versions.writing(array)
        arrays = self._run(inputs, given, written) if self.way_back is None else self._tried(inputs, given)
        if arrays is None:
            return DECLINED
        if self.written_given:
            versions.written_all(map(owner_of, written), self.site, [*self.times, *[n for _, n in self.written_given]])
        elif self.owners is not None:
            self.owners.written(self.site)
        tensors = [plain(array) if lease is None else lease.result() for lease, array in zip(self.lent, arrays)]
        if self.apart or self.counted:
            self._count_results(tensors)
        for backward in self.backward:
            self.record(backward, tensors, arrays, inputs)
        for finish in self.finishing:
            finish(tensors, inputs)
        for step in self.schedules:
            step(inputs)
        result = self.returned(tensors, inputs, args, kwargs)
        for effect in self.effects:
            effect(tensors, inputs, args, kwargs)
        return result

    def _warned(self) -> bool:
        """Give the warnings of the call. The result is False if one of them is raised as an error: then the program
        raises the error where it arises.
        """
        try:
            for give in self.warnings:
                give()
        except Warning:
            return False
        return True

    def _run(self, inputs: list[Any], given: list[Array], written: list[Array]) -> Any:
        """The arrays of a run. The numbers that follow from them come behind `inputs`."""
        try:
            arrays = self.quiet.run(self.ready.run, *given)
        except BaseException as error:                     # such as KeyboardInterrupt
            self.ready.leases.spoil()
            self._count_writes(error, given, written)
            raise
        if self.numbers is not None:
            inputs += self.numbers.make(arrays, inputs)
        return arrays

    def _tried(self, inputs: list[Any], given: list[Array]) -> Any:
        """The arrays of a run, and the numbers behind `inputs`; None if a branch of the call turns out otherwise."""
        put_back, numbers = self.way_back.keep(inputs), None
        try:
            arrays = self.quiet.run(self.ready.run, *given)
            numbers = self.numbers.make(arrays, inputs)
        except Exception as error:                         # the program may go another way, without the error
            if interrupts(error):
                raise
            return None
        finally:
            if numbers is None:
                put_back()
        if numbers is None:
            return None
        inputs += numbers
        return arrays

    def stepped(self, result: Any, inputs: list[Any]) -> Any:
        """Make the steps of schedules after the call has returned `result`, which is returned again. An error in them
        is no reason to run the program again.
        """
        for step in self.last:
            step(inputs)
        return result

    def _count_writes(self, error: BaseException, given: list[Array], written: list[Array]) -> None:
        """Count the writes that a run has made before it raised an error, unless the program itself will run again."""
        if not self.may_start_again or interrupts(error):
            done = Counter([id(owner_of(array)) for array in self.ready.written_before(error, given)])
            times = [*self.times, *[count for _, count in self.written_given]]
            owners = [owner for owner, count in zip(map(owner_of, written), times) if count and id(owner) in done]
            versions.written_all(owners, self.site, [done[id(owner)] for owner in owners])

    def _count_results(self, tensors: list[Any]) -> None:
        """Count the writes of the run to the memory of its results."""
        for place in self.apart:
            tensors[place]._array = versions.new_lineage(tensors[place]._array)
        versions.written_all([owner_of(tensors[place]._array) for place, _ in self.counted], self.site,
                             [count for _, count in self.counted])

    def _begin(self) -> None:
        """Have the plan make its code."""
        assert self.plan is not None
        self._run_with(self.plan.begin())
        self.plan = None

    def _run_with(self, ready: Ready) -> None:
        """Have repetitions run with this."""
        counted = [(owner_of(array), count) for array, count in zip(self.written, self.times) if count]
        if counted and self.owners is None:
            self.owners = versions.Together([owner for owner, _ in counted], [count for _, count in counted])
        leases: dict[int, Lease] = ready.leases.by_place
        self.lent = [leases.get(place) for place in range(self.count)]
        for place, lease in leases.items():
            lease.leaf = self.leaves.get(place)
        self.ready = ready

    def record(self, backward: Backward, tensors: list[Any], arrays: Sequence[Array], inputs: list[Any]) -> None:
        """Give the results their node."""
        edges = (*[edge_of(leaf(inputs)) for leaf in backward.leaves], *[edge_of(tensors[i]) for i in backward.before])
        node = CompiledFunctionBackward(edges, backward, arrays, inputs)
        for index, position in enumerate(backward.outputs):
            tensors[position]._edge = Output(node, index)
