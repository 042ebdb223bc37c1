"""Functions for sizes that PyTorch's compiler knows only by a symbol. Here, sizes are always numbers of Python.

The classes of symbols have no instances. Programs test sizes with `isinstance`.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from .foundations.names import refused

__all__ = ["SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
           "sym_sqrt", "sym_sum"]


class _Symbol:
    """The base of the classes of symbols. A call raises NotImplementedError."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: there are no symbols."""
        refused(f"torch.{cls.__name__}")()


class SymInt(_Symbol):
    """An int that a compiler knows only by a symbol. There are no instances."""


class SymFloat(_Symbol):
    """A float that a compiler knows only by a symbol. There are no instances."""


class SymBool(_Symbol):
    """A bool that a compiler knows only by a symbol. There are no instances."""


def sym_int(a: Any) -> int:
    """The number, rounded towards 0."""
    return int(a)


def sym_float(a: Any) -> float:
    """The number as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """`not a`."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers. The result is a float if one of the numbers is a float."""
    return _common(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers. The result is a float if one of the numbers is a float."""
    return _common(min(a, b), a, b)


def _common(chosen: Any, a: Any, b: Any) -> Any:
    return float(chosen) if isinstance(a, float) or isinstance(b, float) else chosen


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b` is True, and `f` if it is False. `t` and `f` must have one type."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_sum(*args: Any) -> Any:
    """The sum of numbers, which may be given in one list."""
    numbers = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
    return sum(numbers)
