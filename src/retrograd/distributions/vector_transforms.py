"""Transforms of vectors and matrices: onto the simplex, and to Cholesky factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd.nn.functional import logsigmoid, pad, softplus

from . import constraints
from .transform import Alike, Transform
from .utils import tril_matrix_to_vec, vec_to_tril_matrix

__all__ = ["CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "SoftmaxTransform",
           "StickBreakingTransform"]


def _clipped_sigmoid(x: Tensor) -> Tensor:
    return inside_unit_interval(torch.sigmoid(x))


def inside_unit_interval(y: Tensor) -> Tensor:
    limits = torch.finfo(y.dtype)
    return y.clamp(min=limits.tiny, max=1.0 - limits.eps)


class CorrCholeskyTransform(Transform):
    """From a vector of D * (D - 1) / 2 real numbers to the Cholesky factor of a D x D correlation matrix.

    The numbers, through tanh, are partial correlations. They fill the rows below the diagonal, and each row is given
    the length 1.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = torch.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        with_ones = partial + torch.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return with_ones * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: None = None) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        of_rows = 0.5 * left.log().sum(-1)
        return of_rows + -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        size = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return _with_end(shape, -1, size, size)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return _with_end(shape, -2, shape[-1] * (shape[-1] - 1) // 2)


class SoftmaxTransform(Alike):
    """From real vectors to the simplex: exp(x), normalized. It is not bijective, and its inverse is log(y)."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        powers = (x - x.max(-1, True)[0]).exp()
        return powers / powers.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _longer(shape, 0)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return self.forward_shape(shape)


class StickBreakingTransform(Alike):
    """From real vectors to the simplex of one more number, by breaking pieces off a stick of length 1.

    Each number, through a sigmoid, is the share that the next piece takes of what is left.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        shares = _clipped_sigmoid(x - _counted_down(x, x.shape[-1]).log())
        left = (1 - shares).cumprod(-1)
        return pad(shares, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        left = torch.clamp(1 - pieces.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return pieces.log() - left.log() + _counted_down(y, pieces.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _counted_down(x, x.shape[-1]).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _longer(shape, 1)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _longer(shape, -1)


def _counted_down(like: Tensor, n: int) -> Tensor:
    """The numbers n, n - 1, ..., 1 in the dtype of a tensor."""
    return n + 1 - like.new_ones(n).cumsum(-1)


def _longer(shape: Sequence[int], more: int) -> Any:
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return _with_end(shape, -1, shape[-1] + more)


def _with_end(shape: Any, cut: int, *end: int) -> Any:
    """A shape, of the same class, with other sizes from the dim `cut` on."""
    return type(shape)((*shape[:cut], *end))


class LowerCholeskyTransform(Alike):
    """From square matrices to lower triangular ones with a positive diagonal, which is exp of the given diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Alike):
    """From square matrices to positive definite ones: L @ L.mT, with the L of `LowerCholeskyTransform`."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        inverse: Tensor = LowerCholeskyTransform().inv(torch.linalg.cholesky(y))
        return inverse
