"""Gradients that are several operators of PyTorch's core, in PyTorch's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .composed_elements import ELEMENTS, Gradients, arrays
from .composed_reductions import REDUCTIONS
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


def _of_squeeze(node: Node) -> list[Any]:
    """The gradient of a tensor that has lost dims of one element."""
    x, g = node.args[0], node.g
    axes = node.args[1] if len(node.args) > 1 else range(x.ndim)
    axes = sorted([axis % x.ndim for axis in ([axes] if isinstance(axes, int) else axes)]) if x.ndim else []
    for axis in axes:
        if x.shape[axis] == 1:
            g = node.call("unsqueeze.default", g, axis)
    return [g._array]


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


def _of_product_with_vector(node: Node) -> Gradients:
    """The gradients of the product of a matrix with a vector."""
    x, y, g = node.value("x"), node.value("y"), node.g
    by_x = by_y = None
    if node.needed[0]:
        by_x = node.call("mul.Tensor", node.call("view.default", g, [g.numel(), 1]), y)
    if node.needed[1]:
        by_y = node.call("mv.default", node.call("t.default", x), g)
    return arrays(by_x, by_y)


COMPOSED: dict[str, Callable[[Node], Gradients]] = {
    **ELEMENTS, **REDUCTIONS, "bmm": _of_stacks, "cat": _of_join, "mm": _of_product, "mv": _of_product_with_vector,
    "squeeze": _of_squeeze, "stack": _of_stack}
# Those whose gradients of complex numbers are formulas of their own.
_REAL = frozenset(ELEMENTS.keys() | REDUCTIONS.keys() | {"mv"}) - {
    "cumsum", "gather", "index", "index_select", "masked_fill", "mean", "pow", "square", "sort", "take", "topk"}


def composed(node: Node) -> Gradients:
    """The gradients of a node by several operators of the core; None if none are stated for it."""
    function = COMPOSED.get(node.op.name)
    if function is None or (node.op.name in _REAL and node.g.is_complex()):
        return None
    return function(node)
