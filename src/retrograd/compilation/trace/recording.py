"""The run of a traced call: what is put in place before the function runs, and what is given back after it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...foundations.dtypes import Array
from ...foundations.errors import Heard
from ..numbers.math_names import MathNames
from ..numbers.rates import Rates
from ..numbers.schedules import Schedules
from ..numbers.traced_numbers import Numbers
from ..program.sizes import Uses
from ..program.undoing import Undo
from ..reach.changes import changes
from ..reach.items import ARRAY
from .behind import give_back, put_in_place
from .below_levels import BelowLevels, stand
from .borders import Borders
from .counts import Counts
from .left_sizes import without_sizes
from .restoring import restore
from .tracing import Tape
from .walked import WalkedCall
from .watching import Watching


class Recording:
    """One run of a function with everything in place that notes what the function does.

    `uses` notes what it does with sizes that may be others in later calls. `result` is what the function has returned,
    until the end of the run.
    """

    def __init__(self, call: WalkedCall, whole: bool, native: bool, uses: Uses | None, keeps_numbers: bool) -> None:
        before = call.before
        self.call, self.uses = call, uses
        self.tape = Tape(whole, native, uses)
        self.below = BelowLevels(self.tape)
        self.rates = Rates(before, self.tape)
        self.tape.former.wanted = keeps_numbers
        self.tape.captured = {id(item.array) for item in before.tensors() if item.role != "argument"}
        self.tape.deferred.allowed = all([item.kind != ARRAY for item in before.items])         # which may be written
        self.schedules, self.borders = Schedules(before, self.tape, self.rates.followed), Borders()
        self.numbers = Numbers(before, self.tape, self.rates.places())
        self.math = MathNames(before) if self.numbers.groups else None
        self.watching = Watching(self.tape, uses, before, self.numbers.appended)
        self.held: list[tuple[Any, Array]] = []            # the tensors with traced arrays, and their own arrays
        self.result: Any = None

    def note_end(self, undo: Undo, let_go: Callable[[], None]) -> None:
        """Note what ends the run, the last step first: put NumPy arrays back, and make what was put off.

        `let_go` lets go of the traced arrays.
        """
        undo.note(self.schedules.make)
        undo.note(partial(self.tape.deferred.make, last=True))
        undo.note(self.call.twins.give_back)
        undo.note(self._settle)
        undo.note(let_go)
        undo.note(partial(give_back, self.held))
        undo.note(self.borders.remove)
        undo.note(partial(setattr, self.tape, "whole", False))

    def _settle(self) -> None:
        """Replace the numbers that stand in for plain ones by plain numbers."""
        self.numbers.give_back(self)

    def put(self) -> None:
        """Put traced arrays behind the tensors of the call, and borders where their graphs end."""
        tensors = self.call.before.tensors_and_bases()
        put_in_place(self.tape, tensors, self.held)
        self.borders.put(self.tape, tensors)

    def run(self) -> None:
        """Run the function, and give up if it has done what no operator shows."""
        self.counts = Counts(self.tape, [array for _, array in self.held])
        self.numbers.put_in_place()
        self.result = self._plain_run()
        self.counts.check()
        self.borders.check()

    def _plain_run(self) -> Any:
        """What the function returns. No size of the trace stays in the result or in the program, not after an error."""
        result, call = None, self.call
        try:
            result = self._watched_run()
        finally:
            if self.uses is not None:
                result = without_sizes(result, call, self.numbers.grown(call.before), self.numbers.of_size)
        return result

    def _watched_run(self) -> Any:
        """Call the function, with everything in place that shows what it does. (`calls` knows this module.)"""
        undo, call = Undo(), self.call
        with undo, undo:
            self.rates.put(undo)
            self.schedules.put(undo)
            stand(self.below, undo)
            if self.math is not None:
                self.math.put(undo)
            undo.put(Heard, "by", self.tape.hear)
            self.watching.put(undo)
            result = call.function(*call.args, **call.kwargs)
        self.numbers.end()
        self.watching.check()
        return result

    def put_back(self) -> None:
        """Give memory its former numbers, and make no steps of schedules."""
        self.tape.deferred.make()
        self.tape.former.put_back()
        self.schedules.put_back()

    def is_unseen(self) -> bool:
        """Put back what the run, which an error has ended, has changed. Returns whether nothing is left of it but
        numbers, so that it can be made again.
        """
        if self.tape.communicates or self.tape.reason is not None or self.watching.calls.found is not None:
            return False
        self.numbers.put_back()
        restore(self.call.before)
        after = self.call.again()
        changed = changes(self.call.before, after)
        after.let_go()
        return not (changed.effects or changed.unrepeatable)
