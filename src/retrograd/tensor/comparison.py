"""Comparison methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NUMPY: dict[Any, Callable[..., Any]] = {}


class ComparisonMethods:
    """Comparison methods."""

    __slots__ = ()
