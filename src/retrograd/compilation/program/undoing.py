"""What a trace puts in place, noted so that all of it is given back, whatever ends the trace.

A trace puts traced arrays behind the tensors of the program, a profile function, a transform and more. Ctrl-C raises
KeyboardInterrupt at any line, between two of these things, too. So each thing is noted before it is put in place, in an
`Undo`, and one exit undoes what was noted.

An interrupt may also come while the exit runs. So each step of it may be made twice, and a step is forgotten only when
it was made. `with undo, undo:` has two exits: if an interrupt ends the first one, the second one makes the rest. Only a
second interrupt, within the microseconds of the second exit, leaves something behind. The next trace gives it back
(`finish`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar


class Undo:
    """The steps that give back what was put in place, in the order in which the things were put there."""

    # Those that are not at their end. One thread at a time traces.
    begun: ClassVar[list[Undo]] = []

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []

    def note(self, step: Callable[[], object]) -> None:
        """Note a step before the thing that it gives back is put in place. The step may be made twice, or in vain."""
        self._steps.append(step)

    def put(self, holder: Any, name: str, value: Any) -> None:
        """Give an attribute another value until the exit."""
        self.note(partial(setattr, holder, name, getattr(holder, name)))
        setattr(holder, name, value)

    def __enter__(self) -> Undo:
        self.begun.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Make the steps, the last one first. If some of them raise an error, the first error is raised at the end."""
        failed: Exception | None = None
        while self._steps:
            try:
                self._steps[-1]()
            except Exception as error:
                failed = failed or error
            self._steps.pop()
        while self in self.begun:
            self.begun.remove(self)
        if failed is not None:
            raise failed

    @classmethod
    def finish(cls) -> None:
        """Give back what earlier traces have left in place. No trace may be running."""
        while cls.begun:
            cls.begun[-1].__exit__()
