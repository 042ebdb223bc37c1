"""Arrays that stand behind tensors while a function is traced. `tracing` writes down what happens to them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...foundations.dtypes import Array
from ...kernels.layout import offset_of
from ..program.lines import Ref
from ..program.sizes import SizeInt
from .answering import Answering


class Traced(Answering):
    """An array of a traced run: `like` holds its numbers; `number` says which value of the tape it is."""

    __slots__ = ("__weakref__", "like", "ref", "tape")

    def __init__(self, tape: Any, like: Array, number: int) -> None:
        self.tape, self.like, self.ref = tape, like, Ref(number)

    number = property(lambda self: self.ref.number)

    nbytes = property(lambda self: self.like.nbytes)
    base = property(lambda self: self.like)
    offset = property(lambda self: offset_of(self.like))

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, which note what the program does with them if the tape asks for this."""
        shape: tuple[Any, ...] = self.like.shape
        return tuple(map(SizeInt, shape)) if self.tape.notes_sizes(self) else shape

    @property
    def size(self) -> Any:
        """The number of elements."""
        return math.prod(self.shape)

    def apart(self) -> Any:
        """The same memory, whose writes are counted apart."""
        return self.tape.apart(self)

    def seen(self) -> Array:
        """The numbers, for code that looks at them; so the tape is given up."""
        self.tape.give_up("the program looks at the numbers of a tensor")
        self.tape.deferred.make()
        return self.like


def give_arrays(tensors: Iterable[Any]) -> None:
    """Give tensors their NumPy arrays."""
    for tensor in tensors:
        if type(tensor._array) is Traced:
            tensor._array = tensor._array.like
