"""Norms and angles of vectors, as functions."""

from __future__ import annotations

from typing import Any

from ...tensor.functions.distances import pdist
from ...tensor.into import into

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, *, out: Any = None) -> Any:
    """`input`, divided by its p-norm along `dim`; by eps where that is less."""
    if out is not None:
        return into(out, normalize, input, p, dim, eps)
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`; norms count at least as eps."""
    first, second = (x / x.norm(2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2))
    return (first * second).sum(dim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)
