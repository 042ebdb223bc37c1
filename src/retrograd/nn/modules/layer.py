"""What the layers of a family share, so that each layer states only what sets it apart.

This module must not know any single layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .module import Module


class Layer(Module):
    """A module whose `class` statement may name the function that it calls, and its number of dimensions of space."""

    dims: ClassVar[int] = 0
    _function: ClassVar[Callable[..., Any]]
    # What the text of the module says of its options. Names of attributes stand in braces.
    _options_text: ClassVar[str] = ""

    def __init_subclass__(cls, *, function: Callable[..., Any] | None = None, dims: int = 0, **others: Any) -> None:
        super().__init_subclass__(**others)
        if function is not None:
            cls._function = staticmethod(function)
        if dims:
            cls.dims = dims

    def extra_repr(self) -> str:
        return self._options_text.format_map(vars(self))
