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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from threading import get_ident
from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import Site
from ..kernels.layout import address, owner_of, window
from .locks import enter, leave, moment

# In steps of two: a write to a view starts from a slice node, whose number lies just before the write.
next_number = itertools.count(2, 2).__next__

# How many of the latest writes are kept, so that a message can say which version a node had seen.
_REMEMBERED = 64


class Writes(weakref.ref[Any]):
    """The writes to one memory: how many, the numbers of the latest writes, and the line of the last write.

    It is itself the weak reference to the array that owns the memory, so a memory that is written once costs one
    object. `earlier` are the numbers of the writes before the last. `beside` are references to the owners of other
    lineages of the same memory, by identity. `recorded` is the kind of node that the last recorded write gave to the
    tensor of all the memory.
    """

    __slots__ = ("beside", "count", "earlier", "key", "last", "recorded", "site")
    count: int
    last: int
    earlier: deque[int] | None
    site: Site | None
    key: int
    recorded: Any                         # not set if no write was recorded
    beside: dict[int, Any]                # not set if there were none

    def seen_by(self, number: int) -> int:
        """How many of the writes came before `number`."""
        with moment:
            later: int = sum(n > number for n in (self.last, *(self.earlier or ())))
            return self.count - later


_books: dict[int, Writes] = {}


def _forget(writes: Writes) -> None:
    _books.pop(writes.key, None)


def _forget_beside(key: int, reference: Any) -> None:
    beside = getattr(_books.pop(key, None), "beside", None)
    if beside is not None:
        beside.pop(key, None)


def _opened(owner: Array) -> Writes:
    """A new entry for the memory of an array that owns it."""
    writes = Writes(owner, _forget)
    writes.key = key = id(owner)
    writes.count, writes.last = 0, -1
    writes.earlier = writes.site = None
    _books[key] = writes
    return writes


def written_once(array: Array) -> None:
    """`written` for memory that is new, with fewer calls."""
    owner = array if array.base is None else owner_of(array)
    writes = Writes(owner, _forget)
    writes.key = key = id(owner)
    writes.count, writes.last = 1, next_number()
    writes.earlier = writes.site = None
    _books[key] = writes


class _Apart(Array):
    """Two arrays of this class stand between two lineages.

    NumPy looks for the base of a view below the viewed array, as long as it finds an array of the view's own class
    there.
    """


def apart(array: Array) -> Any:
    """The same array as the owner of the elements it spans, with a write count of its own."""
    return array.view(_Apart).view(_Apart).view(np.ndarray)


def new_lineage(array: Any) -> Any:
    """The same memory as an array with a write count of its own."""
    if not isinstance(array, np.ndarray) and hasattr(array, "apart"):
        return array.apart()
    owner = owner_of(array)
    if owner is array or not array.size or not owner.flags.forc or (
            array.nbytes == owner.nbytes and array.flags.forc):        # a view of all the memory
        return apart(array)
    part = window(apart(owner), array.shape, array.dtype, address(array) - address(owner), array.strides)
    part.flags.writeable = array.flags.writeable          # an array with one element in several places is read-only
    return part


def inherit(array: Array, from_array: Array) -> None:
    """Let the write count of `array`, a new lineage, continue from the count of `from_array`."""
    earlier = writes_to(from_array)
    if earlier is not None:
        owner = owner_of(array)
        with moment:
            writes = _opened(owner)
            writes.count, writes.site, writes.last = earlier.count, earlier.site, earlier.last
            writes.earlier = None if earlier.earlier is None else earlier.earlier.copy()
            writes.recorded = recorded_by(from_array)


def count_with(array: Array, other: Array) -> None:
    """Count the writes to `array`, a new lineage, together with those to `other`, which is the same memory."""
    owner, beside = owner_of(array), owner_of(other)
    key = id(owner)
    with moment:
        writes = _books.get(id(beside))
        if writes is None:
            writes = _opened(beside)
            writes.last = 0                               # before any node
        if not hasattr(writes, "beside"):
            writes.beside = {}
        writes.beside[key] = weakref.ref(owner, partial(_forget_beside, key))
        _books[key] = writes


def note_recorded(array: Array, kind: Any) -> None:
    """Note which kind of node a recorded write to an array, which is counted already, has given to the tensor of all
    the memory.
    """
    writes = writes_to(array)
    if writes is not None:
        writes.recorded = kind


def recorded_by(array: Array) -> Any:
    """The kind of node that the last recorded write to the array's memory has made; None without such a write."""
    return getattr(writes_to(array), "recorded", None)


