"""Which writes in place may read the memory that they write, and which may write to a place several times."""

from __future__ import annotations

from typing import Any

from ...foundations.dtypes import Array
from ...ops.elementwise.arithmetic import fill, fill_tensor, zero
from ...ops.framework import Op
from ...ops.indexing.indexing import (
    index_add,
    index_copy,
    index_fill,
    index_fill_tensor,
    index_put,
    masked_fill,
    masked_fill_tensor,
    put,
    scatter,
    scatter_add,
    scatter_value,
)
from ...ops.indexing.scattering import (
    index_extreme,
    index_mean,
    index_prod,
    scatter_extreme,
    scatter_mean,
    scatter_number,
    scatter_prod,
    scatter_reduce_sum,
    scatter_with,
)
from ...ops.networks.activations import threshold
from ...ops.tables import table
from ..state.writable import refuse_overlap, unlock, unlocked

_ONE_NUMBER = table("It writes one number everywhere, so it may write to a place several times",
                    dict.fromkeys((fill, fill_tensor, zero), True))
_COINCIDING = table("It may write to a place several times", dict.fromkeys(
    (index_fill, index_fill_tensor, index_put, masked_fill, masked_fill_tensor, threshold), True))
_READ_FIRST = table("It reads its one value before it writes, so the value may be an element of the memory",
                    dict.fromkeys((index_fill_tensor, masked_fill_tensor), True))
_BY_PLACE = table("It writes to places that an index names, so it may not read the memory at all", dict.fromkeys(
    (index_add, index_copy, index_extreme, index_fill, index_fill_tensor, index_mean, index_prod, put, scatter,
     scatter_add, scatter_extreme, scatter_mean, scatter_number, scatter_prod, scatter_reduce_sum, scatter_value,
     scatter_with), True))


def check_overlaps(op: Op, target: Array, arrays: list[Any]) -> None:
    """Refuse an operator that would read memory that it also writes. `target` is the first of the arrays."""
    apart = op in _BY_PLACE
    if apart or (op.kind in ("elementwise", "linear") and op not in _ONE_NUMBER and op.indices_at is None):
        for other in arrays[1:]:
            if other is not None and (other.ndim or op not in _READ_FIRST):
                refuse_overlap(target, other, whole=apart)


def opened(op: Op, target: Array, others: Any) -> Array:
    """A writable array over a target whose elements coincide. Raises RuntimeError unless the operator allows them."""
    return (unlocked if op in _COINCIDING or (op in _ONE_NUMBER and not others) else unlock)(target)
