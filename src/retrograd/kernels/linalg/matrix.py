"""Products of vectors and matrices, and of three factors; blocks on a diagonal.

The caller has checked that the dtypes are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import (
    F16,
    F32,
    I64,
    Array,
    Shape,
    category,
    dtype as torch_dtype,
    is_half,
    promote_types,
    result_dtype,
)
from ...foundations.scalars import converted, filling, rounded_to
from ..elementwise.arithmetic import like
from ..options import converts, option, rounds_steps
from ..rounding import in_steps
from ..thresholds import EINSUM_PRODUCT, PRODUCT_FACTOR, TURNED_FACTOR
from .served_products import product


def mm(x: Array, y: Array, out: Array | EllipsisType = ...) -> Any:
    """The product of two matrices, or of a matrix and a vector. For small ones `dot` takes a third of matmul's time."""
    if x.itemsize == 2 and x.dtype == F16:               # the BLAS has no product of float16
        return mm(x.astype(F32), y.astype(F32)).astype(F16)
    if x.size >= PRODUCT_FACTOR and y.ndim == 2 and (found := product(x, y)) is not None:
        return found
    if 0 in x.strides or 0 in y.strides:                 # NumPy does not hand repeated elements to the BLAS
        return np.ascontiguousarray(x).dot(np.ascontiguousarray(y))
    if y.ndim == 2 and y.size > TURNED_FACTOR and 4 * x.shape[0] <= y.shape[1] and y.flags.f_contiguous:
        # For a few rows and a large transposed matrix, such as a layer's weight, the BLAS takes up to twice as long for
        # x @ y as for y.T @ x.T.
        return np.ascontiguousarray(y.T.dot(x.T).T)
    return x.dot(y)


def bmm(x: Array, y: Array, out: Array | EllipsisType = ...) -> Any:
    """The products of two stacks of matrices.

    Outer products are elementwise, which takes a third of matmul's time. For many elements, `einsum` takes two thirds
    of the time of a multiplication with broadcasting.
    """
    if x.shape[-1] == 1 and x.shape[:-2] == y.shape[:-2] and x.dtype is y.dtype:
        if x.dtype.kind not in "fc":
            return np.multiply(x, y, out=..., order="C")
        if x.size * y.shape[-1] < EINSUM_PRODUCT:
            found = np.multiply(x, y, out=..., order="C")
            return np.add(found, 0.0, out=found)           # a sum is never -0.0
        return np.einsum("...ij,...jk->...ik", x, y, order="C")
    if x.itemsize == 2 and x.dtype == F16:
        return np.matmul(_dense(x.astype(F32)), _dense(y.astype(F32)), out=...).astype(F16)
    if x.shape[:-2] == y.shape[:-2] and x.size >= PRODUCT_FACTOR and (found := product(x, y)) is not None:
        return found
    return np.matmul(_dense(x), _dense(y), out=...)


def _dense(x: Array) -> Any:
    """`x`, or a copy if strides of 0 repeat elements of a matrix. NumPy does not hand those to the BLAS."""
    return x if x.strides[-1] and x.strides[-2] else np.ascontiguousarray(x)


def dot(x: Array, y: Array, out: Array | EllipsisType = ...) -> Any:
    """The dot product of two vectors."""
    return np.asarray(x.dot(y))


def vdot(x: Array, y: Array, out: Array | EllipsisType = ...) -> Any:
    """The dot product of two vectors, with the first vector conjugated."""
    return np.asarray(np.vdot(x, y))


