"""Operators that are called once for each sample, although their options have the names of dims."""

from __future__ import annotations

from typing import Any

from ....ops.framework import Op
from .operands import Rule, rules


def one_by_one(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """No single call is known."""
    return NotImplemented


LOOPED: dict[str, Rule] = rules(one_by_one, "renorm weight_norm_interface in_groups segment_reduce histogramdd "
                                            "unique_consecutive unique_dim linalg_lstsq")
