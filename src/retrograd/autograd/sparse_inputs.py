"""gradcheck of sparse tensors: a check of the function of the dense tensors that have the same elements.

If `masked` is true, the function depends on the elements that are stored, and on no others. Otherwise the function gets
a sparse tensor that stores all elements if the finite differences change an element that was not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.arguments.options import require_grad, sparse_bsc, sparse_bsr
from ..tensors.state.base import requires
from ..tensors.state.inside import is_sparse
from .function import Function


class _Stored(Function):
    """The sparse tensor with the indices of `like` and the elements of a dense tensor.

    If the dense tensor has other elements, too, the indices are those of `every`, unless `every` is None.
    """

    @staticmethod
    def forward(ctx: Any, dense: Any, like: Any, every: Any) -> Any:
        ctx.set_materialize_grads(False)
        found = dense.sparse_mask(like)
        return found if every is None or (found.to_dense() == dense).all() else dense.sparse_mask(every)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None if g is None else g.to_dense(), None, None


def with_dense_inputs(func: Callable, inputs: tuple[Any, ...], masked: bool) -> tuple[Callable, tuple[Any, ...]]:
    """The function of dense tensors, and these tensors. They are the arguments themselves if none is sparse."""
    if not any(map(is_sparse, inputs)):
        return func, inputs
    patterns = [_patterns(x, masked) if is_sparse(x) else () for x in inputs]

    def of_dense(*given: Any) -> Any:
        return func(*[_Stored.apply(x, *each) if each else x for x, each in zip(given, patterns, strict=True)])

    return of_dense, tuple([_dense(x) if each else x for x, each in zip(inputs, patterns, strict=True)])


def _patterns(x: Any, masked: bool) -> tuple[Any, Any]:
    """A tensor that stores what `x` stores, and one in the same layout that stores every element."""
    x = x.detach()
    stored = x.coalesce() if x.is_sparse else x
    if masked:
        return stored, None
    ones = x.to_dense().new_ones(x.shape)
    if x.is_sparse:
        return stored, ones.to_sparse(x.sparse_dim())
    block = x.values().shape[-2:] if x.layout in (sparse_bsr, sparse_bsc) else None
    return stored, ones.to_sparse(layout=x.layout, blocksize=block)


def _dense(x: Any) -> Any:
    dense = x.detach().to_dense()
    if requires(x):
        require_grad(dense)
    return dense
