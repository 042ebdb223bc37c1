"""Which memory was written in place, how often, when and on which line: the writer keeps the books.

A write is rare and a recorded operation is not, so a node notes nothing about the memory that it saves: it has its
number, a write takes a number from the same count, and memory that was written after a node was made is stale for
it. The books are kept by the array that owns the memory, so all views share an entry, and the entry goes with the
memory. A `lineage` of its own is what `Tensor.data` gives: the same memory behind another owner.
This module must not know Tensor.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import Site
from ..kernels.layout import address, owner_of, window

# In steps of two: the slice that a write to a view starts from has its place just before the write.
next_number = itertools.count(2, 2).__next__

# How many of the latest writes are kept apart, so that a message can say which version a node had seen.
_REMEMBERED = 64


class Writes:
    """The writes to one memory: how many, the numbers of the latest, and the line of the last."""

    __slots__ = ("count", "numbers", "owner", "site")

    def __init__(self, owner: Any) -> None:
        self.owner = weakref.ref(owner, partial(_forget, id(owner)))
        self.count = 0
        self.numbers: deque[int] = deque(maxlen=_REMEMBERED)
        self.site: Site | None = None

    def seen_by(self, number: int) -> int:
        """How many of the writes came before `number`."""
        return self.count - sum(n > number for n in self.numbers)


_books: dict[int, Writes] = {}


def _forget(key: int, reference: Any) -> None:
    _books.pop(key, None)


class _Apart(np.ndarray[Any, Any]):
    """Two of these stand between two lineages. NumPy looks for the base of a view below the array that it is taken
    of, as long as it finds an array of the view's own class there.
    """


def apart(array: Any) -> Any:
    """The same array as the owner of what it spans, whose writes are counted apart."""
    return array.view(_Apart).view(_Apart).view(np.ndarray)


def new_lineage(array: Any) -> Any:
    """The same memory as an array whose writes are counted apart."""
    owner = owner_of(array)
    if owner is array or not owner.flags.forc:
        return apart(array)
    part = window(apart(owner), array.shape, array.dtype, address(array) - address(owner), array.strides)
    part.flags.writeable = array.flags.writeable          # what has an element in several places is read-only
    return part


def inherit(array: Any, from_array: Any) -> None:
    """Count the writes to the memory of `array`, a new lineage, on from those to another."""
    earlier = writes_to(from_array)
    if earlier is not None:
        owner = owner_of(array)
        writes = _books[id(owner)] = Writes(owner)
        writes.count, writes.site = earlier.count, earlier.site
        writes.numbers.extend(earlier.numbers)


def writes_to(array: Any) -> Writes | None:
    """The entry of an array's memory; None where it was never written in place."""
    return _books.get(id(owner_of(array))) if _books else None


def count(array: Any) -> int:
    """How often the memory of an array was written in place."""
    writes = writes_to(array)
    return 0 if writes is None else writes.count


# What is called with an array whose memory is about to be written.
before_write: list[Callable[[Any], None]] = []


def writing(array: Any) -> None:
    """Say that the memory of `array` is about to be written: due before every write that `written` counts."""
    for notice in before_write:
        notice(array)


def written(array: Any, site: Site | None) -> None:
    """Count a write to the memory of `array`, made on the line `site`."""
    owner = owner_of(array)
    writes = _books.get(id(owner))
    if writes is None:
        writes = _books[id(owner)] = Writes(owner)
    writes.count += 1
    writes.numbers.append(next_number())
    writes.site = site


def written_since(array: Any, number: int) -> bool:
    """Whether the memory of `array` was written after the node, or the write, of this number."""
    writes = _books.get(id(owner_of(array))) if _books else None      # writes_to, written out on the hot path
    return writes is not None and writes.numbers[-1] > number
