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


def either(name: str, condition: Callable[..., Any], first: Callable[..., Any], second: Callable[..., Any], *,
           floats: int, tensors: int | None = None) -> Op:
    """`first` if the condition, a bool of no dimensions, holds, and `second` if not, all of the same arguments.

    If the condition stands for something else than a bool, such as one for each sample of a batch, both are computed
    and one result is chosen. The way not taken gets ones instead of the first arguments, so many as are `floats`, so
    that its derivatives are finite.
    """

    def kernel(*args: Any) -> Any:
        return (first if condition(*args) else second)(*args)

    def composition(*args: Any) -> Any:
        holds, rest = condition(*args), args[floats:]
        array = getattr(holds, "_array", holds)              # what is behind a tensor
        if type(array) is np.ndarray:
            return (first if array else second)(*args)
        results = [way(*[np.where(holds, *pair) for pair in pairs], *rest) for way, pairs in (
            (first, [(x, 1.0) for x in args[:floats]]), (second, [(1.0, x) for x in args[:floats]]))]
        return np.where(holds, *results)

    return composed(name, kernel, composition, tensors=floats if tensors is None else tensors,
                    arguments=parameters(first))
