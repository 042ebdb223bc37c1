"""Which units of a program for all sizes have machine code, and which are large for sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...ops.linalg.matrix import mm
from ..passes.fusing import Unit
from ..program.forms import Count, Sizes, at
from ..program.layouts import Layout
from ..program.lines import Line, Value
from ..program.symbols import is_symbolic
from . import lowered
from .lowered import product
from .machine import LARGE
from .products import has_blas

# The most multiplications of a product that keeps the interpreter's lock.
_LARGEST_PRODUCT = 1 << 21


def joins(line: Line, values: list[Value]) -> bool:
    """Whether a line of a loop has machine code: its options do not depend on sizes."""
    return not is_symbolic(line.args) and lowered.joins(line, values)


def is_product(line: Line, values: list[Value]) -> bool:
    """Whether a line is a product of two matrices that lie row by row, or whose transposes do, which NumPy's BLAS
    computes.
    """
    found = product(line, values, (0, 0, 0))
    return line.op is mm and found is not None and found.sizes is None and has_blas(found.dtype)


def is_large(unit: Unit, shape: Sequence[Count] | None, layouts: Mapping[int, Layout], sizes: Sizes) -> bool:
    """Whether a unit is large for sizes: a loop that may be split over threads, or a product that is called by Python.
    """
    if not unit.native:
        return False
    if shape is None:
        (m, k), (_, n) = [[at(n, sizes) for n in layouts[number].shape] for number in unit.lines[0].reads[:2]]
        return m * k * n > _LARGEST_PRODUCT
    return math.prod([at(n, sizes) for n in shape]) >= LARGE
