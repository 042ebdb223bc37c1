"""Overloads of the core whose public function takes other arguments than those of the schema."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..nn import functional
from ..ops import _Core
from ..ops.networks.activations import elu
from ..tensors.recording.calls import recorded
from .by_hand import gradients_of
from .rows import REDUCTIONS

_WORDS = {number: word for word, number in REDUCTIONS.items()}


# Elementwise

def _with_alpha(name: str) -> Callable[..., Any]:
    """A sum or a difference whose factor is a positional argument."""
    def call(x: Any, other: Any, alpha: Any = 1) -> Any:
        return _Core.function(name)(x, other, alpha=alpha)

    return call


def _elu(x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    return recorded(elu)(x, alpha, scale, input_scale)


def _log_sigmoid(x: Any) -> Any:
    return functional.logsigmoid(x), x.abs().neg().exp()


# Losses

def _reduced(name: str) -> Callable[..., Any]:
    """A loss of two tensors whose number says how it is reduced."""
    def call(x: Any, target: Any, *options: Any, **named: Any) -> Any:
        given = dict(zip(_BEHIND[name], options, strict=False)) | named
        return getattr(functional, name)(x, target, **given | {"reduction": _WORDS[given.get("reduction", 1)]})

    return call


_BEHIND = {
    "binary_cross_entropy": ("weight", "reduction"),
    "binary_cross_entropy_with_logits": ("weight", "pos_weight", "reduction"),
    "huber_loss": ("reduction", "delta"), "l1_loss": ("reduction",), "mse_loss": ("reduction",),
    "multi_margin_loss": ("p", "margin", "weight", "reduction"), "multilabel_margin_loss": ("reduction",),
    "nll_loss": ("weight", "reduction", "ignore_index"), "smooth_l1_loss": ("reduction", "beta"),
    "soft_margin_loss": ("reduction",)}


def _kl_div(x: Any, target: Any, reduction: int = 1, *, log_target: bool = False) -> Any:
    found = functional.kl_div(x, target, reduction="none", log_target=log_target)
    return found.mean() if reduction == 1 else found.sum() if reduction else found


# Images and networks

def _affine_grid(theta: Any, size: Any, align_corners: bool) -> Any:
    return functional.affine_grid(theta, [*size], align_corners)


def _maxima(dims: int) -> Callable[..., Any]:
    def call(x: Any, size: Any) -> Any:
        return getattr(functional, f"adaptive_max_pool{dims}d")(x, tuple(size), return_indices=True)

    return call


def _fractional(dims: int) -> Callable[..., Any]:
    def call(x: Any, kernel: Any, size: Any, samples: Any) -> Any:
        return getattr(functional, f"fractional_max_pool{dims}d_with_indices")(
            x, tuple(kernel), tuple(size), _random_samples=samples)

    return call


_MODES = {"nearest1d": "nearest", "nearest2d": "nearest", "nearest3d": "nearest", "linear1d": "linear",
          "bilinear2d": "bilinear", "bicubic2d": "bicubic", "trilinear3d": "trilinear"}


def _resized(mode: str, x: Any, size: Any, factors: Any, options: tuple[Any, ...]) -> Any:
    corners = {} if mode == "nearest" else {"align_corners": options[0]}
    return functional.interpolate(x, None if size is None else tuple(size),
                                  None if factors is None else tuple(factors), mode, **corners)


def _by_factors(mode: str) -> Callable[..., Any]:
    """A change of size that is given by a size or by factors."""
    def call(x: Any, size: Any, *options: Any) -> Any:
        return _resized(mode, x, size, options[-1], options)

    return call


def _by_size_backward(mode: str) -> Callable[..., Any]:
    """The gradient of a change of size."""
    def call(g: Any, size: Any, before: Any, *options: Any) -> Any:
        return gradients_of(lambda x: _resized(mode, x, size, None, options), [g.new_zeros(before)], [0], g)

    return call


def _attention(q: Any, k: Any, v: Any, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Any = None,
               scale: float | None = None) -> Any:
    out = functional.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale=scale)
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(scores.new_ones(scores.shape[-2:]).tril() == 0, -math.inf)
    return out, (scores if attn_mask is None else scores + attn_mask).logsumexp(-1)


# Gradients

def _at_maxima(dims: int) -> Callable[..., Any]:
    """The gradient of maxima, whose places are the last argument."""
    def call(g: Any, x: Any, *options: Any) -> Any:
        flat = x.new_zeros(x.shape).flatten(-dims)
        return flat.scatter_add(-1, options[-1].flatten(-dims), g.flatten(-dims)).view(x.shape)

    return call


def _means_backward(dims: int) -> Callable[..., Any]:
    def call(g: Any, x: Any) -> Any:
        means = getattr(functional, f"adaptive_avg_pool{dims}d")
        return gradients_of(lambda y: means(y, tuple(g.shape[-dims:])), [x], [0], g)

    return call


def _padded(mode: str) -> Callable[..., Any]:
    return lambda x, pad: functional.pad(x, tuple(pad), mode)


def _padded_backward(mode: str) -> Callable[..., Any]:
    def call(g: Any, x: Any, pad: Any) -> Any:
        return gradients_of(lambda y: functional.pad(y, tuple(pad), mode), [x], [0], g)

    return call


def _sampled_backward(g: Any, x: Any, grid: Any, mode: int, padding: int, align_corners: bool, needed: Any) -> Any:
    words = ("bilinear", "nearest", "bicubic")[mode], ("zeros", "border", "reflection")[padding]
    found = gradients_of(lambda x, grid: functional.grid_sample(x, grid, *words, align_corners=align_corners),
                         [x, grid], [0, 1], g)
    return tuple([part if need else None for part, need in zip(found, needed)])


def _through(g: Any, standard: Any, rstd: Any, axes: list[int], constant: bool) -> Any:
    """The gradient of x, from that of (x - mean) * rstd. The statistics are constants, or those of `axes` of x."""
    if constant:
        return g * rstd
    return rstd * (g - g.mean(axes, True) - standard * (g * standard).mean(axes, True))


def _batch_norm_backward(g: Any, x: Any, weight: Any, running_mean: Any, running_var: Any, mean: Any, rstd: Any,
                         train: bool, eps: float, needed: Any) -> Any:
    if not train:
        mean, rstd = running_mean, (running_var + eps).rsqrt()
    shape = [1, -1, *[1] * (x.dim() - 2)]
    axes = [i for i in range(x.dim()) if i != 1]
    mean, rstd = mean.view(shape), rstd.view(shape)
    standard = (x - mean) * rstd
    scaled = g if weight is None else g * weight.view(shape)
    return (_through(scaled, standard, rstd, axes, not train) if needed[0] else None,
            (g * standard).sum(axes) if needed[1] else None, g.sum(axes) if needed[2] else None)


def _group_norm_backward(g: Any, x: Any, mean: Any, rstd: Any, weight: Any, count: int, channels: int, size: int,
                         groups: int, needed: Any) -> Any:
    grouped, split = [count, groups, channels // groups * size], [count, channels, size]
    mean, rstd = mean.reshape(count, groups, 1), rstd.reshape(count, groups, 1)
    standard = (x.reshape(grouped) - mean) * rstd
    by_element = g.reshape(split)
    scaled = by_element if weight is None else by_element * weight.view(1, channels, 1)
    by_x = _through(scaled.reshape(grouped), standard, rstd, [2], False).reshape(x.shape) if needed[0] else None
    return (by_x, (by_element * standard.reshape(split)).sum([0, 2]) if needed[1] else None,
            by_element.sum([0, 2]) if needed[2] else None)


# Linear algebra

def _solve(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    x, info = _Core.function("linalg_solve_ex")(a, b, left=left, check_errors=check_errors)
    return x, *_Core.function("linalg_lu_factor")(a), info


def _with_factors(name: str) -> Callable[..., Any]:
    """A determinant, with the factors of the matrix; of its transpose, if the matrix lies row by row."""
    def call(a: Any) -> Any:
        found = _Core.function(name)(a)
        factors = _Core.function("linalg_lu_factor")(a.mT if a.is_contiguous() else a)
        return *(found if isinstance(found, tuple) else (found,)), *factors

    return call


# By the name of the operator, or of the overload if another one of the operator is as the public function.
BY_SCHEMA: dict[str, Callable[..., Any]] = {
    **{f"{name}.Scalar": _with_alpha(name) for name in ("add", "add_", "sub", "sub_", "rsub")},
    **{name: _reduced(name) for name in _BEHIND},
    "_linalg_det": _with_factors("linalg_det"), "_linalg_slogdet": _with_factors("linalg_slogdet"),
    "_linalg_solve_ex": _solve,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "adaptive_max_pool2d": _maxima(2), "adaptive_max_pool3d": _maxima(3), "affine_grid_generator": _affine_grid,
    "block_diag": lambda tensors: _Core.function("block_diag")(*tensors), "elu": _elu,
    "elu_": lambda x, *options: x.copy_(_elu(x, *options)),
    "fractional_max_pool2d": _fractional(2), "fractional_max_pool3d": _fractional(3), "kl_div": _kl_div,
    "log_sigmoid_forward": _log_sigmoid, "native_batch_norm_backward": _batch_norm_backward,
    "native_group_norm_backward": _group_norm_backward,
    "unfold": lambda x, dimension, size, step: x.unfold(dimension, size, step),
    "grid_sampler_2d_backward": _sampled_backward, "grid_sampler_3d_backward": _sampled_backward,
    **{f"{name}{dims}d{rest}_backward": _at_maxima(dims) for name, rest in (
        ("adaptive_max_pool", ""), ("max_pool", "_with_indices")) for dims in (2, 3)},
    **{f"_adaptive_avg_pool{dims}d_backward": _means_backward(dims) for dims in (2, 3)},
    **{f"{kind}_pad{dims}d": _padded(mode) for kind, mode in (
        ("reflection", "reflect"), ("replication", "replicate")) for dims in (1, 2, 3)},
    **{f"{kind}_pad{dims}d_backward": _padded_backward(mode) for kind, mode in (
        ("reflection", "reflect"), ("replication", "replicate")) for dims in (1, 2, 3)},
    **{f"upsample_{name}.vec": _by_factors(mode) for name, mode in _MODES.items()},
    **{f"upsample_{name}_backward": _by_size_backward(mode) for name, mode in _MODES.items()}}
