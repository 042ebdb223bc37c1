"""Products of vectors, matrices and stacks of matrices, as functions, methods and the operator `@`.

A product of higher rank is composed as PyTorch composes it: of one product of two matrices if the dimensions can be
folded, else of one product of two stacks. Dtypes are not promoted: operands of different dtypes raise, and so do bools.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import BOOL_, C_NAMES, Array, legacy
from ....foundations.errors import noted
from ....foundations.modes import local
from ....kernels.layout import in_rows, steps
from ....kernels.shape import common_shape
from ....ops import basic, shape
from ....ops.linalg import matrix as ops
from ...recording.calls import recorded
from ...recording.out_rules import APART, EXACT, FREE, Rule, rule
from ...recording.public import methods, public, renamed
from ...state.base import TensorBase, plain, requires
from ...state.dispatch import DISPATCH
from ...transforms.batched import is_batch

_mm, _bmm, _mv, _dot = (recorded(op) for op in (ops.mm, ops.bmm, ops.mv, ops.dot))
_expand, _view, _unfolded = recorded(shape.expand), recorded(shape.view), recorded(shape.unsafe_view)
_transpose, _clone = recorded(shape.transpose), recorded(basic.clone)

REMEDY = "Matrix products do not promote: convert one with .to(dtype)."


def dimensions(array: Array) -> str:
    """The shape as messages about matrices write it, such as '2x3'."""
    return "x".join(map(str, array.shape))


def refuse_bool(kernel: str, array: Array) -> None:
    """Raises NotImplementedError for bools: PyTorch has no products of bools."""
    if array.dtype is BOOL_ and array.size:
        raise noted(
            NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'"),
            instead="convert with .long() or .float()")


_OUT_OF_VECTORS = rule(exact="result dtype {out} does not match input dtype {result}", overlap=FREE, repeated=True)
_OUT_OF_MATRIX_AND_VECTOR = rule(exact="addmv input tensors must have the same dtype, but got {out}, {result}, and "
                                       "{result}", overlap=FREE, repeated=True)
_OUT_OF_MATRICES = rule(exact=EXACT, overlap=FREE)
_OUT_OF_STACKS = rule(exact=EXACT, overlap=FREE, repeated=True)
_OUT_BY_DIMS = {(1, 1): _OUT_OF_VECTORS, (2, 1): _OUT_OF_MATRIX_AND_VECTOR, (2, 2): _OUT_OF_MATRICES}


def _out_of_product(input: TensorBase, other: TensorBase) -> Rule:
    """The out= rule of the product that matmul takes for operands of these dimensions."""
    return _OUT_BY_DIMS.get((input._array.ndim, other._array.ndim), _OUT_OF_STACKS)


@public("matmul(Tensor input, Tensor other, out)", out=_out_of_product, event="aten::matmul", method=True)
def matmul(input: TensorBase, other: TensorBase) -> Any:
    """The matrix product: shapes (*, n, m) and (*, m, k) give (*, n, k).

    The dimensions before the last two broadcast. A matrix and a vector give a vector, and two vectors give their dot
    product. Raises RuntimeError if the inner sizes or the dtypes differ.

    >>> import retrograd as torch
    >>> torch.ones(5, 2, 3).matmul(torch.ones(3, 4)).shape
    torch.Size([5, 2, 4])
    """
    a, b = input._array, other._array
    left, right = a.ndim, b.ndim
    if left == 2 and right == 2:
        if a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype is BOOL_:
            refuse_matrices(a, b)
        return _mm(input, other)
    if 0 in (left, right):
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D")
    if right == 1:
        if left == 1:
            return dot(input, other)
        if left == 2:
            return mv(input, other)
    elif left == 1 and right == 2:
        return ops.first_row(mm(input.unsqueeze(0), other))
    return _product_of_stacks(input, other, a, b)


def _product_of_stacks(input: TensorBase, other: TensorBase, a: Array, b: Array) -> Any:
    """The matmul of two operands, at least one with more than two dimensions.

    If a matrix were expanded to the stack, the backward pass would have to add up a stack of gradients. So if the
    matrix requires grad, the stack is folded into one long matrix instead, even if that takes a copy.
    """
    if a.ndim == b.ndim == 3:
        if b.shape[0] == 1 != a.shape[0] and requires(other):
            return _folded(input, other.squeeze(0))
        if a.shape[0] == 1 != b.shape[0] and requires(input):
            return _folded_right(input.squeeze(0), other)
    elif b.ndim <= 2:
        if requires(other) or _folds(a):
            return _folded(input, other)
    elif a.ndim <= 2 and (requires(input) or (a.ndim == 1 and _folds(b, turned=True))):
        return _folded_right(input, other)
    return _stacked(input, other, a, b)


def _folds(array: Array, turned: bool = False) -> bool:
    """Whether all dimensions but the last can be read as one dimension. `turned` asks it of the transposed matrices."""
    strides, shape = steps(array), array.shape
    if turned:
        strides, shape = [(*sizes[:-2], sizes[-1], sizes[-2]) for sizes in (strides, shape)]
    return array.size == 0 or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(array.ndim - 2))


def _folded(stack: TensorBase, other: TensorBase) -> Any:
    """A stack of matrices times a matrix or a vector, as one product."""
    *outer, inner = stack._array.shape
    rows = _lined_up(stack, (math.prod(outer), inner))
    if other._array.ndim == 1:
        return _unfolded(mv(rows, other), tuple(outer))
    return _unfolded(mm(rows, other), (*outer, other._array.shape[1]))


def _folded_right(input: TensorBase, stack: TensorBase) -> Any:
    """A matrix or a vector times a stack of matrices, computed as the transposed product."""
    if input._array.ndim == 1:
        return _folded(_transpose(stack, -1, -2), input)
    product = _transpose(_folded(_transpose(stack, -1, -2), input.t()), -1, -2)
    return product if in_rows(product._array) else _clone(product, "C")


def _stacked(input: TensorBase, other: TensorBase, a: Array, b: Array) -> Any:
    """The product of two stacks of matrices, broadcast to each other."""
    thread = local.thread
    if (a.ndim == b.ndim == 3 and a.shape[0] == b.shape[0] and thread.observer is None
            and not (thread.grad and (requires(input) or requires(other)))):
        return bmm(input, other)                            # the views of the general case are not recorded
    x = input if a.ndim > 1 else input.unsqueeze(0)
    y = other if b.ndim > 1 else other.unsqueeze(1)
    (*left, n, inner), (*right, rows, k) = x._array.shape, y._array.shape
    stack = tuple(left) if left == right else common_shape(tuple(left), tuple(right))
    count = math.prod(stack)
    product = bmm(_lined_up(_expand(x, (*stack, n, inner)), (count, n, inner)),
                  _lined_up(_expand(y, (*stack, rows, k)), (count, rows, k)))
    if b.ndim == 1:
        return _unfolded(product.squeeze(-1), (*stack, n))
    return _unfolded(product, (*stack, n, k) if a.ndim > 1 else (*stack, k))


def _lined_up(x: TensorBase, shape: tuple[int, ...]) -> Any:
    """The dimensions of the stack folded into one."""
    return _view(x, shape) if in_rows(x._array) else x.reshape(shape)


# The products of fixed rank


def check_ranks(name: str, operands: tuple[Any, Any], ranks: tuple[int, int]) -> None:
    """Raise RuntimeError inside of `vmap`, if the samples have other numbers of dims than a product takes."""
    found = tuple([x.ndim for x in operands])
    if found != ranks and any(map(is_batch, operands)):
        raise RuntimeError(
            "Got wrong shapes for dot" if name == "dot" else
            f"Shape mismatch: Got incorrect dims for {name}(a, b). a has dim {found[0]}and b has dim {found[1]}but "
            f"expected them to have dim {ranks[0]} and dim {ranks[1]}")


def refuse_matrices(a: Any, b: Any) -> None:
    """Raises RuntimeError or NotImplementedError if two matrices cannot be multiplied."""
    check_ranks("mm", (a, b), (2, 2))
    if a.ndim != 2:
        raise noted(RuntimeError("self must be a matrix"), given=f"{a.ndim} dimensions")
    if b.ndim != 2:
        raise noted(RuntimeError("mat2 must be a matrix"), given=f"{b.ndim} dimensions")
    if a.shape[1] != b.shape[0]:
        raise noted(
            RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({dimensions(a)} and {dimensions(b)})"),
            "shapes#matrix-shapes", because="the first matrix needs as many columns as the second has rows")
    if a.dtype is not b.dtype:
        raise noted(
            RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {C_NAMES[a.dtype.name]} "
                         f"!= {C_NAMES[b.dtype.name]}"), because=REMEDY)
    refuse_bool("addmm_impl_cpu_", a)


@public(
    "mm(Tensor input, Tensor mat2, out)",
    "mm(Tensor input, Tensor mat2, dtype out_dtype, out)",
    out=_OUT_OF_MATRICES, method=True)
def mm(input: TensorBase, mat2: TensorBase) -> Any:
    """The product of two matrices: shapes (n, m) and (m, k) give (n, k).

    Raises RuntimeError if an operand is not a matrix, the inner sizes differ, or the dtypes differ.
    """
    a, b = input._array, mat2._array
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype is BOOL_:
        refuse_matrices(a, b)
    return _mm(input, mat2)


def check_stacks(a: Array, b: Array, kernel: str = "bmm") -> None:
    """Raises RuntimeError if two stacks of matrices cannot be multiplied pair by pair."""
    for i, array in enumerate((a, b), 1):
        if array.ndim != 3:
            raise noted(RuntimeError(f"batch{i} must be a 3D tensor"), given=f"{array.ndim} dimensions")
    if a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{a.shape[0]}, {a.shape[2]}] but got: [{b.shape[0]}, {b.shape[1]}].")
    refuse_bool(kernel, a)
    if a.dtype is not b.dtype:
        raise noted(RuntimeError(f"expected scalar type {legacy(a)} but found {legacy(b)}"), because=REMEDY)


@public(
    "bmm(Tensor input, Tensor mat2, out)",
    "bmm(Tensor input, Tensor mat2, dtype out_dtype, out)",
    out=_OUT_OF_STACKS, method=True)
def bmm(input: TensorBase, mat2: TensorBase) -> Any:
    """The products of two stacks of matrices: shapes (b, n, m) and (b, m, k) give (b, n, k).

    Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    a, b = input._array, mat2._array
    if a.ndim != 3 or b.ndim != 3:
        check_ranks("bmm", (a, b), (3, 3))
    check_stacks(a, b)
    return _bmm(input, mat2)


