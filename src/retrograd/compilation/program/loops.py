"""A loop: elementwise steps over one index space, and the reductions at their ends. Both executors run loops.

A loop reads its inputs once, computes all steps for one element after the other (or for one block after the other), and
writes only its outputs. The values of a loop are numbered: the inputs first, then the results of the steps, in order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...ops.framework import Op
from .lines import Ref as Ref


class Step(NamedTuple):
    """One elementwise call. `args` are those of the op: a `Ref` for each array, and options as they are."""

    op: Op
    args: tuple[Any, ...]
    dtype: np.dtype[Any]                                   # of the result


class Operand(NamedTuple):
    """Memory that a loop reads or writes. `strides` has the bytes of each dim of the loop, 0 where it repeats."""

    dtype: np.dtype[Any]
    strides: tuple[int, ...]


class Output(NamedTuple):
    """A value that is written for each element."""

    value: int
    operand: Operand


class Reduction(NamedTuple):
    """A value that is reduced over `dims` of the loop; the result lies row by row, without these dims.

    `kind` is 'sum', 'amax' or 'amin'. A sum is made in `dtype`.
    """

    kind: str
    value: int
    dims: tuple[int, ...]
    dtype: np.dtype[Any]


class Loop(NamedTuple):
    """Elementwise steps over `shape`. The operands are the inputs, then the outputs, then the reductions."""

    shape: tuple[int, ...]
    inputs: tuple[Operand, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    reductions: tuple[Reduction, ...]

    @property
    def size(self) -> int:
        """The number of elements of the index space."""
        return math.prod(self.shape)