def _blended(x: Array, product: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * product, written to the product. If beta is 0, x is ignored, even a nan in it."""
    if not product.size:
        return product
    if alpha != 1:
        np.multiply(product, converted(alpha, product.dtype), out=product)
    if beta == 1:
        np.add(product, x, out=product)
    elif beta != 0:
        np.add(product, np.multiply(x, np.asarray(converted(beta, x.dtype), x.dtype)), out=product)
    return product


def _without_terms(x: Array, product: Array, beta: Any) -> Any:
    """beta * x, written to a product that is a sum of nothing. Here beta is an operand, so an integer wraps around."""
    if beta == 0 or not product.size:
        return product
    made = result_dtype([(x.dtype, True)], [beta])
    if category(made) > category(x.dtype):
        have, held = (torch_dtype.of[dtype].legacy for dtype in (made, x.dtype))
        raise RuntimeError(f"result type {have} can't be cast to the desired output type {held}")
    return np.multiply(x, like(beta, x), out=product)


def _in_single(kernel: Callable[..., Any], arrays: tuple[Array, ...], beta: Any, alpha: Any) -> Any:
    """What the kernel computes with these half-precision arrays: in single precision, and rounded once."""
    return kernel(*[array.astype(F32) for array in arrays], beta, alpha).astype(F16)


def addmm(x: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * mat1 @ mat2, for matrices, or a matrix and a vector."""
    if mat1.itemsize == 2 and mat1.dtype == F16:
        return _in_single(addmm, (x, mat1, mat2), beta, alpha)
    if not mat2.size:
        return _without_terms(x, np.zeros((*mat1.shape[:-1], *mat2.shape[1:]), x.dtype), beta)
    product = mm(mat1, mat2)
    if beta == 1 and alpha == 1:
        return np.add(product, x, out=product)
    return _blended(x, product, beta, alpha)


@converts(3, 4)
@rounds_steps
def addmv(x: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * mat1 @ mat2, for a matrix and a vector. PyTorch rounds the factors to the dtype, too."""
    if not mat2.size:
        beta = filling(beta, x.dtype, 1)
    elif is_half(half := mat1.dtype):                       # so is the product of x and beta
        x = in_steps(x.astype(F32) * F32.type(rounded_to(beta, half)), half)
        beta, alpha = float(beta != 0), rounded_to(alpha, half)
        return addmm(x, mat1.astype(F32), mat2.astype(F32), beta, alpha).astype(half)
    return addmm(x, mat1, mat2, beta, alpha)


def baddbmm(x: Array, mat1: Array, mat2: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * mat1 @ mat2, for stacks of matrices."""
    if mat1.dtype == F16:
        return _in_single(baddbmm, (x, mat1, mat2), beta, alpha)
    product = bmm(mat1, mat2)
    return _blended(x, product, beta, alpha) if mat1.size and mat2.size else _without_terms(x, product, beta)


def addbmm(x: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * the sum of the products of two stacks of matrices."""
    stack, rows, inner = batch1.shape
    if not batch1.size or not batch2.size:
        return _without_terms(x, np.zeros((rows, batch2.shape[2]), x.dtype), beta)
    if batch1.dtype == F16 and stack:                           # PyTorch rounds the sum after each product
        x = addmm(x, batch1[0], batch2[0], beta, alpha)
        for mat1, mat2 in zip(batch1[1:], batch2[1:]):
            x = addmm(x, mat1, mat2, 1, alpha)
        return x
    left = batch1.swapaxes(0, 1).reshape(rows, stack * inner)   # the sum is one product of two long matrices
    right = batch2.reshape(stack * inner, batch2.shape[2])
    return _blended(x, left.dot(right), beta, alpha)


@converts(3, 4)
@rounds_steps
def addr(x: Array, vec1: Array, vec2: Array, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * the outer product of two vectors, in their common dtype. For bools it is a logical or."""
    dtype = promote_types(promote_types(x.dtype, vec1.dtype), vec2.dtype)
    if dtype.kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    x, vec1, vec2 = (array.astype(dtype, copy=False) for array in (x, vec1, vec2))
    if alpha != 1:                                       # this product of three is rounded in PyTorch's order
        vec1 = np.multiply(vec1, option(alpha, vec1))
    return _blended(x, np.multiply(vec1[:, None], vec2, out=...), beta, 1)


def trace(x: Array) -> Any:
    """The sum of a matrix's diagonal. Ints are summed in int64."""
    dtype = I64 if x.dtype.kind in "iu" else F32 if x.dtype == F16 else x.dtype
    result = np.add.reduce(x.diagonal(), dtype=dtype, out=...)
    return result.astype(F16) if x.dtype == F16 else result


def first_row(x: Array) -> Any:
    """The single row of a new matrix."""
    return x[0]


def trilinear(x: Array, weight: Array, y: Array) -> Any:
    """The sums over i and j of weight[o, i, j] x[n, i] y[n, j]: (N, O), for x (N, I), weight (O, I, J) and y (N, J)."""
    out, first, second = weight.shape
    rows = x.dot(weight.transpose(1, 0, 2).reshape(first, out * second)).reshape(len(x), out, second)
    return np.matmul(rows, y[:, :, None])[:, :, 0]


# Blocks on a diagonal


def blocks(shapes: Sequence[Shape]) -> list[tuple[int, int, int, int]]:
    """The place of each block for arrays of these shapes: its first row, end row, first column and end column.

    The end row and the end column lie just after the block. A vector counts as a row.
    """
    found, row, column = [], 0, 0
    for shape in shapes:
        height, width = (1,) * (2 - len(shape)) + shape
        found.append((row, row + height, column, column + width))
        row, column = row + height, column + width
    return found


def block_diag(xs: Sequence[Any]) -> Any:
    """A matrix with the matrices `xs` one after another on its diagonal, and zeros elsewhere."""
    places = blocks([x.shape for x in xs])
    out = np.zeros((places[-1][1], places[-1][3]), xs[0].dtype)
    for x, (top, bottom, left, right) in zip(xs, places):
        out[top:bottom, left:right] = x
    return out
