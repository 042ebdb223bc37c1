"""The first run of a call: for real, on traced arrays, and noting everything that is needed to repeat the call.

Its stages: `walked` finds what the call can reach, `recording` runs the function, `describing` makes the recipe.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.errors import user_site
from ...tensors.arguments.generator import get_rng_state, set_rng_state
from ..execution.plan import Plan
from ..program.sizes import Uses
from ..program.undoing import Undo
from ..reach.changing_sizes import Sizes
from ..repeat.recipe import Recipe
from .describing import Description
from .reasons import GivenUp, Reason
from .recording import Recording
from .tracing import Tape, take_away
from .walked import WalkedCall
from .watching import clock


class FirstRun:
    """One traced run. After `run`, `recipe` repeats it, or `reason` says why nothing can.

    `found_by_itself` says that nobody but the compiler has said that sizes change. `is_undone` says that a run with an
    error has left nothing. `drawn` is the position in the stream of random numbers, to which such a run goes back.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                 whole: bool, native: bool, sizes: Sizes | None = None) -> None:
        self.call = WalkedCall(function, args, kwargs)
        changing = sizes is not None and sizes.changed(self.call.before)
        self.found_by_itself = changing and sizes is not None and not sizes.expected
        uses = Uses() if changing else None
        # Before the watch over NumPy's random numbers begins: the first look at the stream imports them.
        self.drawn = get_rng_state() if self.found_by_itself else None
        self.recording = Recording(self.call, whole, native, uses, whole or self.found_by_itself)
        self.description = Description(self.call, self.recording, user_site())
        self.is_undone = False
        self.reason: Reason | None = None
        refusals = self.call.before.refusals
        why = refusals[0] if refusals else clock(self.call.before)
        if why is not None:
            self.reason = Reason(why, None)
            self.call.before.let_go()
            if whole:
                raise GivenUp(self.reason)

    @property
    def tape(self) -> Tape:
        """What the run writes down."""
        return self.recording.tape

    @property
    def guard(self) -> Any:
        """Says for which calls the recipe is."""
        return self.description.guard

    @property
    def recipe(self) -> Recipe | None:
        """What repeats the call, if something can."""
        return self.description.recipe

    @property
    def plans(self) -> list[Plan]:
        """The plan of the call, and that of the backward pass of its results."""
        return self.description.plans

    @property
    def traced_call(self) -> Any:
        """What other traces are compared with, if sizes change."""
        return self.description.traced_call

    @property
    def was_disturbed(self) -> bool:
        """Whether nothing but another thread stood against a recipe."""
        return self.reason is not None and self.reason.passing

    def run(self) -> Any:
        """Run the function, and return what it returns."""
        recording, undo = self.recording, Undo()
        with undo, undo:
            undo.note(self.call.before.let_go)
            recording.note_end(undo, self._let_go)
            recording.put()
            self._record()
        self.reason = self.tape.reason
        result, recording.result = self.call.twins.originals(recording.result), None
        return result

    def _record(self) -> None:
        """Run the function, and make the recipe. (In a method of its own: Python 3.11 runs a line `try:` outside of the
        `with` statement around it.)
        """
        recording, tape = self.recording, self.tape
        try:
            recording.run()
            if tape.reason is None:
                self.description.make(recording.result)
            tape.check()
        except GivenUp:
            recording.put_back()
            raise
        except TypeError:
            if self.drawn is not None and recording.is_unseen():
                recording.put_back()
                set_rng_state(self.drawn)
                self.is_undone = True
            raise

    def _let_go(self) -> None:
        """Let go of the traced arrays. Those in the graph of results go with the graph."""
        self.description.finish()
        self.recording.numbers.let_go()
        left = self.description.left
        take_away(self.tape, [*self.call.before.tensors_and_bases(), *([] if left is None else left.every())])
