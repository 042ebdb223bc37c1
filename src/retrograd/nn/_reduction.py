"""torch.nn._reduction: the numbers of the reductions of losses, and the old names of the reductions."""

from __future__ import annotations

from ..foundations.errors import warn
from .functional.reduction import checked_reduction

__all__: list[str] = []

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number of a reduction. Raises ValueError for an unknown name."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", UserWarning)
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the old options say, with a warning."""
    return checked_reduction("mean", True if size_average is None else size_average, reduce, emit_warning)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that the old options say."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