def check_matrix_vector(x: Array, mat: Array, vec: Array) -> None:
    """Raises RuntimeError if the shapes or dtypes of x + mat @ vec do not fit."""
    if mat.ndim != 2 or vec.ndim != 1 or x.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {x.ndim}, {mat.ndim}, {vec.ndim}")
    if mat.shape[1] != vec.shape[0] or (x.ndim and x.shape[0] not in (1, mat.shape[0])):
        raise RuntimeError(f"size mismatch, got input ({x.shape[0] if x.ndim else 1}), mat ({dimensions(mat)}), "
                           f"vec ({vec.shape[0]})")
    if not x.dtype == mat.dtype == vec.dtype:
        raise noted(
            RuntimeError(f"addmv input tensors must have the same dtype, but got {legacy(x)}, {legacy(mat)}, "
                         f"and {legacy(vec)}"), because=REMEDY)
    refuse_bool("addmv_impl_cpu", mat)


@public("mv(Tensor input, Tensor vec, out)", out=_OUT_OF_MATRIX_AND_VECTOR, method=True)
def mv(input: TensorBase, vec: TensorBase) -> Any:
    """The product of a matrix and a vector: shapes (n, m) and (m,) give (n,)."""
    a, b = input._array, vec._array
    if a.ndim != 2 or b.ndim != 1 or a.shape[1] != b.shape[0] or a.dtype is not b.dtype or a.dtype is BOOL_:
        check_ranks("mv", (a, b), (2, 1))
        check_matrix_vector(np.empty(a.shape[:1], b.dtype), a, b)
    return _mv(input, vec)


