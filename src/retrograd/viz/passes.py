"""Waits for one backward pass of a program that runs unchanged, and looks at this pass before the program's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..foundations.modes import local
from ..graph.anomaly import CheckedPass
from ..graph.engine import Pass
from ..tensors.recording.gradients import as_tensor
from .exploring import Explored, observed
from .naming import calling_frame
from .notes import recording
from .pictures import Picture, named_tree

Starts = Sequence[tuple[Any, Any]]                       # edges, and the cotangents that the pass starts with


class Awaited:
    """The backward pass of this number. `count` is the number of passes so far.

    `told` is called with the count before each pass. `look` is called with the start of the awaited pass and the
    options of the pass, and `done` with what `look` returned, or with the error that it raised.
    """

    def __init__(self, number: int, look: Callable[..., Any], told: Callable[[int], None],
                 done: Callable[[Any], None]) -> None:
        self.number, self.look, self.told, self.done, self.count = number, look, told, done, 0
        self.recording = ExitStack()

    def make(self, roots: list[tuple[Any, Any]], **options: Any) -> Pass:
        """The pass that the engine runs. Before the awaited pass, the same pass is looked at."""
        thread = local.thread
        if thread.passes == 1:                          # passes inside passes do not count
            self.count += 1
            self.told(self.count)
            if self.count == self.number:
                self.meet(roots, options["inputs"], options["capture"])
        return (Pass if thread.anomalies is None else CheckedPass)(roots, **options)

    def meet(self, roots: list[tuple[Any, Any]], inputs: Any, capture: bool) -> None:
        """Look at the pass from these roots. If it raises an error, the program's own pass will raise it, too."""
        starts = [(edge, as_tensor(cotangent)) for edge, cotangent in roots]
        try:
            found = self.look(starts, inputs=inputs, capture=capture)
        except Exception as error:
            found = error
        self.stop()
        self.done(found)

    def stop(self) -> None:
        """Let the program go on as usual."""
        local.thread.passing = None
        self.recording.close()


@contextmanager
def awaiting(number: int, look: Callable[..., Any], told: Callable[[int], None],
             done: Callable[[Any], None]) -> Iterator[Awaited]:
    """A context in which a program runs that looks at its backward pass of this number. See `Awaited`."""
    awaited = Awaited(number, look, told, done)
    awaited.recording.enter_context(recording())
    local.thread.passing = awaited.make
    try:
        yield awaited
    finally:
        awaited.stop()


def exploring(title: str, program: str, other: Explored | None = None,
              names: tuple[str, str] = ("", "")) -> Callable[..., Explored]:
    """A `look` that observes the pass, and puts another pass beside it, if one is given."""

    def look(starts: list[tuple[Any, Any]], **options: Any) -> Explored:
        found = Explored(observed(starts, None, calling_frame(), title, program, **options))
        return found if other is None else found.beside(other, names)

    return look


def drawing(starts: Starts, **options: Any) -> Picture:
    """A `look` that draws the graph of the pass."""
    return Picture([edge.node.public for edge, _ in starts], None, calling_frame())


def writing(starts: Starts, **options: Any) -> str:
    """A `look` that writes the graph of the pass as a text tree."""
    return named_tree([edge.node.public for edge, _ in starts], calling_frame())