def writes_to(array: Array) -> Writes | None:
    """The entry of an array's memory, or None if the memory was never written in place."""
    return _books.get(id(owner_of(array))) if _books else None


def count(array: Array) -> int:
    """How often the memory of an array was written in place."""
    writes = writes_to(array)
    return 0 if writes is None else writes.count


# How often an entry was forgotten whose memory lives on.
_forgotten = 0


def forget(owner: Array) -> None:
    """Begin to count anew: the memory that `owner` owns now serves another value."""
    global _forgotten
    if id(owner) not in _books:                            # most memory was never written in place
        return
    with moment:
        if _books.pop(id(owner), None) is not None:
            _forgotten += 1


# Functions to call with an array just before its memory is written.
before_write: list[Callable[[Any], None]] = []


def writing(array: Any) -> None:
    """Announce a write to the memory of `array`. Call this before every write that `written` counts."""
    for notice in before_write:
        notice(array)


# The threads that write, while somebody asks.
_writers: set[int] | None = None


@contextmanager
def noting_writers() -> Iterator[set[int]]:
    """The threads that write to any memory, or add to a gradient, inside the block. One block is open at a time."""
    global _writers
    found: set[int] = set()
    _writers = found
    try:
        yield found
    finally:
        _writers = None


def note_writer() -> None:
    """Note that this thread writes."""
    found = _writers
    if found is not None:
        found.add(get_ident())


def written(array: Any, site: Site | None) -> None:
    """Count a write to the memory of `array`, made on the line `site`."""
    owner = array if array.base is None else owner_of(array)
    enter()
    try:
        writes = _books.get(id(owner))
        if writes is None:
            writes = _opened(owner)
        elif writes.earlier is None:
            writes.earlier = deque((writes.last,), _REMEMBERED - 1)
        else:
            writes.earlier.append(writes.last)
        writes.count += 1
        writes.last = next_number()
        writes.site = site
        if _writers is not None:
            note_writer()
    finally:
        leave()


def written_all(owners: Iterable[Any], site: Site | None, times: Iterable[int] = repeat(1)) -> None:
    """`written` for arrays that own their memory, with fewer calls: so many times for each. The writes have one number.
    """
    with moment:
        note_writer()
        number, find = next_number(), _books.get
        for owner, count in zip(owners, times):
            if not count:
                continue
            writes = find(id(owner))
            if writes is None or writes.earlier is None:
                written(owner, site)
                writes = _books[id(owner)]
            else:
                writes.earlier.append(writes.last)
                writes.count += 1
                writes.last = number
                writes.site = site
            if count > 1:
                _more(writes, count - 1)


def _more(writes: Writes, count: int) -> None:
    """Count the last write so many times more."""
    if writes.earlier is None:
        writes.earlier = deque(maxlen=_REMEMBERED - 1)
    writes.earlier.extend((writes.last,) * min(count, _REMEMBERED - 1))
    writes.count += count


class Together:
    """Arrays that own their memory and are written together, again and again: each so many `times` in a round.

    Their entries are looked up only once, until one might have been forgotten.
    """

    __slots__ = ("_entries", "_forgotten", "_often", "owners", "times")

    def __init__(self, owners: list[Any], times: list[int]) -> None:
        self.owners, self.times = owners, times
        self._often: list[tuple[Any, int]] = []            # entries of memory that is written more often, how often
        self._entries: list[Any] = []
        self._forgotten = -1

    def written(self, site: Site | None) -> None:
        """`written_all` for these arrays."""
        enter()
        try:
            if self._forgotten != _forgotten:
                self._look_up(site)
                return
            note_writer()
            number = next_number()
            for writes in self._entries:
                writes.earlier.append(writes.last)
                writes.count += 1
                writes.last = number
                writes.site = site
            for writes, more in self._often:
                _more(writes, more)
        finally:
            leave()

    def _look_up(self, site: Site | None) -> None:
        """`written_all`, and find the entries. An entry that has one write only is not yet like the others."""
        written_all(self.owners, site, self.times)
        self._entries = [_books[id(owner)] for owner in self.owners]
        self._often = [(writes, count - 1) for writes, count in zip(self._entries, self.times) if count > 1]
        self._forgotten = _forgotten if all([writes.earlier is not None for writes in self._entries]) else -1


def written_since(array: Any, number: int) -> bool:
    """Whether the memory of `array` was written after the node or the write of this number."""
    writes = _books.get(id(owner_of(array))) if _books else None      # writes_to, written inline on the hot path
    return writes is not None and writes.last > number