def _check_vectors(a: Array, b: Array) -> None:
    """Raises RuntimeError unless the operands are two vectors of the same length and dtype."""
    check_ranks("dot", (a, b), (1, 1))
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype:
        raise noted(
            RuntimeError(f"dot : expected both vectors to have same dtype, but found {legacy(a)} and {legacy(b)}"),
            because=REMEDY)
    if a.shape != b.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
                           f"same number of elements, but got {a.size} and {b.size} elements respectively")
    refuse_bool("dot", a)


@public("dot(Tensor input, Tensor tensor, out)", out=_OUT_OF_VECTORS, method=True)
def dot(input: TensorBase, tensor: TensorBase) -> Any:
    """The sum of the products of the elements of two vectors, as a tensor without dimensions.

    Raises RuntimeError unless the operands are two vectors of the same length and dtype.

    >>> import retrograd as torch
    >>> torch.dot(torch.tensor([1., 2.]), torch.tensor([3., 4.]))
    tensor(11.)
    """
    _check_vectors(input._array, tensor._array)
    return _dot(input, tensor)


@public("vdot(Tensor input, Tensor other, out)", out=_OUT_OF_VECTORS, method=True)
def vdot(input: TensorBase, other: TensorBase) -> Any:
    """The sum of the products of the elements of two vectors. The first vector is conjugated. See `dot`."""
    _check_vectors(input._array, other._array)
    return ops.vdot(input, other)


