"""Layer, group and batch normalisation: standardise, then times a weight plus a bias. Must not know ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import refuse
from .elementary import widened
from .standardizing import moments, standardized_rows


def layer_norm(x: Any, weight: Any, bias: Any, rank: int, eps: float) -> tuple[Any, Any, Any]:
    """x standardised over its last `rank` axes, times weight, plus bias; with the means and 1 / the deviations."""
    refuse(x.dtype, "LayerNormKernelImpl", "biuc")
    lead, shape = x.shape[:x.ndim - rank], x.shape[x.ndim - rank:]
    length, stats = math.prod(shape), lead + (1,) * rank
    kept = x.dtype if weight is None else weight.dtype
    if not x.size:
        return x.copy(), np.zeros(stats, kept), np.full(stats, eps ** -0.5 if eps > 0 else math.inf, kept)
    scale, shift = (None if a is None else widened(a).reshape(length) for a in (weight, bias))
    out, mean, rstd = standardized_rows(widened(x).reshape(-1, length), scale, shift, eps)
    return (out.reshape(x.shape).astype(x.dtype, copy=False), mean.reshape(stats).astype(kept, copy=False),
            rstd.reshape(stats).astype(kept, copy=False))


def _affine(out: Any, weight: Any, bias: Any, shape: list[int]) -> Any:
    """`out` times weight plus bias, which `shape` makes fit; written over it."""
    if weight is not None:
        out *= widened(weight).reshape(shape)
    if bias is not None:
        out += widened(bias).reshape(shape)
    return out


def group_norm(x: Any, weight: Any, bias: Any, groups: int, eps: float) -> tuple[Any, Any, Any]:
    """x (N, C, …) standardised over each of `groups` groups of channels, times weight, plus bias (C)."""
    refuse(x.dtype, "GroupNormKernelImpl", "biuc")
    count, kept = x.shape[0], x.dtype if weight is None else weight.dtype
    if not x.size:
        return x.copy(), np.zeros((count, groups), kept), np.zeros((count, groups), kept)
    out, mean, rstd = standardized_rows(widened(x).reshape(count * groups, -1), None, None, eps)
    out = _affine(out.reshape(count, x.shape[1], -1), weight, bias, [1, -1, 1]).reshape(x.shape)
    return (out.astype(x.dtype, copy=False), mean.reshape(count, groups).astype(kept, copy=False),
            rstd.reshape(count, groups).astype(kept, copy=False))


def batch_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any, Any]:
    """x (N, C, …) standardised over all but channels, times weight, plus bias; mean, 1 / deviation and variance."""
    refuse(x.dtype, "batch_norm", "biuc")
    shape, final = [1, -1] + [1] * (x.ndim - 2), x.dtype
    kept = final if weight is None else weight.dtype
    x = widened(x)
    mean, variance = moments(x, (0, *range(2, x.ndim)))
    rstd = np.reciprocal(np.sqrt(variance + x.dtype.type(eps)))
    out = np.subtract(x, mean, out=...)
    out *= rstd if weight is None else rstd * widened(weight).reshape(shape)
    out = _affine(out, None, bias, shape)
    return (out.astype(final, copy=False), *[a.reshape(-1).astype(kept, copy=False) for a in (mean, rstd)],
            variance.reshape(-1))


def batch_norm_by(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float) -> Any:
    """The same with a mean and a variance that are given."""
    refuse(x.dtype, "batch_norm", "biuc")
    shape, wider = [1, -1] + [1] * (x.ndim - 2), widened(x)
    rstd = np.reciprocal(np.sqrt(widened(running_var) + wider.dtype.type(eps)))
    out = np.subtract(wider, widened(running_mean).reshape(shape), out=...)
    out *= (rstd if weight is None else rstd * widened(weight)).reshape(shape)
    return _affine(out, None, bias, shape).astype(x.dtype, copy=False)
