"""Gradients of reductions as several operators of PyTorch's core, in PyTorch's order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..tensors.arguments.options import contiguous_format
from .composed_elements import Gradients, arrays, without
from .gradients import Node


def _back(node: Node, tensor: Any, axes: Any) -> Any:
    """A result, or its gradient, with the dims that the reduction has taken away."""
    ndim = len(node.args[0].shape)
    if axes is not None and ndim and not node.value("keepdim"):
        for axis in sorted([axis % ndim for axis in axes]):
            tensor = node.call("unsqueeze.default", tensor, axis)
    return tensor


def _axes(node: Node) -> Any:
    """The dims that a reduction takes away; None for all of them, if the result has none."""
    axes = node.value("axes")
    axes = [axes] if isinstance(axes, int) else axes
    return None if axes is not None and len(axes) == len(node.args[0].shape) and not node.value("keepdim") else axes


def _of_mean(node: Node) -> Gradients:
    """The gradient of a mean."""
    x, g = node.args[0], node.g
    axes, keepdim = (node.args[1], node.args[2]) if len(node.args) > 2 else (None, False)
    axes = range(x.ndim) if axes is None else sorted([axis % x.ndim for axis in axes])
    if g.dim() and not keepdim:
        for axis in axes:
            g = node.call("unsqueeze.default", g, axis)
    count = math.prod([x.shape[axis] for axis in axes])
    return arrays(node.call("div.Scalar", node.call("expand.default", g, list(x.shape)), count))


def _of_variance(node: Node, g: Any = None) -> Gradients:
    """`g` is the gradient of the variance, if the node is another one."""
    x, axes, correction = node.value("x"), _axes(node), node.value("correction")
    g = node.g if g is None else g
    count = x.numel() if axes is None else math.prod([x.shape[axis] for axis in axes])
    if count <= correction:
        return None
    g = _back(node, g, axes)
    mean = node.call("mean.default", x) if axes is None else node.call("mean.dim", x, [*axes], True)
    apart = node.call("sub.Tensor", x, mean)
    return arrays(node.call("mul.Tensor", node.call("mul.Scalar", g, 2 / (count - correction)), apart))


def _of_deviation(node: Node) -> Gradients:
    out = node.value("out")
    quotient = node.call("div.Tensor", node.g, node.call("mul.Scalar", out, 2))
    return _of_variance(node, without(node, quotient, node.call("eq.Scalar", out, 0)))


def _of_norm(node: Node) -> Gradients:
    """The gradient of a norm by squares."""
    if node.value("p") != 2:
        return None
    x, axes = node.value("x"), _axes(node)
    out, g = _back(node, node.value("out"), axes), _back(node, node.g, axes)
    direction = without(node, node.call("div.Tensor", x, out), node.call("eq.Scalar", out, 0))
    return arrays(node.call("mul.Tensor", g, direction))


def _of_extreme(node: Node) -> Gradients:
    """All elements that are the largest, or that are in the middle, get the same part of the gradient."""
    x, out = node.value("x"), node.value("out")
    both = node.call("logical_and.default", node.call("isnan.default", x), node.call("isnan.default", out))
    mask = node.call("logical_or_.default", node.call("eq.Tensor", x, out), both)
    part = node.call("div.Tensor", node.g, node.call("sum.default", mask))
    return arrays(node.call("mul.Tensor", mask, part))


def _of_extremes(node: Node) -> Gradients:
    """The same along dims."""
    x, axes, out, g = node.value("x"), _axes(node), node.value("out"), node.g
    if axes is None or not x.ndim:
        return None
    shape = [1 if axis in [each % x.ndim for each in axes] else size for axis, size in enumerate(x.shape)]
    if not node.value("keepdim"):
        out, g = node.call("view.default", out, shape), node.call("view.default", g, shape)
    mask = node.call("eq.Tensor", out, x)
    part = node.call("div.Tensor", g, node.call("sum.dim_IntList", mask, [*axes], True))
    return arrays(node.call("mul.Tensor", part, mask))


def _of_log_of_sums(node: Node) -> Gradients:
    axes = _axes(node)
    out, g = _back(node, node.value("out"), axes), _back(node, node.g, axes)
    share = node.call("exp.default", node.call("sub.Tensor", node.value("x"), out))
    return arrays(node.call("mul.Tensor", g, share))


def _of_product_of_all(node: Node) -> Gradients:
    """The gradient of a product of elements: for each element, the product of all others."""
    x, g = node.value("x"), node.g
    if "dim" not in node.op.arguments:
        if x.numel() < 2:
            return None
        if not x.is_contiguous():
            x = node.call("clone.default", x, memory_format=contiguous_format)
        flat = _others(node, node.call("view.default", x, [-1]), g, 0)
        return arrays(node.call("view.default", flat, list(x.shape)))
    dim = node.value("dim")
    if not x.ndim or x.shape[dim] < 2:
        return None
    if not node.value("keepdim"):
        g = node.call("unsqueeze.default", g, dim % x.ndim)
        node.call("unsqueeze.default", node.value("out"), dim % x.ndim)
    return arrays(_others(node, x, g, dim % x.ndim))


def _others(node: Node, x: Any, g: Any, dim: int) -> Any:
    """The products of all elements before, and of all behind, times the gradient."""
    size = x.shape[dim]
    ones = node.call("ones.default", [1 if axis == dim else n for axis, n in enumerate(x.shape)], dtype=x.dtype)
    first = node.call("cat.default", [ones, node.call("slice.Tensor", x, dim, 0, size - 1)], dim)
    before = node.call("cumprod.default", first, dim)
    last = node.call("flip.default", node.call("slice.Tensor", x, dim, 1, size), [dim])
    behind = node.call("cumprod.default", node.call("cat.default", [ones, last], dim), dim)
    both = node.call("mul.Tensor", before, node.call("flip.default", behind, [dim]))
    return node.call("mul.Tensor", g, both)


def _of_chosen(node: Node) -> Gradients:
    """The gradient of elements that were chosen along a dim: the largest, or those in the middle, or all in order."""
    x, g, indices = node.args[0], node.g, node.tensor(node.results[1])
    names = dict(zip(node.op.arguments, node.args))
    dim = names["dim"] % x.ndim
    if "keepdim" in names and not names["keepdim"]:
        g, indices = node.call("unsqueeze.default", g, dim), node.call("unsqueeze.default", indices, dim)
    zeros = node.call("new_zeros.default", g, list(x.shape))
    return arrays(node.call("scatter.src", zeros, dim, indices, g))


def _of_chosen_or_extreme(node: Node) -> Gradients:
    return _of_extreme(node) if node.op.outputs == ("out",) else _of_chosen(node)


def _of_extremes_so_far(node: Node) -> Gradients:
    g, indices = node.g, node.tensor(node.results[1])
    zeros = node.call("zeros.default", list(node.args[0].shape), dtype=g.dtype)
    return arrays(node.call("scatter_add.default", zeros, node.value("dim"), indices, g))


def _of_sums(node: Node) -> Gradients:
    """The gradient of sums of all elements so far."""
    dim = node.args[1]
    turned = node.call("cumsum.default", node.call("flip.default", node.g, [dim]), dim)
    return arrays(node.call("flip.default", turned, [dim]))


REDUCTIONS: dict[str, Callable[[Node], Gradients]] = {
    "amax": _of_extremes, "amin": _of_extremes, "cummax": _of_extremes_so_far, "cummin": _of_extremes_so_far,
    "cumsum": _of_sums, "logsumexp": _of_log_of_sums, "mean": _of_mean, "norm": _of_norm, "prod": _of_product_of_all,
    "std": _of_deviation, "var": _of_variance, **dict.fromkeys(("kthvalue", "sort", "topk"), _of_chosen),
    **dict.fromkeys(("max", "median", "min", "nanmedian"), _of_chosen_or_extreme)}
