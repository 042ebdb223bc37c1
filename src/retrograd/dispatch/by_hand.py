"""Overloads of the core that have no public function, and whose arguments are not those of one operator here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.backward import grad
from ..foundations.modes import local as modes
from ..nn import functional
from ..ops.images.convolution import convolution
from ..ops.networks.activations import gelu, gelu_tanh
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.recording.calls import recorded
from ..tensors.state.base import TensorBase, as_leaf
from .rows import REDUCTIONS

_WORDS = {number: word for word, number in REDUCTIONS.items()}


def gradients_of(function: Callable[..., Any], values: list[Any], which: list[int], g: Any) -> Any:
    """The gradients of a function of tensors by the arguments `which`, from the gradient of its first result."""
    thread = modes.thread
    before, thread.grad = thread.grad, True
    try:
        leaves = [as_leaf(v.detach()) if i in which and isinstance(v, TensorBase) else v
                  for i, v in enumerate(values)]
        out = function(*leaves)
        out = out if isinstance(out, TensorBase) else out[0]
        found = iter(grad(out, [leaves[i] for i in which if isinstance(leaves[i], TensorBase)], g))
        results = [next(found) if isinstance(leaves[i], TensorBase) else None for i in which]
    finally:
        thread.grad = before
    return results[0] if len(results) == 1 else tuple(results)


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(*[slice(None)] * (dim % x.dim()), slice(start, end, step))]


def _index(x: Any, indices: Any) -> Any:
    return x[tuple([slice(None) if index is None else index for index in indices])]


def _index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """A sum is made by the gradient of the elements, since the public function takes no dims without an index."""
    if all([index is not None for index in indices]):
        return x.index_put(tuple(indices), values, accumulate)
    if accumulate:
        return x + gradients_of(lambda y: _index(y, indices), [x], [0], values)
    made = x.clone()
    made[tuple([slice(None) if index is None else index for index in indices])] = values
    return made


def _bernoulli(x: Any, p: Any = None, **options: Any) -> Any:
    return x.bernoulli(**options) if p is None else x.bernoulli(p, **options)


def _embedding(weight: Any, indices: Any, padding_idx: int = -1, by_count: bool = False, sparse: bool = False) -> Any:
    padding = None if padding_idx < 0 else padding_idx
    return functional.embedding(indices, weight, padding, scale_grad_by_freq=by_count, sparse=sparse)


def _embedding_backward(g: Any, indices: Any, count: int, padding_idx: int, by_count: bool) -> Any:
    weight = g.new_zeros((count, g.shape[-1]))
    padding = None if padding_idx < 0 else padding_idx
    return gradients_of(lambda w: functional.embedding(indices, w, padding, scale_grad_by_freq=by_count), [weight], [0],
                        g)


def _nll_loss(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    loss = functional.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=_WORDS[reduction])
    counted = target[target != ignore_index]
    total = x.new_tensor(counted.numel()) if weight is None else weight[counted].sum()
    return loss, total if reduction else x.new_tensor(0.)


def _nll_loss_backward(g: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any) -> Any:
    return gradients_of(lambda y: _nll_loss(y, target, weight, reduction, ignore_index), [x], [0], g)


def _gelu_backward(g: Any, x: Any, *, approximate: str = "none") -> Any:
    return gradients_of(recorded(gelu_tanh if approximate == "tanh" else gelu), [x], [0], g)


def _layer_norm_backward(g: Any, x: Any, shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, needed: Any) -> Any:
    dims = tuple(range(x.dim() - len(shape), x.dim()))
    leading = tuple(range(x.dim() - len(shape)))
    standard = (x - mean) * rstd
    h = g if weight is None else g * weight
    by_x = rstd * (h - h.mean(dims, True) - standard * (h * standard).mean(dims, True)) if needed[0] else None
    by_weight = (g * standard).sum(leading) if needed[1] and weight is not None else None
    return by_x, by_weight, g.sum(leading) if needed[2] and bias is not None else None


def _convolution_backward(g: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
                          transposed: bool, output_padding: Any, groups: int, needed: Any) -> Any:
    dims = x.dim() - 2
    options = [tuple(v) * dims if len(v) == 1 else tuple(v) for v in (stride, padding, dilation, output_padding)]
    bias = g.new_zeros(weight.shape[1] * groups if transposed else weight.shape[0])
    call = recorded(convolution)
    found = gradients_of(lambda *values: call(*values, *options[:3], transposed, options[3], groups),
                         [x, weight, bias], [0, 1, 2], g)
    return tuple([part if need else None for part, need in zip(found, needed)])


def _dropout(x: Any, p: float, train: Any = True) -> Any:
    mask = zeros_like(x).bernoulli_(1 - p).bool() if train and p else zeros_like(x).bool().logical_not()
    return (x * mask / (1 - p) if train and p < 1 else x * mask), mask


def _resized(mode: str) -> Callable[..., Any]:
    def resize(x: Any, size: Any, *options: Any) -> Any:
        corners = {"align_corners": options[0]} if not mode.startswith("nearest") else {}
        return functional.interpolate(x, tuple(size), mode=mode, **corners)

    return resize


_MODES = {"nearest1d": "nearest", "nearest2d": "nearest", "nearest3d": "nearest", "linear1d": "linear",
          "bilinear2d": "bilinear", "bicubic2d": "bicubic", "trilinear3d": "trilinear"}
BY_HAND: dict[str, Callable[..., Any]] = {
    "_local_scalar_dense": lambda x: x.item(), "alias": lambda x: x.view(x.shape), "bernoulli": _bernoulli,
    "convolution_backward": _convolution_backward, "embedding": _embedding,
    "embedding_dense_backward": _embedding_backward, "gelu_backward": _gelu_backward, "index": _index,
    "index_put": _index_put,
    "lift_fresh": lambda x: x, "native_dropout": _dropout, "native_layer_norm_backward": _layer_norm_backward,
    "nll_loss_backward": _nll_loss_backward, "nll_loss_forward": _nll_loss, "slice": _slice,
    **{f"upsample_{name}": _resized(mode) for name, mode in _MODES.items()}}
