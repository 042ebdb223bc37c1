"""Gradients that are several operators of PyTorch's core, in PyTorch's order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .gradients import Node


def _of_product(node: Node) -> list[Any]:
    """The gradients of a product of matrices. That of a factor whose columns lie one after another is made so, too."""
    g, x, y = node.g, node.value("x"), node.value("y")
    found: list[Any] = [None, None]
    if node.needed[1]:
        found[1] = (node.call("t.default", node.call("mm.default", node.call("t.default", g), x))
                    if _by_columns(y) else node.call("mm.default", node.call("t.default", x), g))
    if node.needed[0]:
        found[0] = (node.call("t.default", node.call("mm.default", y, node.call("t.default", g)))
                    if _by_columns(x) else node.call("mm.default", g, node.call("t.default", y)))
    return [None if each is None else each._array for each in found]


def _by_columns(x: Any) -> bool:
    return bool(x.stride(0) == 1 and x.stride(1) == x.size(0))


def _of_stacks(node: Node) -> list[Any]:
    """The gradients of products of stacks of matrices."""
    g, x, y = node.g, node.value("x"), node.value("y")
    found: list[Any] = [None, None]
    if node.needed[1]:
        found[1] = node.call("bmm.default", node.call("transpose.int", x, 1, 2), g)._array
    if node.needed[0]:
        found[0] = node.call("bmm.default", g, node.call("transpose.int", y, 1, 2))._array
    return found


def _of_mean(node: Node) -> list[Any]:
    """The gradient of a mean."""
    x, g = node.args[0], node.g
    axes, keepdim = (node.args[1], node.args[2]) if len(node.args) > 2 else (None, False)
    axes = range(x.ndim) if axes is None else sorted([axis % x.ndim for axis in axes])
    if g.dim() and not keepdim:
        for axis in axes:
            g = node.call("unsqueeze.default", g, axis)
    count = math.prod([x.shape[axis] for axis in axes])
    return [node.call("div.Scalar", node.call("expand.default", g, list(x.shape)), count)._array]


def _of_squeeze(node: Node) -> list[Any]:
    """The gradient of a tensor that has lost dims of one element."""
    x, g = node.args[0], node.g
    axes = node.args[1] if len(node.args) > 1 else range(x.ndim)
    axes = sorted([axis % x.ndim for axis in ([axes] if isinstance(axes, int) else axes)]) if x.ndim else []
    for axis in axes:
        if x.shape[axis] == 1:
            g = node.call("unsqueeze.default", g, axis)
    return [g._array]


def _of_power(node: Node) -> list[Any] | None:
    """The gradient of a power to a number."""
    exponent = node.args[1] if len(node.args) > 1 else 2
    if node.op.arguments[0] != "x" or not isinstance(exponent, (int, float)) or not exponent:
        return None
    power = node.call("pow.Tensor_Scalar", node.value("x"), exponent - 1)
    return [node.call("mul.Tensor", node.g, node.call("mul.Scalar", power, exponent))._array]



def _of_join(node: Node) -> list[Any]:
    """The gradients of joined tensors are parts of the gradient."""
    parts, dim = node.args[0], node.args[1]
    found: list[Any] = []
    start = 0
    for x, needed in zip(parts, node.needed):
        size = x.shape[dim] if x.shape != (0,) else 0
        found.append(node.call("slice.Tensor", node.g, dim, start, start + size)._array if needed else None)
        start += size
    return found


def _of_stack(node: Node) -> list[Any]:
    """The gradients of stacked tensors."""
    dim = node.args[1]
    return [node.call("select.int", node.g, dim, i)._array if needed else None for i, needed in enumerate(node.needed)]


def _zeros(node: Node) -> Any:
    return node.call("new_zeros.default", node.g, list(node.args[0].shape))


def _of_index(node: Node) -> list[Any] | None:
    """The gradient of elements by their indices. Elements that were taken twice get both gradients."""
    if any([index is None for index in node.args[1]]):
        return None
    indices = [node.tensor(index) for index in node.args[1]]
    return [node.call("index_put.default", _zeros(node), indices, node.g, True)._array]


def _of_gather(node: Node) -> list[Any]:
    return [node.call("scatter_add.default", _zeros(node), node.args[2], node.value("index"), node.g)._array, None]


def _of_index_select(node: Node) -> list[Any]:
    return [node.call("index_add.default", _zeros(node), node.args[2], node.value("index"), node.g)._array, None]


def _of_chosen(node: Node) -> list[Any]:
    """The gradient of elements that were chosen along a dim: the largest, or those in the middle, or all in order."""
    x, g, indices = node.args[0], node.g, node.tensor(node.results[1])
    names = dict(zip(node.op.arguments, node.args))
    dim = names["dim"] % x.ndim
    if "keepdim" in names and not names["keepdim"]:
        g, indices = node.call("unsqueeze.default", g, dim), node.call("unsqueeze.default", indices, dim)
    zeros = node.call("new_zeros.default", g, list(x.shape))
    return [node.call("scatter.src", zeros, dim, indices, g)._array]


def _of_sums(node: Node) -> list[Any]:
    """The gradient of sums of all elements so far."""
    dim = node.args[1]
    turned = node.call("cumsum.default", node.call("flip.default", node.g, [dim]), dim)
    return [node.call("flip.default", turned, [dim])._array]


def _of_masked(node: Node) -> list[Any] | None:
    """The gradient of a tensor whose masked elements a number replaces."""
    if node.op.arity != 2:
        return None
    return [node.call("masked_fill.Scalar", node.g, node.value("mask"), 0)._array, None]


COMPOSED: dict[str, Callable[[Node], list[Any] | None]] = {
    "bmm": _of_stacks, "cat": _of_join, "cumsum": _of_sums, "gather": _of_gather, "index": _of_index,
    "index_select": _of_index_select, "masked_fill": _of_masked, "mean": _of_mean, "mm": _of_product,
    "pow": _of_power, "square": _of_power, "squeeze": _of_squeeze, "stack": _of_stack,
    **dict.fromkeys(("kthvalue", "max", "median", "min", "sort", "topk"), _of_chosen)}


def composed(node: Node) -> list[Any] | None:
    """The gradients of a node by several operators of the core; None if none are stated for it."""
    function = COMPOSED.get(node.op.name)
    several = node.op.outputs != ("out",)
    if function is None or (function is _of_chosen and not several):
        return None
    return function(node)
