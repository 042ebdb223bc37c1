"""einsum, tensordot, inner and chain_matmul: sums of products over chosen dimensions.

Each is composed of permutations, reshapes and one product of (stacks of) matrices, as PyTorch composes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ....foundations.dtypes import C_NAMES, Array
from ....foundations.errors import noted, warn_once
from ....kernels.layout import in_rows
from ....ops import shape as shape_ops
from ...arguments.dims import array_of, arrays_of, as_int, axis_of
from ...recording.calls import recorded
from ...recording.out_rules import FREE, UNASKED, rule
from ...recording.overwriting import delivered
from ...recording.public import public
from ...state.base import TensorBase, numbers_in
from ..elementwise.arithmetic import mul
from .einsum_notation import Equation, parsed, spelled
from .matrix import REMEDY, bmm, dot, mm

_permute, _unsqueeze, _view = (recorded(op) for op in (shape_ops.permute, shape_ops.unsqueeze, shape_ops.view))


@public(event="aten::einsum")
def einsum(*args: Any) -> Any:
    """The sum of products that an equation in Einstein's notation describes.

    `einsum("ij,jk->ik", a, b)`, or with numbered subscripts `einsum(a, [0, 1], b, [1, 2], [0, 2])`. A subscript that
    the output lacks is summed over. A subscript that is repeated within an operand takes the diagonal. `...` stands for
    any number of dimensions, which broadcast. Without `->` the output has the subscripts that occur once, in
    alphabetical order. Raises RuntimeError if the equation is malformed or does not fit the shapes.

    >>> import retrograd as torch
    >>> torch.einsum("ii", torch.eye(3))
    tensor(3.)
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand "
                         "and its subscripts list")
    notation, operands = (args[0], [*args[1:]]) if isinstance(args[0], str) else spelled(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = [*operands[0]]
    shapes = tuple([array.shape for array in arrays_of(operands, 1)])
    equation = _fitting(notation, shapes)
    labels, kept = equation.labels, equation.kept
    aligned = [_aligned(operand, own, labels) for operand, own in zip(operands, equation.inputs, strict=True)]
    if len(aligned) == 1:
        return aligned[0].sum(tuple(range(kept, len(labels)))) if len(labels) > kept else aligned[0]
    ahead = [sum(operand._array.shape[dim] != 1 for operand in aligned) for dim in range(len(labels))]
    result = aligned[0]
    for operand in aligned[1:]:
        result = _contracted(result, operand, kept, ahead)
    return _view(result, result._array.shape[:kept]) if len(labels) > kept else result


@lru_cache(maxsize=256)
def _fitting(notation: str, shapes: tuple[tuple[int, ...], ...]) -> Equation:
    """The equation for operands of these shapes. Raises RuntimeError if it does not fit them."""
    equation = parsed(notation, tuple(map(len, shapes)))
    _check_sizes(equation, shapes)
    return equation


def _check_sizes(equation: Equation, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raises RuntimeError if a subscript stands for different sizes."""
    seen: dict[Any, int] = {}
    for i, (labels, shape) in enumerate(zip(equation.inputs, shapes, strict=True)):
        own: dict[Any, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't "
                                   f"match, {size} != {own[label]}")
        for label, size in own.items():
            if size != 1 and seen.setdefault(label, size) != size:
                if isinstance(label, int):                # a dimension under an ellipsis, from the last: -1, -2, …
                    covered = sum(isinstance(each, int) for each in own)
                    raise RuntimeError(f"einsum(): dimension {covered + label} covered by ellipsis in operand {i}has "
                                       f"size {size} which does not broadcast with previously seen ellipsis with size "
                                       f"{seen[label]} for the respective dimension")
                raise RuntimeError(f"einsum(): subscript {label} has size {size} for operand {i} which does not "
                                   f"broadcast with previously seen size {seen[label]}")


def _aligned(operand: TensorBase, own: Sequence[Any], labels: Sequence[Any]) -> Any:
    """The operand with one dimension for each of `labels`, in their order. A label that it lacks has size 1."""
    at: dict[Any, int] = {}
    for label in own:
        if label in at:
            operand = operand.diagonal(0, at[label], len(at)).movedim(-1, at[label])
        else:
            at[label] = len(at)
    for label in labels:
        if label not in at:
            operand = _unsqueeze(operand, len(at))
            at[label] = len(at)
    return _permute(operand, tuple([at[label] for label in labels]))


def _contracted(a: TensorBase, b: TensorBase, kept: int, ahead: list[int]) -> Any:
    """The product of two aligned operands, summed over the dimensions that no later operand has.

    `ahead` counts, for each dimension, the operands that have it and are not multiplied yet.
    """
    left, right = a._array.shape, b._array.shape
    both: list[int] = []
    only_a: list[int] = []
    only_b: list[int] = []
    for dim in range(kept, len(left)):
        if left[dim] != 1 and right[dim] != 1:
            ahead[dim] -= 1
            if ahead[dim] == 1:
                both.append(dim)
        elif ahead[dim] == 1 and (left[dim] != 1 or right[dim] != 1):
            (only_a if left[dim] != 1 else only_b).append(dim)
            ahead[dim] = 0
    if only_a:
        a = a.sum(only_a, True)
    if only_b:
        b = b.sum(only_b, True)
    return _summed_product(a, b, both) if both else a * b


def _summed_product(a: TensorBase, b: TensorBase, summed: list[int]) -> Any:
    """The sum of a * b over dimensions, as one product of stacks of matrices. These dimensions stay, with size 1."""
    plan = _matrices(a._array.shape, b._array.shape, tuple(summed))
    if plan.exchanged:
        a, b = b, a
    x = _permute(a, plan.left).reshape(plan.left_sizes)
    y = _permute(b, plan.right).reshape(plan.right_sizes)
    return _permute(_view(bmm(x, y), plan.sizes), plan.back)


class _Matrices(NamedTuple):
    """The orders of dims and the sizes that make two operands stacks of matrices, and their product an operand."""

    left: tuple[int, ...]
    left_sizes: tuple[int, ...]
    right: tuple[int, ...]
    right_sizes: tuple[int, ...]
    sizes: tuple[int, ...]
    back: tuple[int, ...]
    exchanged: bool                                   # whether the second operand is the left one of the product


@lru_cache(maxsize=256)
def _matrices(left: tuple[int, ...], right: tuple[int, ...], summed: tuple[int, ...]) -> _Matrices:
    """Dims of both operands are the stack, dims of the left alone its rows, dims of the right alone its columns.

    If all columns come before all rows, the operands change places, so that the result lies in the order of its dims.
    """
    stack: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    for dim in range(len(left)):
        if dim not in summed:
            (columns if left[dim] == 1 else rows if right[dim] == 1 else stack).append(dim)
    exchanged = bool(rows and columns) and columns[-1] < rows[0]
    if exchanged:
        left, right, rows, columns = right, left, columns, rows
    count, height, inner, width = (math.prod([shape[dim] for dim in dims]) for shape, dims in (
        (left, stack), (left, rows), (left, summed), (right, columns)))
    order = (*stack, *rows, *summed, *columns)
    return _Matrices(order, (count, height, inner), (*stack, *summed, *columns, *rows), (count, inner, width),
                     tuple([1 if dim in summed else left[dim] if left[dim] != 1 else right[dim] for dim in order]),
                     tuple([order.index(dim) for dim in range(len(order))]), exchanged)


@public(event="aten::tensordot")
def tensordot(a: TensorBase, b: TensorBase, dims: Any = 2, out: TensorBase | None = None) -> Any:
    """The sum of products over the last `dims` dimensions of `a` and the first `dims` of `b`.

    `dims` may also be two lists of dimensions, one for each operand. The result has the other dimensions of `a`, then
    those of `b`. Raises RuntimeError if the paired dimensions differ in size (size 1 fits any size), or the operands
    differ in dtype. The write to `out` is recorded, as a copy.

    >>> import retrograd as torch
    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
    torch.Size([2, 5])
    """
    asked = rule(exact="tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with "
                       "dtype {out}", overlap=FREE, gradient=UNASKED)
    return delivered("tensordot", asked, out, _tensordot(a, b, dims))


def _tensordot(a: TensorBase, b: TensorBase, dims: Any) -> Any:
    x, y = array_of("tensordot", a, "a"), array_of("tensordot", b, "b", 2)
    dims_a, dims_b = _paired(x, y, dims)
    if x.dtype is not y.dtype:
        raise noted(RuntimeError("both inputs should have same dtype"), because=REMEDY)
    for m, n in zip(dims_a, dims_b, strict=True):
        first, second = (array.shape[axis_of("tensordot", dim, array.ndim)] for array, dim in ((x, m), (y, n)))
        if first != second and 1 not in (first, second):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {first} in dim {m} and second "
                               f"has size {second} in dim {n}")
        if second == 1:                             # also if both sizes are 1: PyTorch records a node then too
            a = a.sum(m, True, dtype=a.dtype)
        elif first == 1:
            b = b.sum(n, True, dtype=b.dtype)
    summed_a, summed_b = [d % x.ndim for d in dims_a], [d % y.ndim for d in dims_b]
    for summed in (summed_a, summed_b):
        if len({*summed}) < len(summed):
            raise RuntimeError(f"dim {max(summed, key=summed.count)} appears multiple times in the list of dims")
    return _as_matrices(a, b, summed_a, summed_b)


def _paired(x: Array, y: Array, dims: Any) -> tuple[list[int], list[int]]:
    """The dimensions to sum over, for each operand."""
    if isinstance(dims, TensorBase):                     # one element is a number, several are two lists
        dims = numbers_in(dims) if dims._array.size > 1 else int(numbers_in(dims.reshape(())))
    if isinstance(dims, (tuple, list)):
        first, second = ([*d] if isinstance(d, (tuple, list)) else [as_int("tensordot", d, "dims")] for d in dims)
        if len(first) != len(second):
            raise RuntimeError("both dimension lists should have same length")
        return first, second
    if not isinstance(dims, int):
        raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
                           f"containing two lists, but got dims={dims}")
    n = dims
    if n < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={n}")
    if n > min(x.ndim, y.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={n}")
    return [*range(-n, 0)], [*range(n)]


def _as_matrices(a: TensorBase, b: TensorBase, summed_a: list[int], summed_b: list[int]) -> Any:
    """The contraction as a product of two matrices, or as a dot product if all dimensions are summed."""
    shape_a, shape_b = a._array.shape, b._array.shape
    free_a = [dim for dim in range(len(shape_a)) if dim not in summed_a]
    free_b = [dim for dim in range(len(shape_b)) if dim not in summed_b]
    shape = [shape_a[dim] for dim in free_a] + [shape_b[dim] for dim in free_b]
    inner = math.prod([shape_a[dim] for dim in summed_a])
    x, y = a.permute(free_a + summed_a), b.permute(summed_b + free_b)
    rows, columns = math.prod(shape[: len(free_a)]), math.prod(shape[len(free_a):])
    if rows == columns == 1:
        if not (in_rows(x._array) and in_rows(y._array)):
            return (x.squeeze() * y.squeeze()).sum(dtype=a.dtype).view(shape)
        return dot(*[part if part._array.ndim == 1 else part.reshape(inner) for part in (x, y)]).view(shape)
    return mm(x.reshape(rows, inner), y.reshape(inner, columns)).view(shape)


@public("inner(Tensor input, Tensor other, out)", event="aten::inner", method=True)
def inner(input: TensorBase, other: TensorBase, *, out: TensorBase | None = None) -> Any:
    """The sum of products over the last dimension of each operand: (*, n) and (+, n) give (*, +).

    If an operand has no dimensions, the result is the product. Raises RuntimeError if the last sizes differ.
    """
    a, b = array_of("inner", input), array_of("inner", other, "other", 2)
    if not a.ndim or not b.ndim:
        return mul(input, other, out=out)
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{[*a.shape]} and {[*b.shape]}")
    return tensordot(input, other, ([-1], [-1]), out)


OUT_OF_CHAIN = rule(exact="multi_dot(): expected out tensor to have dtype {c_result} but got {c_out}", overlap=FREE,
                    blame="mm")


@public(out=OUT_OF_CHAIN, event="aten::chain_matmul")
def chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices, in the order with the fewest multiplications. An older form of `multi_dot`.

    >>> import retrograd as torch
    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1))
    tensor([[12.],
            [12.]])
    """
    warn_once("torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
              "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than multiple "
              "parameters.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    arrays = arrays_of(matrices)
    for array in arrays:
        if array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {array.ndim}, expected 2 instead.")
    check_chain(arrays)
    if len(matrices) == 1:
        return matrices[0].clone()
    product = in_best_order(matrices)
    return product.view(product._array.shape)


def check_chain(arrays: list[Any]) -> None:
    """Raises RuntimeError if a matrix cannot be multiplied by the next."""
    first = arrays[0].dtype
    for i, array in enumerate(arrays):
        if array.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {array.ndim}D")
        if array.dtype is not first:
            raise RuntimeError(f"multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                               f"{C_NAMES[first.name]} and tensor {i} {C_NAMES[array.dtype.name]}")
        if i and arrays[i - 1].shape[1] != array.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {i - 1} and {i} with shapes {[*arrays[i - 1].shape]} and "
                               f"{[*array.shape]} cannot be multiplied")


def in_best_order(matrices: Sequence[Any]) -> Any:
    """The product of matrices that fit each other, in the order with the fewest multiplications."""
    sizes = [m._array.shape[0] for m in matrices] + [matrices[-1]._array.shape[1]]
    return _multiplied(matrices, _best_splits(sizes), 0, len(matrices))


def _best_splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """For each run of matrices, the split that gives the fewest multiplications.

    Of splits with equally many, the first one counts. The last one counts if there are three matrices, as in PyTorch.
    """
    n = len(sizes) - 1
    cost: dict[tuple[int, int], float] = {(i, i + 1): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            splits = range(i + 1, j) if n != 3 else range(j - 1, i, -1)
            costs = {k: cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j] for k in splits}
            split[i, j] = k = min(costs, key=costs.__getitem__)
            cost[i, j] = costs[k]
    return split


def _multiplied(matrices: Sequence[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if j - i == 1:
        return matrices[i]
    k = split[i, j]
    return mm(_multiplied(matrices, split, i, k), _multiplied(matrices, split, k, j))


def _np_einsum(*args: Any, optimize: Any = False) -> Any:
    return einsum(*args)


def _np_dot(a: Any, b: Any) -> Any:
    """NumPy's dot: sums over the last dimension of a and the last but one of b."""
    if not a.ndim or not b.ndim:
        return a * b
    return tensordot(a, b, ([-1], [max(b.ndim - 2, 0)]))


NUMPY: dict[Any, Callable[..., Any]] = {
    np.einsum: _np_einsum, np.tensordot: lambda a, b, axes=2: tensordot(a, b, axes), np.inner: inner, np.dot: _np_dot}
