"""Matrix methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NUMPY: dict[Any, Callable[..., Any]] = {}


class MatrixMethods:
    """Matrix methods."""

    __slots__ = ()
