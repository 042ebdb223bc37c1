"""Dropout, as a module."""

from __future__ import annotations

from typing import Any

from .functional import dropping as functional
from .module import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """In training, sets each element to 0 with probability `p` and scales the others by 1 / (1 - p); else nothing.

    Raises ValueError for a `p` outside of [0, 1].
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        functional.check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        """`functional.dropout` of the input."""
        return functional.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
