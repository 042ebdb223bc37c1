"""The normal distribution of vectors, given by its covariance, its precision or a factor of the covariance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .distribution import Distribution
from .symmetric import _Symmetric
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrices: Tensor, vectors: Tensor) -> Tensor:
    """The products of batches of matrices and vectors."""
    return torch.matmul(matrices, vectors.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(factor: Tensor, vectors: Tensor) -> Tensor:
    """The squares of the Mahalanobis distances: x M^-1 x, where M is `factor` times its transpose.

    `factor` has the shape (*batch, n, n) and `vectors` the shape (*samples, *sizes, n), where each size is a multiple
    of the size of the batch. The vectors of one factor are the columns of one right side.
    """
    *sizes, n = vectors.shape
    many = factor.dim() - 2
    first = len(sizes) - many
    split = [part for size, count in zip(sizes[first:], factor.shape) for part in (size // count, count)]
    axes = range(first, first + 2 * many)
    x = vectors.reshape((*sizes[:first], *split, n)).permute((*range(first), *axes[::2], *axes[1::2], first + 2 * many))
    factors = factor.reshape(-1, n, n)
    columns = x.reshape(-1, len(factors), n).permute(1, 2, 0)
    squares = torch.linalg.solve_triangular(factors, columns, upper=False).pow(2).sum(-2).t()
    back = [axis for i in range(first, first + many) for axis in (i, i + many)]
    return squares.reshape(x.shape[:-1]).permute((*range(first), *back)).reshape(sizes)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse, from the Cholesky factor of the matrix in reverse order."""
    inverse = torch.linalg.cholesky(precision.flip((-2, -1))).flip((-2, -1)).mT
    return torch.linalg.solve_triangular(inverse, torch.eye(precision.shape[-1], dtype=precision.dtype), upper=False)


_FACTOR: dict[str, Callable[[Tensor], Tensor]] = {
    "covariance_matrix": torch.linalg.cholesky, "precision_matrix": _precision_to_scale_tril,
    "scale_tril": lambda matrix: matrix}
# How many dimensions of each attribute do not belong to the batch.
_EVENT_DIMS = {"covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}


def _the_matrix(covariance_matrix: Tensor | None, precision_matrix: Tensor | None,
                scale_tril: Tensor | None) -> list[tuple[str, Tensor]]:
    """The names and the values of the matrices that are given."""
    given = zip(_FACTOR, (covariance_matrix, precision_matrix, scale_tril))
    return [(name, matrix) for name, matrix in given if matrix is not None]


class _OfBatch:
    """A distribution, or a part of one, that expands matrices to its batch."""

    _batch_shape: Any

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, -1, -1))


class _Factored(_OfBatch):
    """A part of a distribution with a covariance, whose Cholesky factor is `_unbroadcasted_scale_tril`."""

    _unbroadcasted_scale_tril: Tensor

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return self._of_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._of_batch(torch.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._of_batch(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _log_det_of_factor(self) -> Tensor:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(_Factored, _Symmetric, Distribution):
    """Normal vectors with the mean `loc` and one of three matrices.

    The matrix is the covariance, its inverse, or the lower Cholesky factor of the covariance. `loc` has the shape
    (*, n) and the matrix the shape (*, n, n).

    >>> import retrograd as torch
    >>> torch.distributions.MultivariateNormal(torch.zeros(2), torch.diag(torch.tensor([1.0, 4.0]))).scale_tril
    tensor([[1., 0.],
            [0., 2.]])

    Raises ValueError unless exactly one matrix is given.
    """

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = _the_matrix(covariance_matrix, precision_matrix, scale_tril)
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given
        if matrix.dim() < 2:
            shown = f"{name} matrix" if name == "scale_tril" else name
            raise ValueError(f"{shown} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = _FACTOR[name](matrix)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(MultivariateNormal, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return self._expanded(MultivariateNormal, batch_shape, new, loc=1, **_EVENT_DIMS)

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        squares = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + squares) - self._log_det_of_factor()

    def entropy(self) -> Tensor:
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det_of_factor()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy
