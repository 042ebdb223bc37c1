"""torch._higher_order_ops.associative_scan: all partial results of an associative function, in few calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.functions.shapes.joining import stack
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_flatten, tree_unflatten

__all__ = ["associative_scan"]


def associative_scan(combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
                     combine_mode: str = "pointwise") -> Any:
    """The combinations of the first element along a dim, of the first two, and so on, of a tensor or a tree of tensors.

    The function gets many elements at once, in about twice as many calls as the dim has binary digits. Gradients go
    through the calls.
    """
    leaves, spec = tree_flatten(xs)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    leaves = [leaf.movedim(dim, 0) for leaf in leaves]
    leaves = [leaf.flip(0) for leaf in leaves] if reverse else leaves

    def combined(left: list[Tensor], right: list[Tensor]) -> list[Tensor]:
        return tree_flatten(combine_fn(tree_unflatten(left, spec), tree_unflatten(right, spec)))[0]

    results = _scan(combined, leaves)
    results = [result.flip(0) for result in results] if reverse else results
    return tree_unflatten([result.movedim(0, dim) for result in results], spec)


def _scan(combined: Callable[[list[Tensor], list[Tensor]], list[Tensor]], leaves: list[Tensor]) -> list[Tensor]:
    """The scan along the first dim: the scan of pairs has every other result, and one call makes the others of it."""
    length = leaves[0].shape[0]
    if length < 2:
        return leaves
    odd = _scan(combined, combined([x[:-1:2] for x in leaves], [x[1::2] for x in leaves]))
    before = odd if length % 2 else [x[:-1] for x in odd]
    even = combined(before, [x[2::2] for x in leaves]) if length > 2 else before
    first = [x[:1] for x in leaves]
    return [_woven(x, [*e], [*o]) for x, e, o in zip(first, even, odd, strict=True)]


def _woven(first: Tensor, even: list[Tensor], odd: list[Tensor]) -> Tensor:
    """The first element, and then the others in turns."""
    rows = [first[0]]
    for i, row in enumerate(odd):
        rows += [row, *even[i:i + 1]]
    woven: Tensor = stack(rows)
    return woven
