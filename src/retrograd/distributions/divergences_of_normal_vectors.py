"""Divergences between normal distributions of vectors, with full covariances and with covariances of low rank.

KL(p || q) is half of log det(Q) - log det(P) + trace(Q^-1 P) + d Q^-1 d - n, for the covariances P and Q and the
difference d of the means.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import retrograd as torch
from retrograd import Tensor

from .kl import register_kl
from .lowrank_multivariate_normal import LowRankMultivariateNormal, _batch_lowrank_logdet, _batch_lowrank_mahalanobis
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis

_Either = MultivariateNormal | LowRankMultivariateNormal


def _same_events(p: _Either, q: _Either, names: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {names} with                          different event shapes "
                         "cannot be computed")


def _log_det(p: _Either) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return 2 * p._log_det_of_factor()
    return _batch_lowrank_logdet(p._unbroadcasted_cov_diag, p._capacitance_tril)


def _squares(matrices: Tensor) -> Tensor:
    """The sums of the squares of all elements of matrices."""
    return matrices.pow(2).sum((-2, -1))


def _parts(p: _Either) -> list[Tensor]:
    """Matrices A, B, … for which the covariance is A A^T + B B^T + …"""
    if isinstance(p, MultivariateNormal):
        return [p._unbroadcasted_scale_tril]
    return [p._unbroadcasted_cov_factor, torch.diag_embed(p._unbroadcasted_cov_diag.sqrt())]


def _trace(p: _Either, q: _Either) -> Tensor:
    """trace(Q^-1 P): the squares of L^-1 A for the parts A of P, where L L^T is Q. The Woodbury formula gives Q^-1."""
    if isinstance(q, MultivariateNormal):
        factor = q._unbroadcasted_scale_tril
        return reduce(add, [_squares(torch.linalg.solve_triangular(factor, part, upper=False)) for part in _parts(p)])
    scaled = q._unbroadcasted_cov_factor.mT / q._unbroadcasted_cov_diag.unsqueeze(-2)
    projection = torch.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)
    root = q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)
    return reduce(add, [_squares(part * root) - _squares(projection.matmul(part)) for part in _parts(p)])


def _distance(p: _Either, q: _Either) -> Tensor:
    difference = q.loc - p.loc
    if isinstance(q, MultivariateNormal):
        return _batch_mahalanobis(q._unbroadcasted_scale_tril, difference)
    return _batch_lowrank_mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, difference,
                                      q._capacitance_tril)


def _divergence(p: _Either, q: _Either) -> Tensor:
    return 0.5 * (_log_det(q) - _log_det(p) + _trace(p, q) + _distance(p, q) - p.event_shape[0])


@register_kl(MultivariateNormal, MultivariateNormal)
def _full(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    _same_events(p, q, "Multivariate Normals")
    return _divergence(p, q)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal) -> Tensor:
    _same_events(p, q, "Low Rank Multivariate Normals")
    return _divergence(p, q)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _mixed(p: _Either, q: _Either) -> Tensor:
    _same_events(p, q, "(Low Rank) Multivariate Normals")
    return _divergence(p, q)
