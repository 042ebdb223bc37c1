"""torch.nn.modules.utils: one size given for all dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["repeated"]


def repeated(value: Any, dims: int) -> tuple[Any, ...]:
    """The sizes of `dims` dimensions: an iterable gives them all, and any other value stands for each of them."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """`repeated` for `n` dimensions, by the name that programs import from PyTorch."""
    return lambda value: repeated(value, n)


_single, _pair, _triple, _quadruple = _ntuple(1), _ntuple(2), _ntuple(3), _ntuple(4)
