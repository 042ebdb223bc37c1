"""Gradients of elementwise operators, and of those that take or place elements, as several operators of the core."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..ops.networks.activations import gelu_tanh
from .gradients import Node

Gradients = list[Any] | None


def arrays(*tensors: Any) -> list[Any]:
    """The arrays of gradients."""
    return [None if each is None else each._array for each in tensors]


def without(node: Node, x: Any, mask: Any) -> Any:
    """A new tensor, over which zeros are written where a mask is true."""
    return node.call("masked_fill_.Scalar", x, mask, 0)


# Elementwise

def _of_rsub(node: Node) -> Gradients:
    g = node.call("neg.default", node.g)
    alpha = node.value("alpha")
    return arrays(g if alpha == 1 else node.call("mul.Scalar", g, alpha))


def _of_tangent(node: Node) -> Gradients:
    square = node.call("pow.Tensor_Scalar", node.value("out"), 2)
    return arrays(node.call("mul.Tensor", node.g, node.call("add.Scalar", square, 1)))


def _of_inverse_root(node: Node) -> Gradients:
    cube = node.call("pow.Tensor_Scalar", node.value("out"), 3)
    return arrays(node.call("mul.Tensor", node.call("mul.Scalar", cube, -0.5), node.g))


def _of_error_function(node: Node) -> Gradients:
    factor = 2 / math.sqrt(math.pi) * (-1 if node.op.name == "erfc" else 1)
    square = node.call("pow.Tensor_Scalar", node.value("x"), 2)
    bell = node.call("exp.default", node.call("neg.default", square))
    return arrays(node.call("mul.Tensor", node.call("mul.Scalar", bell, factor), node.g))


def _of_larger(node: Node) -> Gradients:
    """Where both are equal, each gets half of the gradient."""
    x, y, g = node.value("x"), node.value("y"), node.g
    less = ["lt.Tensor", "gt.Tensor"] if node.op.name == "maximum" else ["gt.Tensor", "lt.Tensor"]
    found: list[Any] = [None, None]
    for i in (1, 0):
        if node.needed[i]:
            half = node.call("div.Scalar", g, 2)
            shared = node.call("where.self", node.call("eq.Tensor", x, y), half, g)
            found[i] = without(node, shared, node.call(less[i], x, y))
    return arrays(*found)


def _of_angle(node: Node) -> Gradients:
    x, y, g = node.value("x"), node.value("y"), node.g
    square = node.call("add.Tensor", node.call("mul.Tensor", x, x), node.call("mul.Tensor", y, y))
    inverse = node.call("masked_fill.Scalar", node.call("reciprocal.default", square), node.call(
        "eq.Scalar", square, 0), 0)
    by_x = by_y = None
    if node.needed[0]:
        by_x = node.call("mul.Tensor", node.call("mul.Tensor", g, y), inverse)
    if node.needed[1]:
        by_y = node.call("mul.Tensor", node.call("mul.Tensor", g, node.call("neg.default", x)), inverse)
    return arrays(by_x, by_y)


def _of_added_quotient(node: Node) -> Gradients:
    y, z, g, value = node.value("y"), node.value("z"), node.g, node.value("value")
    by_y = by_z = None
    if node.needed[1]:
        values = node.call("fill_.Scalar", node.call("empty_like.default", z), value)
        by_y = node.call("mul.Tensor", g, node.call("div_.Tensor", values, z))
    if node.needed[2]:
        square = node.call("mul.Tensor", z, z)
        quotient = node.call("div.Tensor", node.call("mul.Scalar", y, value), square)
        by_z = node.call("mul.Tensor", node.call("neg.default", g), quotient)
    return arrays(g if node.needed[0] else None, by_y, by_z)


def of_power(node: Node) -> Gradients:
    """The gradients of a power: to a number, of a number, or of two tensors."""
    if node.op.name == "square" or node.op.arguments[1] == "exponent":
        return _of_power_to_number(node)
    if node.op.arguments == ("y", "base"):
        base = node.args[1]
        if not isinstance(base, (int, float)) or base <= 0:
            return None
        return arrays(node.call("mul.Tensor", node.call("mul.Scalar", node.value("out"), math.log(base)), node.g))
    x, y, g = node.value("x"), node.value("y"), node.g
    by_x = by_y = None
    if node.needed[1]:
        out = node.value("out")
        flat = node.call("logical_and.default", node.call("eq.Scalar", x, 0), node.call("ge.Scalar", y, 0))
        slope = node.call("mul.Tensor", out, node.call("log.default", x))
        by_y = node.call("mul.Tensor", g, node.call("where.self", flat, _zero(node), slope))
    if node.needed[0]:
        power = node.call("pow.Tensor_Tensor", x, node.call("sub.Scalar", y, 1))
        slope = node.call("mul.Tensor", g, node.call("mul.Tensor", y, power))
        by_x = node.call("where.self", node.call("eq.Scalar", y, 0.0), _zero(node), slope)
    return arrays(by_x, by_y)


def _of_power_to_number(node: Node) -> Gradients:
    exponent = node.args[1] if len(node.args) > 1 else 2
    if node.op.arguments[0] != "x" or not isinstance(exponent, (int, float)) or not exponent:
        return None
    power = node.call("pow.Tensor_Scalar", node.value("x"), exponent - 1)
    return arrays(node.call("mul.Tensor", node.g, node.call("mul.Scalar", power, exponent)))


def _zero(node: Node) -> Any:
    return node.call("scalar_tensor.default", 0.0, dtype=node.g.dtype)


# Elements that are taken, or placed

def _zeros(node: Node) -> Any:
    return node.call("new_zeros.default", node.g, list(node.args[0].shape))


def _of_index(node: Node) -> Gradients:
    """The gradient of elements by their indices. Elements that were taken twice get both gradients."""
    indices = [None if index is None else node.tensor(index) for index in node.args[1]]
    return arrays(node.call("index_put.default", _zeros(node), indices, node.g, True))


def _of_gather(node: Node) -> Gradients:
    return arrays(node.call("scatter_add.default", _zeros(node), node.args[2], node.value("index"), node.g), None)


def _of_gelu(node: Node) -> Gradients:
    if node.op is not gelu_tanh and node.op is not gelu_tanh.written:
        return None
    return arrays(node.call("gelu_backward.default", node.g, node.value("x"), approximate="tanh"))


def _of_binary_cross_entropy(node: Node) -> Gradients:
    """The operator of the core computes the gradient of the input alone."""
    found = node.gradients()
    if node.needed[1]:
        x, y, weight, reduction = map(node.value, ("x", "y", "weight", "reduction"))
        by_target = node.call("mul.Tensor", node.call("neg_.default", node.call("logit.default", x)), node.g)
        if weight is not None:
            by_target = node.call("mul.Tensor", by_target, weight)
        if reduction == "mean":
            by_target = node.call("div_.Scalar", by_target, y.numel())
        found[1] = by_target._array
    return found


def _of_index_select(node: Node) -> Gradients:
    return arrays(node.call("index_add.default", _zeros(node), node.args[2], node.value("index"), node.g), None)


def _of_placed(node: Node) -> Gradients:
    """The gradients of tensors, parts of one of which were added to the other one, or put in its place."""
    g, index, dim, source = node.g, node.value("index"), node.value("dim"), node.value("source")
    found: list[Any] = [None, None, None]
    if node.needed[0]:
        found[0] = g if node.op.name == "index_add" else node.call("index_fill.int_Scalar", g, dim, index, 0)
    if node.needed[1]:
        part = node.call("expand.default", node.call("index_select.default", g, dim, index), list(source.shape))
        alpha = node.value("alpha") if node.op.name == "index_add" else 1
        found[1] = part if alpha == 1 else node.call("mul.Scalar", part, alpha)
    return arrays(*found)


def _of_masked_select(node: Node) -> Gradients:
    x, mask = node.value("x"), node.value("mask")
    shape = [max(sizes) for sizes in zip(x.shape, mask.shape)] if x.ndim == mask.ndim else None
    if shape is None:
        return None
    zeros = node.call("zeros_like.default", node.call("expand.default", x, shape))
    return arrays(node.call("masked_scatter.default", zeros, mask, node.g), None)


def _of_take(node: Node) -> Gradients:
    zeros = node.call("zeros_like.default", node.value("x"))
    return arrays(node.call("put.default", zeros, node.value("index"), node.g, True), None)


def _of_repeat(node: Node) -> Gradients:
    """The gradients of all copies are summed."""
    shape, repeats, g = node.args[0].shape, node.value("repeats"), node.g
    for _ in range(len(repeats) - len(shape)):
        g = node.call("sum.dim_IntList", g, [0])
    sizes: list[int] = []
    copies: list[int] = []
    for count, size in zip(repeats[len(repeats) - len(shape):], shape):
        if count != 1:
            copies.append(len(sizes))
            sizes.append(count)
        sizes.append(size)
    return arrays(node.call("sum.dim_IntList", node.call("view.default", g, sizes), copies) if copies else g)


def _of_masked(node: Node) -> Gradients:
    """The gradient of a tensor whose masked elements a number replaces."""
    if node.op.arity != 2:
        return None
    return arrays(node.call("masked_fill.Scalar", node.g, node.value("mask"), 0), None)


ELEMENTS: dict[str, Callable[[Node], Gradients]] = {
    "addcdiv": _of_added_quotient, "atan2": _of_angle, "binary_cross_entropy": _of_binary_cross_entropy,
    "erf": _of_error_function, "erfc": _of_error_function,
    "gather": _of_gather, "gelu": _of_gelu, "index": _of_index, "index_add": _of_placed, "index_copy": _of_placed,
    "index_select": _of_index_select, "masked_fill": _of_masked, "masked_select": _of_masked_select,
    "maximum": _of_larger, "minimum": _of_larger, "pow": of_power, "repeat": _of_repeat, "rsqrt": _of_inverse_root,
    "rsub": _of_rsub, "square": of_power, "take": _of_take, "tan": _of_tangent}
