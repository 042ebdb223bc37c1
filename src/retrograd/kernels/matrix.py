"""Products of vectors and matrices. Arrays in, arrays out, in types that the caller has made equal; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import F16, F32, I64, promote_types


def dot(x: Any, y: Any) -> Any:
    """The sum of the products of two vectors' elements."""
    return np.matmul(x, y, out=...)


def vdot(x: Any, y: Any) -> Any:
    """The same, with the first vector conjugated."""
    return np.vecdot(x, y, out=...)


def _blended(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * product, written over the product. Where beta is 0, x counts for nothing, even a nan."""
    if product.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        np.multiply(product, alpha, out=product)
    if beta == 1:
        np.add(product, x, out=product)
    elif beta != 0:
        np.add(product, np.multiply(x, beta), out=product)
    return product


def addmm(x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * mat1 @ mat2, for matrices, stacks of them, or a matrix and a vector."""
    return _blended(x, np.matmul(mat1, mat2, out=...), beta, alpha)


def addbmm(x: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * the sum of the products of two stacks of matrices."""
    stack, rows, inner = batch1.shape
    left = batch1.swapaxes(0, 1).reshape(rows, stack * inner)   # the sum is one product of two long matrices
    right = batch2.reshape(stack * inner, batch2.shape[2])
    return _blended(x, np.matmul(left, right, out=...), beta, alpha)


def addr(x: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    """beta * x + alpha * the outer product of two vectors, in the type common to all."""
    dtype = promote_types(promote_types(x.dtype, vec1.dtype), vec2.dtype)
    x, vec1, vec2 = (array.astype(dtype, copy=False) for array in (x, vec1, vec2))
    return _blended(x, np.multiply(vec1[:, None], vec2, out=...), beta, alpha)


def trace(x: Any) -> Any:
    """The sum of a matrix's diagonal; of ints in int64."""
    dtype = I64 if x.dtype.kind in "iu" else F32 if x.dtype == F16 else x.dtype
    result = np.add.reduce(x.diagonal(), dtype=dtype, out=...)
    return result.astype(F16) if x.dtype == F16 else result


def first_row(x: Any) -> Any:
    """The one row of a new matrix."""
    return x[0]
