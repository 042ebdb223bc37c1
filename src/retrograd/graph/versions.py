"""Which memory was written in place, how often, when, and on which line.

Writes are rare and recorded operations are not, so a node notes nothing about the memory that it saves. Nodes and
writes take their numbers from one count: memory is stale for a node if it has a write with a higher number than the
node. The counts belong to the array that owns the memory. So all views share an entry, and the entry dies with the
memory. `Tensor.data` has a *lineage* of its own: the same memory behind another owner.
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

# In steps of two: a write to a view starts from a slice node, whose number lies just before the write.
next_number = itertools.count(2, 2).__next__

# How many of the latest writes are kept, so that a message can say which version a node had seen.
_REMEMBERED = 64


class Writes:
    """The writes to one memory: how many, the numbers of the latest writes, and the line of the last write."""

    __slots__ = ("count", "numbers", "owners", "site")

    def __init__(self, owner: Any) -> None:
        self.owners = [weakref.ref(owner, partial(_forget, id(owner)))]
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
    """Two arrays of this class stand between two lineages.

    NumPy looks for the base of a view below the viewed array, as long as it finds an array of the view's own class
    there.
    """


def apart(array: Any) -> Any:
    """The same array as the owner of the elements it spans, with a write count of its own."""
    return array.view(_Apart).view(_Apart).view(np.ndarray)


def new_lineage(array: Any) -> Any:
    """The same memory as an array with a write count of its own."""
    owner = owner_of(array)
    if owner is array or not array.size or not owner.flags.forc:
        return apart(array)
    part = window(apart(owner), array.shape, array.dtype, address(array) - address(owner), array.strides)
    part.flags.writeable = array.flags.writeable          # an array with one element in several places is read-only
    return part


def inherit(array: Any, from_array: Any) -> None:
    """Let the write count of `array`, a new lineage, continue from the count of `from_array`."""
    earlier = writes_to(from_array)
    if earlier is not None:
        owner = owner_of(array)
        writes = _books[id(owner)] = Writes(owner)
        writes.count, writes.site = earlier.count, earlier.site
        writes.numbers.extend(earlier.numbers)


def count_with(array: Any, other: Any) -> None:
    """Count the writes to `array`, a new lineage, together with those to `other`, which is the same memory."""
    owner, beside = owner_of(array), owner_of(other)
    writes = _books.get(id(beside))
    if writes is None:
        writes = _books[id(beside)] = Writes(beside)
        writes.numbers.append(0)                          # before any node
    writes.owners.append(weakref.ref(owner, partial(_forget, id(owner))))
    _books[id(owner)] = writes


def writes_to(array: Any) -> Writes | None:
    """The entry of an array's memory, or None if the memory was never written in place."""
    return _books.get(id(owner_of(array))) if _books else None


def count(array: Any) -> int:
    """How often the memory of an array was written in place."""
    writes = writes_to(array)
    return 0 if writes is None else writes.count


def forget(owner: Any) -> None:
    """Begin to count anew: the memory that `owner` owns now serves another value."""
    _books.pop(id(owner), None)


# Functions to call with an array just before its memory is written.
before_write: list[Callable[[Any], None]] = []


def writing(array: Any) -> None:
    """Announce a write to the memory of `array`. Call this before every write that `written` counts."""
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
    """Whether the memory of `array` was written after the node or the write of this number."""
    writes = _books.get(id(owner_of(array))) if _books else None      # writes_to, written inline on the hot path
    return writes is not None and writes.numbers[-1] > number
