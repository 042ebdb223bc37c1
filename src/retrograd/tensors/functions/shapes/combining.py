"""Tensors composed of several tensors, or of the elements of one tensor: blocks, products, choices and powers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, letter
from ....foundations.errors import noted
from ....ops import joining as ops, shape as shape_ops
from ....ops.scans import cumprod
from ...arguments.dims import arrays_of, as_int
from ...arguments.options import contiguous_format
from ...recording.out_rules import rule
from ...recording.public import public
from ...state.base import TensorBase, plain
from ..indexing.masking import masked_select
from .joining import cat, stack
from .rearranging import diag_embed, flip, meshgrid
from .shape import clone, expand, flatten, unsqueeze


@public()
def block_diag(*tensors: Any) -> Any:
    """A matrix with the given matrices one after another on its diagonal, and zeros elsewhere.

    A vector counts as one row, a number as a 1 x 1 matrix. Raises RuntimeError for more than two dimensions.

    >>> import retrograd as torch
    >>> torch.block_diag(torch.tensor([1, 2]), torch.tensor([[3], [4]]))
    tensor([[1, 2, 0],
            [0, 0, 3],
            [0, 0, 4]])
    """
    arrays_of(tensors)
    for i, x in enumerate(tensors):
        if x._array.ndim > 2:
            raise RuntimeError("torch.block_diag: Input tensors must have 2 or fewer dimensions. "
                               f"Input {i} has {x._array.ndim} dimensions")
    return ops.block_diag(tensors) if tensors else plain(np.zeros((1, 0), np.float32))


def _vector(x: TensorBase) -> Any:
    if x._array.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {[*x._array.shape]}")
    return x


@public()
def cartesian_prod(*tensors: Any) -> Any:
    """All choices of one element from each vector, one choice in each row, in the order of nested loops.

    A single vector is returned as it is. Raises RuntimeError if a tensor is not a vector, and if the dtypes differ.

    >>> import retrograd as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    arrays_of(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in tensors:
        _vector(x)
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid) for grid in meshgrid(*tensors, indexing="ij")], 1)


@public("combinations(Tensor input, int r=2, bool with_replacement=False)", strict=True)
def combinations(input: TensorBase, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` elements of a vector, one choice in each row, in the order of the vector.

    With replacement a choice may hold an element several times. Raises RuntimeError if the input is not a vector.
    """
    count = as_int("combinations", r, "r")
    _vector(input)
    if count < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {count}")
    if not count:
        return plain(np.empty(0, input._array.dtype))
    n = input._array.size
    ascending = np.ones((n,) * count, bool)
    places = np.ogrid[(slice(0, int(n)),) * count]
    for before, after in itertools.pairwise(places):
        ascending &= before <= after if with_replacement else before < after
    mask = plain(ascending)
    return stack([masked_select(grid, mask) for grid in meshgrid(*(input,) * count, indexing="ij")], 1)


@public("diagflat(Tensor input, int offset=0)", method=True)
def diagflat(input: TensorBase, offset: int = 0) -> Any:
    """A matrix with all elements of the input on the diagonal number `offset`, and zeros elsewhere."""
    return diag_embed(input.contiguous().view(-1), as_int("diagflat", offset, "offset"))


@public(
    "kron(Tensor input, Tensor other, out)",
    out=rule(uncastable="result type {result} can't be cast to the desired output type {out}"), method=True)
def kron(input: TensorBase, other: TensorBase) -> Any:
    """The Kronecker product, in the common dtype: each element of `input` is replaced by the element times `other`.

    The sizes are the products of the sizes of both operands.

    >>> import retrograd as torch
    >>> torch.kron(torch.tensor([1, 2]), torch.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    a, b = input._array.shape, other._array.shape
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    left = shape_ops.unsafe_view(input, tuple([n for size in a for n in (size, 1)]))
    right = shape_ops.unsafe_view(other, tuple([n for size in b for n in (1, size)]))
    return shape_ops.unsafe_view(left * right, tuple([n * m for n, m in zip(a, b)]))


@public("vander(Tensor x, int N=None, bool increasing=False)", strict=True)
def vander(x: TensorBase, N: int | None = None, increasing: bool = False) -> Any:
    """The powers 0 to N - 1 of each element of a vector, one row for each element.

    The highest power comes first, unless `increasing`. Without `N` there are as many powers as elements. The powers of
    bools and ints are int64. Raises RuntimeError if the input is not a vector, and for a negative N.

    >>> import retrograd as torch
    >>> torch.vander(torch.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    array = x._array
    if array.ndim != 1:
        raise noted(RuntimeError("x must be a one-dimensional tensor."), given=f"x has {array.ndim} dimensions")
    count = array.size if N is None else as_int("vander", N, "N")
    if count < 0:
        raise noted(RuntimeError("N must be non-negative."), given=f"N={count}")
    dtype = array.dtype if letter(array.dtype) in "fc" else I64
    powers = plain(np.ones((array.size, min(count, 1)), dtype))
    if count > 1:
        repeated = clone(expand(unsqueeze(x, 1), (array.size, count - 1)), memory_format=contiguous_format)
        powers = cat([powers, cumprod(repeated, 1, dtype)], 1)
    return powers if increasing else flip(powers, 1)


NUMPY: dict[Any, Callable[..., Any]] = {np.kron: kron, np.diagflat: lambda v, k=0: diagflat(v, k), np.vander: vander}
