"""Whether the sizes of arguments change from call to call, as those of a last, smaller batch do."""

from __future__ import annotations

from .communicating import may_communicate
from .state import State


class Sizes:
    """The shapes that the arguments of a function had when it was first traced, by their places.

    If `expected`, sizes change in any case. Otherwise they do as soon as a tensor in a known place has as many dims as
    before, and other sizes. Traces from then on note what the function does with sizes.

    A noted size is no int of Python's own, as `type` would show. So a program that mentions `type` must ask for notes.
    A call that may communicate is traced without notes, since it cannot be run again if notes turn out to be wrong.
    """

    def __init__(self, expected: bool) -> None:
        self.expected = self.change = expected
        self.known: dict[str, tuple[int, ...]] = {}

    def changed(self, state: State) -> bool:
        """Whether sizes change, after one more call that is traced."""
        if not self.change and "type" not in state.mentioned:
            shapes = {item.words: item.facts.shape for item in state.tensors() if item.role == "argument"}
            self.change = any([shape != (known := self.known.get(words, shape)) and len(shape) == len(known)
                               for words, shape in shapes.items()])
            self.known = {**shapes, **self.known}
        return self.change and not may_communicate(state)
