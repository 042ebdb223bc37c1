"""The generator behind every random draw: PyTorch's CPU generator, word for word and byte for byte.

``distributions`` and ``sampling`` turn the words into numbers.

PyTorch's CPU generator is the Mersenne Twister MT19937 of Matsumoto and Nishimura (1998), seeded by the 2002
``init_genrand`` with the low 32 bits of the seed, plus one normal sample kept from the last Box-Muller pair. NumPy has
the same twister. This class reads it in whole blocks of 624 words and keeps the current block. So a small draw is a
slice, and the position in the block is the ``next`` that PyTorch writes into its state.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import WeakSet

import numpy as np

from ...foundations.forks import held_each

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy.typing takes a while to import

DEFAULT_SEED = 67280421310721

_BLOCK = 624
# Large draws are made this many blocks at a time: NumPy returns each word as 64 bits, and these blocks fit a cache.
_FETCH = 13 * _BLOCK
# From this many words on, NumPy makes pairs of words faster than single words. Below, its call takes longer.
_PAIRED = 4 * _BLOCK
# The place of the high half of a number of 64 bits in memory.
_HIGH = int(sys.byteorder == "little")
_END = 2**64

# CPUGeneratorImplState, as the C compiler lays it out. PyTorch no longer uses normal_x and normal_rho, but keeps their
# places. The words of the twister are stored as 64 bits each.
_STATE = np.dtype([
    ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", _BLOCK),
    ("normal_x", "<f8"), ("normal", "<f8"), ("normal_rho", "<f8"), ("has_normal", "<i4"), ("padding", "V4"),
    ("float_normal", "<f4"), ("has_float_normal", "u1"), ("padding_to_the_end", "V3")])
STATE_BYTES = _STATE.itemsize


# NumPy's twisters of generators that are gone: each is seeded again before it draws.
_spares: list[tuple[Any, Any, Any]] = []
_MOST_SPARES = 4


class _Restarts(threading.local):
    """How often this thread has restarted a stream, or sent one to another position than its own."""

    count = 0


class Twister:
    """A stream of 32-bit words with a position that can be saved, restored and exchanged with PyTorch's.

    Every method takes ``lock``, which is reentrant: hold it around several draws that belong together.
    ``next_double_normal`` and ``next_float_normal`` are the samples left over from an odd number of normal draws.
    ``restarts.count`` says how often the calling thread has restarted any stream.
    """

    restarts: ClassVar[_Restarts] = _Restarts()
    every: ClassVar[WeakSet[Twister]] = WeakSet()
    __slots__ = ("__weakref__", "_bits", "_block", "_fresh", "_next", "_pairs", "_restarted", "_seed", "_seeder",
                 "lock", "next_double_normal", "next_float_normal")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self.lock = threading.RLock()
        Twister.every.add(self)
        self._bits: Any = None
        self._block: NDArray[np.uint32] = np.zeros(_BLOCK, np.uint32)
        self.manual_seed(seed)

    def __del__(self) -> None:
        """A program may make a generator for each epoch, so NumPy's twister is kept for the next generator."""
        if getattr(self, "_bits", None) is not None and len(_spares) < _MOST_SPARES:
            _spares.append((self._bits, self._seeder, self._pairs))

    def manual_seed(self, seed: int) -> Self:
        """Restart the stream. A seed has 64 bits, signed or not; only its low 32 bits reach the twister."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self.lock:
            Twister.restarts.count += 1
            self._seed = seed % 2**64
            self._fresh = self._restarted = True
            self._next = _BLOCK
            self.next_double_normal: float | None = None
            self.next_float_normal: float | None = None
        return self

    def _twister(self) -> Any:
        """NumPy's twister, which stands at the end of the current block.

        It is made for the first draw: to import `numpy.random` takes a tenth of the time of NumPy's own import. A new
        twister takes NumPy 0.1 ms, so a spare twister is taken where there is one.
        """
        if self._bits is None:
            try:
                self._bits, self._seeder, self._pairs = _spares.pop()
            except IndexError:
                self._bits = np.random.MT19937(0)
                self._seeder = np.random.RandomState(self._bits)
                self._pairs = np.random.Generator(self._bits).integers
        if self._restarted:
            self._seeder.seed(self._seed & 0xFFFFFFFF)
            self._restarted = False
        return self._bits

    def seed(self) -> int:
        """Restart the stream from a seed taken from the operating system, and return that seed."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream was last started from."""
        return self._seed

    def random32(self, count: int) -> NDArray[np.uint32]:
        """The next ``count`` words, in a new array."""
        with self.lock:
            start, stop = self._next, self._next + count
            if stop > _BLOCK:
                return self._random32_across_blocks(count)
            self._next = stop
            return self._block[start:stop].copy()

    def random64(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` pairs of words, each as one number. The first word of a pair is the high one."""
        numbers = np.empty(count, np.uint64)
        with self.lock:
            left = _BLOCK - self._next
            if 2 * count < left + _PAIRED or left % 2 or not _makes_pairs():
                for start in range(0, count, _FETCH):
                    self._pair(numbers[start : start + _FETCH])
                return numbers
            self._twister()
            stop = count - (2 * count - left) % _BLOCK // 2
            self._pair(numbers[: left // 2])
            numbers[left // 2 : stop] = self._pairs(0, _END, stop - left // 2, np.uint64)     # whole blocks
            self._fresh = False
            self._pair(numbers[stop:])
        return numbers

    def _pair(self, numbers: NDArray[np.uint64]) -> None:
        """Write the next pairs of words to ``numbers``."""
        halves = numbers.view(np.uint32)
        words = self.random32(halves.size)
        halves[_HIGH::2] = words[::2]
        halves[1 - _HIGH :: 2] = words[1::2]

    def get_state(self) -> NDArray[np.uint8]:
        """The state in PyTorch's own format, which ``torch.Generator.set_state`` takes."""
        record = np.zeros((), _STATE)
        with self.lock:
            record["seed"] = self._seed
            record["seeded"] = 1
            record["next"] = 0 if self._fresh else self._next
            record["left"] = _BLOCK + 1 - self._next
            record["words"] = self._twister().state["state"]["key"]
            if self.next_double_normal is not None:
                record["normal"], record["has_normal"] = self.next_double_normal, 1
            if self.next_float_normal is not None:
                record["float_normal"], record["has_float_normal"] = self.next_float_normal, 1
        return np.frombuffer(record.tobytes(), np.uint8).copy()

    def set_state(self, state: NDArray[np.uint8] | bytes) -> None:
        """Go to a position that ``get_state`` returned, here or in PyTorch."""
        raw = state if isinstance(state, bytes) else np.ascontiguousarray(state, np.uint8).tobytes()
        if len(raw) != STATE_BYTES:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state "
                               f"size to be {len(raw)}")
        record: Any = np.frombuffer(raw, _STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        fresh = left == 1 and position == 0
        if not record["seeded"] or not (fresh or (1 <= position <= _BLOCK and left == _BLOCK + 1 - position)):
            raise RuntimeError("Invalid mt19937 state")
        with self.lock:
            Twister.restarts.count += raw != self.get_state().tobytes()
            self._seed = int(record["seed"])
            self._go_to(record["words"].astype(np.uint32), _BLOCK if fresh else position)
            self._fresh = fresh
            self.next_double_normal = float(record["normal"]) if record["has_normal"] else None
            self.next_float_normal = float(record["float_normal"]) if record["has_float_normal"] else None

    def clone(self) -> Twister:
        """Another generator at the same position."""
        other = Twister(0)
        other.set_state(self.get_state())
        return other

    def _go_to(self, words: NDArray[np.uint32], position: int) -> None:
        """Make ``words`` the current block of the twister. ``position`` of its words are drawn."""
        self._twister().state = {"bit_generator": "MT19937", "state": {"key": words, "pos": 0}}
        # From here on NumPy's twister stands at the end of the block, and _next holds the position of this class.
        self._block = self._bits.random_raw(_BLOCK).astype(np.uint32)
        self._next = position

    def _random32_across_blocks(self, count: int) -> NDArray[np.uint32]:
        words, bits = np.empty(count, np.uint32), self._twister()
        filled = _BLOCK - self._next
        words[:filled] = self._block[self._next :]
        last = (count - filled) % _BLOCK
        while filled < count - last:
            stop = min(filled + _FETCH, count - last)
            words[filled:stop] = bits.random_raw(stop - filled)
            filled = stop
        self._fresh = False
        self._next = _BLOCK
        if last:
            self._block = bits.random_raw(_BLOCK).astype(np.uint32)
            self._next = last
            words[filled:] = self._block[:last]
        return words


# A process that is forked gets each stream between two draws.
held_each(Twister.every, lambda twister: twister.lock)


@cache
def _makes_pairs() -> bool:
    """Whether NumPy's numbers of 64 bits are pairs of words with the high one first. C leaves this to the compiler."""
    first, second = np.random.MT19937(0).random_raw(2).tolist()
    number = np.random.Generator(np.random.MT19937(0)).integers(0, _END, 1, np.uint64)
    return bool(number[0] == first << 32 | second)
