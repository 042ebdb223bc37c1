"""Choices by the numbers, for rules: of two values by a condition, of two ways to compute one thing.

A rule must not look at numbers, since what stands behind an array may have none to show. So it calls one of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.elementwise import choosing as kernels
from .framework import Op, composed, parameters

# choose(condition, x, y): x where the condition holds, y elsewhere; of arrays, without branches.
choose = composed("where", kernels.where, np.where, tensors=3)


def ones(count: int) -> Callable[..., tuple[Any, ...]]:
    """A 1 for each of so many arguments, for `either`."""
    return lambda *args: (1.0,) * count


def either(name: str, condition: Callable[..., Any], first: Callable[..., Any], second: Callable[..., Any], *,
           tensors: int, harmless: Callable[..., tuple[Any, ...]]) -> Op:
    """`first` if the condition, a bool of no dimensions, holds, and `second` if not, all of the same arguments.

    The condition may stand for more than one bool, such as one for each sample of a batch. Then both ways are taken,
    and one result is chosen. The way that does not count is given what `harmless` makes of the arguments for the first
    of them, so that no derivative there is nan.
    """

    def kernel(*args: Any) -> Any:
        return (first if condition(*args) else second)(*args)

    def composition(*args: Any) -> Any:
        holds = condition(*args)
        array = getattr(holds, "_array", holds)              # what is behind a tensor
        if type(array) is np.ndarray:
            return (first if array else second)(*args)
        safe = harmless(*args)
        given, rest = args[: len(safe)], args[len(safe):]
        taken = first(*[np.where(holds, x, other) for x, other in zip(given, safe)], *rest)
        left = second(*[np.where(holds, other, x) for x, other in zip(given, safe)], *rest)
        return np.where(holds, taken, left)

    return composed(name, kernel, composition, tensors=tensors, arguments=parameters(first))
