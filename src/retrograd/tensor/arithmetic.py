"""Arithmetic and powers of tensors, as functions, operators and in place."""

from __future__ import annotations

from typing import Any

from ..ops import arithmetic as ops
from .inplace import inplace
from .recording import recorded


class ArithmeticMethods:
    """Arithmetic, as methods and as Python's operators."""

    __slots__ = ()

    __add__ = recorded(ops.add, dunder=True)
    __mul__ = recorded(ops.mul, dunder=True)
    __truediv__ = recorded(ops.div, dunder=True)
    __sub__ = recorded(ops.sub, dunder=True)
    mul_ = inplace(ops.mul)
