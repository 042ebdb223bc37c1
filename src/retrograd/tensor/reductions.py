"""Reduction methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NUMPY: dict[Any, Callable[..., Any]] = {}


class ReductionMethods:
    """Reduction methods."""

    __slots__ = ()
