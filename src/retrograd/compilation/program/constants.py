"""Values that cannot change, and whether two of them differ."""

from __future__ import annotations

import enum
from collections.abc import Collection
from operator import is_
from typing import Any

import numpy as np

from ...foundations.devices import device
from ...foundations.dtypes import dtype
from ...tensors.arguments.size import Size
from .sizes import SizeFloat, SizeInt, plain
from .stand_in_numbers import STAND_INS


class Missing:
    """What stands in a place that does not exist."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()
_NUMBER = "it cannot change, and is compared by its type and value"
_SINGLE = "it cannot change, and is compared by identity"
# Values that a guard compares by type and by equality, or by identity, with the reason why this is enough.
NUMBERS: dict[type[Any], str] = {
    **dict.fromkeys((int, float, complex, str, bytes, range, slice, Size, device, np.dtype, np.generic, SizeInt,
                     SizeFloat), _NUMBER),
    **dict.fromkeys(STAND_INS, "it stands for a number of the trace, and no guard sees it")}
SINGLETONS: dict[type[Any], str] = dict.fromkeys(
    (type(None), bool, type(Ellipsis), type(NotImplemented), dtype, enum.Enum, Missing), _SINGLE)
_NUMBERS, _SINGLETONS = tuple(NUMBERS), tuple(SINGLETONS)


def is_constant(value: Any) -> bool:
    """Whether a value cannot change, so that it is compared by type and equality.

    A number of a trace is such a value, and a tuple with one is none, because each call makes another tuple.
    """
    if isinstance(value, _SINGLETONS):
        return True
    if type(value) is tuple:
        return all([is_constant(part) and type(part) not in STAND_INS for part in value])
    return isinstance(value, _NUMBERS) and (type(value) in NUMBERS or isinstance(value, (np.generic, np.dtype)))


def differ(value: Any, former: Any) -> bool:
    """Whether two constants differ. A nan equals a nan, and -0.0 differs from 0.0."""
    kind = type(former)
    if type(value) is not kind:
        number, known = plain(value), plain(former)          # a size of a trace is the int that it stands for
        return differ(number, known) if type(number) is type(known) else True
    if kind is float or kind is complex:
        return repr(value) != repr(former)
    if isinstance(former, np.generic):
        return bool(value.dtype != former.dtype or value.tobytes() != former.tobytes())
    if kind is slice or kind is range:                       # equal ranges may have other ends
        return any([differ(getattr(value, part), getattr(former, part)) for part in ("start", "stop", "step")])
    if kind is tuple:
        return len(value) != len(former) or any(map(differ, value, former))
    if kind is Size:
        return tuple(value) != tuple(former)
    return bool(value != former)


def others(values: Collection[Any], former: Collection[Any]) -> bool:
    """Whether two collections have other parts, or have them in another order.

    Constants are compared as by `differ`, since 1, 1.0 and True are equal, and other things by identity.
    """
    if len(values) != len(former) or all(map(is_, values, former)):
        return len(values) != len(former)
    return any([value is not known and (not is_constant(known) or differ(value, known))
                for value, known in zip(values, former, strict=True)])
