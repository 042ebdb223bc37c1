"""The LKJ distribution: Cholesky factors of random correlation matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices M of `dim` rows, with det(M) ** (concentration - 1) for a density.

    >>> import retrograd as torch
    >>> torch.distributions.LKJCholesky(3).log_prob(torch.eye(3))
    tensor(-1.5963)

    Samples come by the onion method (Lewandowski, Kurowicka and Joe, 2009). Raises ValueError if `dim` is below 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        rows = torch.arange(dim - 1, dtype=self.concentration.dtype)
        rows = torch.cat([rows.new_zeros((1,)), rows])
        most = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(rows + 0.5, most.unsqueeze(-1) - 0.5 * rows)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        new.dim = self.dim
        new = self._expanded(LKJCholesky, batch_shape, new, concentration=0)
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return new

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """A row is a direction from the sphere below the diagonal, scaled so that its square length is beta."""
        squares = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = torch.randn(self._extended_shape(sample_shape), dtype=squares.dtype).tril(-1)
        directions = normal / normal.norm(dim=-1, keepdim=True)
        directions[..., 0, :].fill_(0.0)                # the first row has nothing below the diagonal
        rows = torch.sqrt(squares) * directions
        smallest = torch.finfo(rows.dtype).tiny
        return rows + torch.diag_embed(torch.clamp(1 - torch.sum(rows**2, dim=-1), min=smallest).sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1)
        unnormalized = torch.sum(order * diagonal.log(), dim=-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        normalizer = (0.5 * less * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, less) - torch.lgamma(alpha) * less)
        return unnormalized - normalizer
