"""Random data of any kind, and a function that makes a tensor of the data: numbers, nested sequences, arrays.

`outcome(library, seed)` says what the function of a library makes of it, or which error it raises. The data is also an
index, which is read or written.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import random
import warnings
from typing import Any

import numpy as np

NUMBERS = (1, 0, -3, 2.5, True, False, 7, 1.0, 300, -1, 2**40, 1e300, 1j)
TYPES = ("float32", "float64", "int64", "int8", "uint8", "bool", "complex64", "float16", "int32")
KINDS_OF_ARRAYS = ("f4", "f8", "i8", "i4", "u1", "?", "c8", "f2", "i2", "c16", ">f4", "S3", "U2", "O", "M8[s]")
MAKERS = ("tensor", "tensor", "tensor", "as_tensor", "asarray", "FloatTensor", "LongTensor", "IntTensor", "BoolTensor",
          "new_tensor", "frombuffer", "from_numpy", "getitem", "getitem", "setitem")


class Indexed:
    """An object that stands for an int."""

    def __index__(self) -> int:
        return 3


class Floating:
    """An object that stands for a float."""

    def __float__(self) -> float:
        return 2.5


class Sequence:
    """A sequence that is no list."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: int) -> Any:
        return self.values[place]


class Color(enum.IntEnum):
    """An int with a name."""

    RED = 4


def one(draws: random.Random, t: Any) -> Any:
    """Something that may be a number."""
    return draws.choice([
        *[lambda n=n: n for n in (*NUMBERS, float("nan"), float("inf"), 2**63 - 1, 2**63, -2**63 - 1, None, "a", b"a")],
        lambda: np.float32(1.5), lambda: np.int64(3), lambda: np.int8(-2), lambda: np.uint8(200), lambda: np.True_,
        lambda: np.complex64(1), lambda: np.float64(2.), lambda: np.float16(.5), lambda: np.uint64(3),
        lambda: t.tensor(3), lambda: t.tensor(2.5), lambda: t.tensor(True), lambda: t.tensor([1.]),
        lambda: t.tensor([1, 2]), lambda: t.tensor(1., dtype=t.float64), lambda: decimal.Decimal("1.5"),
        lambda: fractions.Fraction(1, 2), Indexed, Floating, lambda: Color.RED, lambda: datetime.date(2020, 1, 1),
        lambda: t.float32, lambda: range(2), lambda: {1, 2}, dict, lambda: object, lambda: Ellipsis])()


def drawn(draws: random.Random, t: Any, depth: int = 0) -> Any:
    """Data, of which some is ragged or has items that are no numbers."""
    kind = draws.random()
    if depth > 2 or kind < .2:
        return one(draws, t)
    if kind < .35:
        first, second = draws.randrange(3), draws.randrange(3)
        return [[draws.choice(NUMBERS) for _ in range(first)], [draws.choice(NUMBERS) for _ in range(second)]]
    if kind < .6:
        return [draws.choice(NUMBERS) for _ in range(draws.randrange(4))]
    if kind < .8:
        return draws.choice((list, tuple))([drawn(draws, t, depth + 1) for _ in range(draws.randrange(3))])
    if kind < .9:
        return np.ones(draws.choice([(), (2,), (2, 3)]), draws.choice(KINDS_OF_ARRAYS))
    return draws.choice([
        lambda: range(3), lambda: array.array("f", [1, 2]), lambda: bytearray(b"abcd"), lambda: Sequence([1, 2]),
        lambda: Sequence([[1., 2], [3, 4]]), lambda: collections.deque([1, 2]), lambda: (i for i in range(2)),
        lambda: {1: 2}, lambda: "abc", lambda: [[]], lambda: [[[]]], lambda: [t.ones(2), t.zeros(2)],
        lambda: [t.ones(1), t.ones(1)], lambda: [np.float32(1), 2], lambda: [1, [2]], lambda: [[1], 2],
        lambda: [{1, 2}], lambda: [[1, 2], {3, 4}], lambda: [True, np.True_], lambda: t.Size([2, 3])])()


def _key(draws: random.Random, data: Any) -> Any:
    """The data as an index, or as a part of an index."""
    return draws.choice([data, (data,), (0, data), (slice(None), data), (None, data, ...), [data], [data, 0]])


def outcome(t: Any, seed: int) -> str:
    """What a library makes of the data of a seed."""
    draws = random.Random(seed)
    maker, data = draws.choice(MAKERS), drawn(draws, t)
    options = {"dtype": getattr(t, draws.choice(TYPES))} if draws.random() < .5 else {}
    if maker == "frombuffer" and isinstance(data, np.ndarray) and data.dtype.kind == "M":
        return "a buffer that only C can read"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if maker in ("tensor", "as_tensor", "asarray"):
                made = getattr(t, maker)(data, **options)
            elif maker == "new_tensor":
                made = t.ones(1, dtype=options.get("dtype")).new_tensor(data)
            elif maker == "frombuffer":
                made = t.frombuffer(data, dtype=options.get("dtype", t.uint8), count=draws.choice([-1, 1, 2]),
                                    offset=draws.choice([0, 1]))
            elif maker == "from_numpy":
                made = t.from_numpy(data)
            elif maker == "getitem":
                made = t.arange(60.).reshape(3, 4, 5)[_key(draws, data)]
            elif maker == "setitem":
                made = t.arange(60.).reshape(3, 4, 5)
                made[_key(draws, data)] = draws.choice([2, t.tensor(3.)])
            elif hasattr(type(data), "__index__") or (isinstance(data, np.ndarray) and not data.ndim) or (
                    type(data).__name__ == "Size"):
                return "a size, not data"
            else:
                made = getattr(t, maker)(data)
        except Exception as error:
            return f"{maker}: {type(error).__name__}: {error}".partition("\nException raised")[0]
    return f"{maker}: {made.dtype} {tuple(made.shape)} {made.tolist()}"
