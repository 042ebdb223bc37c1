"""Choices that depend on the numbers, for rules: between two values, and between two ways to compute a value.

A rule must not look at the numbers of an array, since a transform may put an array without numbers in its place.
So the rule calls one of these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.elementwise import choosing as kernels
from .framework import Op, composed, parameters

# choose(condition, x, y): x where the condition holds, y elsewhere. For arrays the kernel has no branches.
choose = composed("where", kernels.where, np.where, tensors=3)


def ones(count: int) -> Callable[..., tuple[Any, ...]]:
    """A function that returns `count` ones, as the harmless arguments of `either`."""
    return lambda *args: (1.0,) * count


def either(name: str, condition: Callable[..., Any], first: Callable[..., Any], second: Callable[..., Any], *,
           tensors: int, harmless: Callable[..., tuple[Any, ...]], out: Callable[..., Any] | None = None) -> Op:
    """An op that calls `first` if the condition holds and `second` if not. All three take the same arguments.

    The condition returns a bool without dimensions. Under a transform, this bool may stand for several, such as one for
    each sample of a batch. Then both functions are called, and `np.where` picks the results. `harmless` returns values
    for the first arguments of the function whose result is dropped, so that no derivative of that function is nan.

    An argument `out` is a result of the other arguments. `out=` computes the argument again when both functions are
    called. Otherwise a gradient 0 of the function whose result is dropped would go on to how `out` was made, and 0
    times infinity is nan.
    """
    names = parameters(first)

    def kernel(*args: Any) -> Any:
        return (first if condition(*args) else second)(*args)

    def composition(*args: Any) -> Any:
        holds = condition(*args)
        array = getattr(holds, "_array", holds)              # the array of a tensor
        if type(array) is np.ndarray:
            return (first if array else second)(*args)
        safe = harmless(*args)
        given, rest = args[: len(safe)], args[len(safe):]
        taken = first(*completed([np.where(holds, x, other) for x, other in zip(given, safe)] + [*rest]))
        left = second(*completed([np.where(holds, other, x) for x, other in zip(given, safe)] + [*rest]))
        return np.where(holds, taken, left)

    def completed(args: list[Any]) -> list[Any]:
        if out is not None:
            args[names.index("out")] = out(*args)
        return args

    return composed(name, kernel, composition, tensors=tensors, arguments=names)
