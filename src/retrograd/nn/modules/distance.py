"""Distances and angles of vectors as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import distance as functional
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`. A norm less than `eps` counts as `eps`.

    >>> import retrograd as torch
    >>> torch.nn.CosineSimilarity()(torch.tensor([[3., 4.]]), torch.tensor([[4., 3.]]))
    tensor([0.9600])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """`functional.cosine_similarity` of both."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last dimension."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """`functional.pairwise_distance` of both."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
