"""Traced arrays behind the tensors of a program: how they come there, and how the tensors get their own arrays back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from .traced import Traced
from .tracing import Tape


def put_in_place(tape: Tape, tensors: Iterable[Any], held: list[tuple[Any, Array]]) -> None:
    """Put traced arrays behind tensors. `held` gets the tensors with the arrays that they had, for `give_back`."""
    for tensor in tensors:
        if type(tensor._array) is np.ndarray:
            traced = tape.outside(tensor._array)
            held.append((tensor, tensor._array))
            tensor._array = traced


def give_back(held: list[tuple[Any, Array]]) -> None:
    """Give tensors the arrays that they had, except tensors that have other arrays now."""
    for tensor, array in held:
        if type(tensor._array) is Traced and tensor._array.like is array:
            tensor._array = array
