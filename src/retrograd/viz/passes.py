"""Waits for one backward pass of a program that runs unchanged, and explores this pass before the program's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..graph.anomaly import CheckedPass
from ..graph.engine import Pass
from ..modes import local
from ..tensors.recording.gradients import as_tensor
from .exploring import Explored, observed
from .naming import calling_frame
from .notes import recording


class Awaited:
    """The backward pass of this number. `count` is the number of passes so far.

    `told` is called with the count before each pass. `done` is called with what was found, or with the error that the
    pass raised under observation.
    """

    def __init__(self, number: int, program: str, told: Callable[[int], None],
                 done: Callable[[Explored | Exception], None]) -> None:
        self.number, self.program, self.told, self.done, self.count = number, program, told, done, 0
        self.recording = ExitStack()

    def make(self, roots: list[tuple[Any, Any]], **options: Any) -> Pass:
        """The pass that the engine runs. Before the awaited pass, the same pass is observed."""
        thread = local.thread
        if thread.passes == 1:                          # passes inside passes do not count
            self.count += 1
            self.told(self.count)
            if self.count == self.number:
                self.explore(roots, options["inputs"], options["capture"])
        return (Pass if thread.anomalies is None else CheckedPass)(roots, **options)

    def explore(self, roots: list[tuple[Any, Any]], inputs: Any, capture: bool) -> None:
        """Observe the pass from these roots. If it raises an error, the program's own pass will raise it, too."""
        starts = [(edge, as_tensor(cotangent)) for edge, cotangent in roots]
        title = f"Backward pass {self.number} of {self.program}"
        try:
            found: Explored | Exception = Explored(observed(starts, None, calling_frame(), title, self.program,
                                                            inputs=inputs, capture=capture))
        except Exception as error:
            found = error
        self.stop()
        self.done(found)

    def stop(self) -> None:
        """Let the program go on as usual."""
        local.thread.passing = None
        self.recording.close()


@contextmanager
def awaiting(number: int, program: str, told: Callable[[int], None],
             done: Callable[[Explored | Exception], None]) -> Iterator[Awaited]:
    """A context in which a program runs whose backward pass of this number is to be explored. See `Awaited`."""
    awaited = Awaited(number, program, told, done)
    awaited.recording.enter_context(recording())
    local.thread.passing = awaited.make
    try:
        yield awaited
    finally:
        awaited.stop()
