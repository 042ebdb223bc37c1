"""The arguments that functions with a sliding window share: sizes as callers give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.errors import kind_of
from ..state.base import TensorBase


def ints(name: str, argument: str, value: Any) -> tuple[int, ...]:
    """One int or several, as a tuple. Raises TypeError for any other value."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    for place, each in enumerate(given):
        if isinstance(each, TensorBase) and not each._array.ndim and each._array.dtype.kind in "iu":
            continue
        if isinstance(each, (TensorBase, bool)) or not isinstance(each, (int, np.integer)):
            raise _wrong(name, argument, value, place)
    return tuple(map(int, given))


def _wrong(name: str, argument: str, value: Any, place: int) -> TypeError:
    """PyTorch's error for the element of a list at a place, or for a value that is no list."""
    if place:
        return TypeError(f"{name}(): argument '{argument}' failed to unpack the object at pos {place + 1} with error "
                         f'"type must be tuple of ints,but got {kind_of(value[place])}"')
    columns = name in ("im2col", "col2im")                 # PyTorch makes a list of one value itself there
    given = value if isinstance(value, (tuple, list)) else [value]
    listed = columns or given is value
    found = f"but found element of type {kind_of(given[0])} at pos 0" if listed else f"not {kind_of(value)}"
    position = (_OF_COLUMNS if columns else _POSITIONS)[argument] + (name == "col2im")
    return TypeError(f"{name}(): argument '{argument}' (position {position}) must be tuple of ints, {found}")


# The positions of these arguments, which PyTorch's messages name.
_POSITIONS = {"kernel_size": 2, "output_size": 2, "stride": 3, "padding": 4, "dilation": 5, "output_padding": 6}
_OF_COLUMNS = {"output_size": 1, "kernel_size": 2, "dilation": 3, "padding": 4, "stride": 5}


def spelled(dims: int) -> str:
    """A number of dimensions, spelled as a word."""
    return ("one", "two", "three")[dims - 1]


def shown(sizes: Any, between: str = "x") -> str:
    """Sizes as PyTorch writes them in words: 3x8x8."""
    return between.join(map(str, sizes))