@public("outer(Tensor input, Tensor vec2, out)", out=rule(blame="mul", overlap=APART), event="aten::outer",
        method=True)
def outer(input: TensorBase, vec2: TensorBase) -> Any:
    """The products of each element of one vector and each element of another: (n,) and (m,) give (n, m)."""
    for name, vector in (("self", input._array), ("vec2", vec2._array)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return input.reshape(input._array.shape[0], 1) * vec2


@public("trace(Tensor input)", method=True)
def trace(input: TensorBase) -> Any:
    """The sum of the diagonal of a matrix. Raises RuntimeError if the input is not a matrix."""
    array = input._array
    if array.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {array.ndim}")
    if array.dtype is BOOL_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return ops.trace(input)


@public(event="aten::matmul", operator="matmul", name="__matmul__")
def operator_matmul(self: Any, other: Any) -> Any:
    """`self @ other`."""
    if type(other) is DISPATCH.tensor:
        a, b = self._array, other._array
        if a.ndim == 2 == b.ndim and a.shape[1] == b.shape[0] and a.dtype is b.dtype is not BOOL_:
            return _mm(self, other)
    if isinstance(other, TensorBase):
        return matmul(self, other)
    return matmul(self, plain(other)) if isinstance(other, np.ndarray) else NotImplemented


@public(operator="__rmatmul__", name="__rmatmul__")
def operator_rmatmul(self: Any, other: Any) -> Any:
    """`other @ self`, for an array `other`; or for a tensor, if called by its name."""
    if isinstance(other, TensorBase):
        return matmul(other, self)
    return matmul(plain(other), self) if isinstance(other, np.ndarray) else NotImplemented


NUMPY: dict[Any, Callable[..., Any]] = {np.matmul: matmul, np.vdot: vdot, np.trace: trace, np.outer: outer}


ger = renamed(outer, "ger")
methods(operator_matmul, operator_rmatmul, ger=ger)
