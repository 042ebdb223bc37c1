"""Shape methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NUMPY: dict[Any, Callable[..., Any]] = {}


class ShapeMethods:
    """Shape methods."""

    __slots__ = ()
