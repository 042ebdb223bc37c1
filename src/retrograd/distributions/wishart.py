"""The Wishart distribution: sums of the outer squares of normal vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import retrograd as torch
from retrograd import Size, Tensor

from ..foundations.errors import warn
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import _EVENT_DIMS, _FACTOR, _Factored, _the_matrix

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = ["Wishart"]

_LOG_2 = math.log(2)


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of mvlgamma."""
    return torch.digamma(x.unsqueeze(-1) - torch.arange(p, dtype=x.dtype).div(2).expand((*x.shape, -1))).sum(-1)


class Wishart(_Factored, ExponentialFamily):
    """Positive definite matrices: the sum of the outer squares of `df` normal vectors with mean 0.

    One of three matrices of shape (*, p, p) is given: the covariance of the vectors, its inverse, or its lower Cholesky
    factor. `df` may be any number above p - 1.

    >>> import retrograd as torch
    >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])

    Raises AssertionError unless exactly one matrix is given, and ValueError if `df` is too small.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, df: Any, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:
        given = _the_matrix(covariance_matrix, precision_matrix, scale_tril)
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, (bool, int, float)):
            batch_shape = matrix.shape[:-2]
            self.df = torch.tensor(df, dtype=matrix.dtype)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        p = matrix.shape[-1]
        if self.df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        if self.df.lt(p).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        self._unbroadcasted_scale_tril = _FACTOR[name](matrix)
        self._dist_chi2 = Chi2(self._chi2_df())

    def _chi2_df(self) -> Tensor:
        """The degrees of freedom of the squares on the diagonal of the factor of a sample."""
        p = self._event_shape[-1]
        return self.df.unsqueeze(-1) - torch.arange(p, dtype=self.df.dtype).expand((*self.df.shape, -1))

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(Wishart, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand((*batch_shape, *self._event_shape))
        new = self._expanded(Wishart, batch_shape, new, df=0, **_EVENT_DIMS)
        new._dist_chi2 = Chi2(new._chi2_df())
        return new

    @property
    def arg_constraints(self) -> Mapping[str, Any]:
        """The names of the parameters, with their constraints. That of `df` follows from the shape."""
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def _df_of_matrices(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Tensor:
        return self._df_of_matrices() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        outer = torch.einsum("...i,...j->...ij", diagonal, diagonal)
        return self._df_of_matrices() * (self.covariance_matrix.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples from a factor with normal numbers below a diagonal of roots of chi-squared numbers."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=torch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(p, p, offset=-1)
        noise[..., rows, columns] = torch.randn((*sample_shape, *self._batch_shape, p * (p - 1) // 2),
                                                dtype=noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int | None = None) -> Tensor:
        """Samples with gradients. Those that rounding made singular are drawn again, up to 10 times.

        `max_try_correction` is another number of times. PyTorch also draws each sample that is not singular once more;
        so does this method, for the same stream of numbers.
        """
        sample = self._bartlett_sampling(Size(sample_shape))
        chosen = self._of_all_batch(self.support.check(sample))
        tries = 10 if max_try_correction is None else max_try_correction
        while tries and chosen.any():
            again = self._bartlett_sampling(chosen[chosen].shape)
            sample[chosen] = again
            singular = self._of_all_batch(~self.support.check(again))
            chosen = chosen.masked_scatter(chosen, singular)
            tries -= 1
        return sample

    def _of_all_batch(self, found: Tensor) -> Tensor:
        """Whether it was found for a matrix of the batch, for each sample of the batch."""
        return found.amax([*range(-len(self._batch_shape), 0)]) if self._batch_shape else found

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        size = torch.linalg.slogdet(value).logabsdet
        solved = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (-nu * (p * _LOG_2 / 2 + self._log_det_of_factor()) - torch.mvlgamma(nu / 2, p)
                + (nu - p - 1) / 2 * size - solved.diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2)

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return ((p + 1) * (p * _LOG_2 / 2 + self._log_det_of_factor()) + torch.mvlgamma(nu / 2, p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p) + nu * p / 2)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        p = self._event_shape[-1]
        shape = y + (p + 1) / 2
        return shape * (-torch.linalg.slogdet(-2 * x).logabsdet + _LOG_2 * p) + torch.mvlgamma(shape, p)
