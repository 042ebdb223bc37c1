"""Which calls have results of a shape that numbers decide. No plan can repeat such a call for other numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...ops.framework import Op
from ...ops.indexing.indexing import index, masked_select
from ...ops.indexing.sorting import bincount, nonzero, nonzero_columns, unique, unique_consecutive, unique_dim
from ...ops.linalg.solving import lstsq

_ALWAYS = frozenset((bincount, masked_select, nonzero, nonzero_columns, unique, unique_consecutive, unique_dim))
_BY_RANK = ("gelsd", "gelss")
# The dtypes of masks: bool and uint8.
_MASKS = frozenset("?B")


def is_shaped_by_numbers(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether the shape of a result of a call depends on numbers: by the operator, by a mask among its indices, or by
    the rank of a matrix.
    """
    if op is lstsq:                                          # of which some drivers have residuals for full ranks only
        return args[3] in _BY_RANK and args[0].shape[-2] > args[0].shape[-1]
    return op in _ALWAYS or (op is index and any([part.dtype.char in _MASKS for part in _arrays(args[1:])]))


def _arrays(value: Iterable[Any]) -> Iterator[Any]:
    """The arrays in lists and tuples, traced or not."""
    for part in value:
        if isinstance(part, (list, tuple)):
            yield from _arrays(part)
        elif hasattr(part, "strides"):
            yield part
