"""How a loss is reduced, in PyTorch's present words and in its old ones."""

from __future__ import annotations

from typing import Any

from ...errors import warn

__all__ = ["checked_reduction"]

_NAMES = frozenset(("mean", "sum", "none"))


def checked_reduction(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction's name; from `size_average` and `reduce`, with a warning, where these are given.

    Raises ValueError for an unknown name.
    """
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
             UserWarning)
    if not isinstance(reduction, str) or reduction not in _NAMES:
        raise ValueError(f"{reduction} is not a valid value for reduction: choose 'mean', 'sum' or 'none'")
    return reduction
