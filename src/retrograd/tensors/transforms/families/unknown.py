"""Operators that no single call computes for a batch: those called for each sample, and those that are refused."""

from __future__ import annotations

from typing import Any

from ....ops.framework import Op
from ..batched import is_batched
from ..refusals import SELECTED, of_any_shape
from .operands import Rule, rules


def one_by_one(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator whose options have the names of dims, but another meaning."""
    return NotImplemented


def _of_any_shape(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator whose results differ in shape from sample to sample."""
    raise RuntimeError(of_any_shape("where" if op.outputs == ("*",) else op.name))


def _masked_select(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    if is_batched(args[1], level):
        raise RuntimeError(SELECTED)
    return NotImplemented


UNKNOWN: dict[str, Rule] = {
    **rules(one_by_one, "renorm weight_norm_interface in_groups segment_reduce histogramdd linalg_lstsq"),
    **rules(_of_any_shape, "nonzero _unique2 unique_consecutive unique_dim"),
    "masked_select": _masked_select,
}
