"""Layer, group and batch normalization: standardize, then multiply by a weight and add a bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, NARROW, Array, is_half, refuse
from ..elementwise.elementary import widened
from ..layout import beside_channels, packed_like
from ..native.served import served
from ..options import rounds_steps
from ..rounding import in_steps
from ..thresholds import NORM_ROWS
from .channels import FAR, as_runs, length_of_runs, moments_of_runs, runs_sum, scaled_runs
from .moments import moments, sums
from .standardizing import standardized_rows


def layer_norm(x: Array, weight: Array | None, bias: Array | None, rank: int, eps: float) -> tuple[Any, Any, Any]:
    """x standardized over its last `rank` axes, times weight, plus bias; with the means and 1 / the deviations."""
    refuse(x.dtype, "LayerNormKernelImpl", "biuc")
    lead, shape = x.shape[:x.ndim - rank], x.shape[x.ndim - rank:]
    length, stats = math.prod(shape), lead + (1,) * rank
    kept = x.dtype if weight is None else weight.dtype
    if not x.size:
        return x.copy(), np.zeros(stats, kept), np.full(stats, eps ** -0.5 if eps > 0 else math.inf, kept)
    if x.size >= NORM_ROWS and (found := served(layer_norm, x, weight, bias, rank, eps)) is not None:
        return found  # type: ignore[no-any-return]
    scale, shift = _shaped((length,), weight, bias)
    out, mean, rstd = standardized_rows(widened(x).reshape(-1, length), scale, shift, eps)
    out, mean, rstd = out.reshape(x.shape), mean.reshape(stats), rstd.reshape(stats)
    if out.dtype is x.dtype and mean.dtype is kept:
        return out, mean, rstd
    return out.astype(x.dtype, copy=False), mean.astype(kept, copy=False), rstd.astype(kept, copy=False)


def _affine(out: Array, weight: Array | None, bias: Array | None) -> Any:
    """`out` times weight plus bias, written to `out`."""
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out


def _shaped(shape: Sequence[int], *arrays: Any) -> list[Any]:
    """The arrays in this shape, with half precision as single. An array may be None."""
    return [None if a is None else widened(a).reshape(shape) for a in arrays]


def group_norm(x: Array, weight: Array | None, bias: Array | None, groups: int, eps: float) -> tuple[Any, Any, Any]:
    """x (N, C, …) standardized over each of `groups` groups of channels, times weight, plus bias (C)."""
    refuse(x.dtype, "GroupNormKernelImpl", "biuc")
    count, kept = x.shape[0], x.dtype if weight is None else weight.dtype
    if not x.size:
        return x.copy(), np.zeros((count, groups), kept), np.zeros((count, groups), kept)
    if x.size >= NORM_ROWS and (found := served(group_norm, x, weight, bias, groups, eps)) is not None:
        return beside_channels(found[0], x), found[1], found[2]
    parts = widened(x).reshape(count, groups, x.shape[1] // groups, -1)
    weight, bias = _shaped((1, groups, -1, 1), weight, bias)
    length = length_of_runs(parts, (2, 3), weight, bias)
    moments_found = moments_of_runs(parts, (2, 3), length) if length else None
    if moments_found is None:
        out, mean, rstd = standardized_rows(parts.reshape(count * groups, -1), None, None, eps)
        out = _affine(out.reshape(parts.shape), weight, bias)
    else:
        mean, rstd = moments_found[0], 1.0 / np.sqrt(moments_found[1] + eps)
        out = _standardized(parts, weight, bias, mean, rstd, length)
    out = beside_channels(out.reshape(x.shape).astype(x.dtype, copy=False), x)
    return (out, mean.reshape(count, groups).astype(kept, copy=False),
            rstd.reshape(count, groups).astype(kept, copy=False))


def _standardized(x: Array, weight: Array, bias: Array, mean: Array, rstd: Array, length: int) -> Any:
    """(x - mean) * rstd * weight + bias.

    If there are runs of a `length`, in two passes: a product and a sum, with numbers for each run.
    """
    scale = rstd if weight is None else rstd * weight
    if not length:
        return _affine(np.subtract(x, mean, out=...), scale, bias)
    shift = -mean * scale if bias is None else bias - mean * scale
    return scaled_runs(x, length, as_runs(scale, x, length), as_runs(shift, x, length))


@rounds_steps
def batch_norm(x: Array, weight: Array, bias: Array, eps: float) -> tuple[Any, Any, Any, Any]:
    """x (N, C, …) standardized over all but the channels, times weight, plus bias; mean, 1 / deviation, variance."""
    refuse(x.dtype, "batch_norm", "biuc")
    if is_half(x.dtype):
        return _batch_norm_of_halves(x, weight, bias, eps)
    if x.size >= NORM_ROWS and (served_as := served(batch_norm, x, weight, bias, eps)) is not None:
        return served_as  # type: ignore[no-any-return]
    shape, axes = [1, -1] + [1] * (x.ndim - 2), (0, *range(2, x.ndim))
    kept = x.dtype if weight is None else weight.dtype
    weight, bias = _shaped(shape, weight, bias)
    length = length_of_runs(x, axes[1:])
    found = moments_of_runs(x, axes, length) if length else None
    mean, variance = moments(x, axes) if found is None else found
    rstd = _inverse_deviation(variance, eps)
    out = _standardized(x, weight, bias, mean, rstd, 0 if found is None else length)
    return (packed_like(out.astype(x.dtype, copy=False), x),
            *[a.reshape(-1).astype(kept, copy=False) for a in (mean, rstd)],
            variance.reshape(-1).astype(x.dtype, copy=False))


def _inverse_deviation(variance: Array, eps: float) -> Any:
    rstd = np.reciprocal(np.sqrt(variance + variance.dtype.type(eps)))
    if not eps:
        rstd[variance == 0] = 0                             # as in PyTorch, a channel of one number is 0, and not nan
    return rstd


def _batch_norm_of_halves(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Any, Any, Any, Any]:
    """`batch_norm` in float32, with the steps that PyTorch rounds to float16 or bfloat16. The variance is not rounded.
    """
    shape, half, axes = [1, -1] + [1] * (x.ndim - 2), x.dtype, (0, *range(2, x.ndim))
    kept = half if weight is None else weight.dtype
    rounds = half if kept == half else None                 # statistics beside a weight in float32 are not rounded
    given, x = x, x.astype(F32)
    mean, variance = moments(x, axes)
    count = F32.type(max(math.prod([x.shape[axis] for axis in axes]), 1))
    if rounds in NARROW:
        squares = in_steps(variance * count, rounds)
        variance = squares / count
        rstd = _inverse_deviation(in_steps(variance, rounds), eps)
    else:
        rstd = _inverse_deviation(variance, eps)
    mean, rstd = in_steps(mean, rounds), in_steps(rstd, rounds)
    weight, bias = [None if a is None else a.astype(F32).reshape(shape) for a in (weight, bias)]
    scale = rstd if weight is None else rstd * weight
    out = x * scale + ((0 if bias is None else bias) - mean * scale)
    return (packed_like(out.astype(half), given), *[a.reshape(-1).astype(kept) for a in (mean, rstd)],
            variance.reshape(-1))


def batch_norm_by(x: Array, weight: Array, bias: Array, running_mean: Array, running_var: Array, eps: float) -> Any:
    """`batch_norm` with a given mean and variance."""
    refuse(x.dtype, "batch_norm", "biuc")
    shape, wider = [1, -1] + [1] * (x.ndim - 2), widened(x)
    mean, variance, weight, bias = _shaped(shape, running_mean, running_var, weight, bias)
    rstd = np.reciprocal(np.sqrt(variance + wider.dtype.type(eps)))
    length = length_of_runs(wider, tuple(range(2, x.ndim)))
    if length and not (np.square(mean * rstd) <= FAR).all():
        length = 0
    return packed_like(_standardized(wider, weight, bias, mean, rstd, length).astype(x.dtype, copy=False), x)


def centered_sum(g: Array, x: Array, mean: Array) -> Any:
    """For each channel, the sum of g * (x - mean), with given means."""
    final, shape, axes = g.dtype, [1, -1] + [1] * (x.ndim - 2), (0, *range(2, x.ndim))
    g, x, mean = widened(g), widened(x), widened(mean).reshape(shape)
    length = length_of_runs(x, axes[1:])
    if not length:
        return sums(g, axes, x - mean).reshape(-1).astype(final, copy=False)
    return runs_sum(g, x, mean, np.ones_like(mean), axes, length).reshape(-1).astype(final)


def blend(running: Array, found: Array, momentum: float, scale: float) -> None:
    """Move a running statistic towards `scale` times the statistic of a batch, in place."""
    found = found * found.dtype.type(scale)
    running[...] = (momentum * found + (1.0 - momentum) * running.astype(found.dtype, copy=False)).astype(running.dtype)
