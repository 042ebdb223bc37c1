"""Products of vectors and matrices, and of stacks of matrices; the exponential of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.linalg import matrix as kernels, matrix_exponential
from ..framework import Complex, Op, Rule, linear, operator
from ..reductions import spread
from ..shape import diagonal_backward, t, transpose, unsqueeze
from .adjoints import adjoint

if TYPE_CHECKING:
    from ..values import Value


def _product(name: str, kernel: Callable[..., Any], x: Rule, y: Rule, *, complex: Complex = "holomorphic") -> Op:
    """A product of two tensors without options. Its kernel is called like a ufunc."""
    return Op(name, kernel, "x y", {"x": x, "y": y}, kind="operator", tensors=2, complex=complex, short=True)


def _in_columns(strides: tuple[int, ...], rows: int, itemsize: int) -> bool:
    """Whether a matrix lies in memory column by column. The gradient then lies so too, as in PyTorch.

    `itemsize` is that of the type that the rule computes in, which is wider than half precision.
    """
    return 0 < strides[0] <= itemsize and strides[1] == strides[0] * rows


def _mm_by_first(g: Value, y: Value, x_strides: Shape) -> Any:
    return t(mm(y, t(g))) if _in_columns(x_strides, g.shape[0], y.dtype.itemsize) else mm(g, t(y))


def _mm_by_second(g: Value, x: Value, y_strides: Shape) -> Any:
    return t(mm(t(g), x)) if _in_columns(y_strides, x.shape[1], x.dtype.itemsize) else mm(t(x), g)


def _mv_by_matrix(g: Value, y: Value) -> Any:
    return unsqueeze(g, 1) * y


mm: Op = _product("mm", kernels.mm, _mm_by_first, _mm_by_second)
bmm: Op = _product("bmm", kernels.bmm, lambda g, y: bmm(g, transpose(y, -1, -2)),
                   lambda g, x: bmm(transpose(x, -1, -2), g))
mv: Op = _product("mv", kernels.mm, _mv_by_matrix, lambda g, x: mv(t(x), g))
dot = _product("dot", kernels.dot, lambda g, y: g * y, lambda g, x: g * x)
vdot = _product("vdot", kernels.vdot, lambda g, y: np.conj(g) * y, lambda g, x: g * x, complex="adjoint")


def _scaled(g: Value, beta: complex) -> Any:
    return g if beta == 1 else g * beta


def _for_each(g: Value, stack: Value) -> Any:
    """The gradient of a sum over a stack, for each matrix in the stack."""
    return np.broadcast_to(g, (stack.shape[0], *g.shape))


addmm = operator("addmm", kernels.addmm, x=_scaled,
                 mat1=lambda g, mat2, alpha, mat1_strides: _scaled(_mm_by_first(g, mat2, mat1_strides), alpha),
                 mat2=lambda g, mat1, alpha, mat2_strides: _scaled(_mm_by_second(g, mat1, mat2_strides), alpha))
addmv = operator("addmv", kernels.addmv, x=_scaled,
                 mat1=lambda g, mat2, alpha: _scaled(_mv_by_matrix(g, mat2), alpha),
                 mat2=lambda g, mat1, alpha: _scaled(mv(t(mat1), g), alpha))
baddbmm = operator("baddbmm", kernels.baddbmm, x=_scaled,
                   mat1=lambda g, mat2, alpha: _scaled(bmm(g, transpose(mat2, -1, -2)), alpha),
                   mat2=lambda g, mat1, alpha: _scaled(bmm(transpose(mat1, -1, -2), g), alpha))
addbmm = operator(
    "addbmm", kernels.addbmm, x=_scaled,
    batch1=lambda g, batch2, alpha: bmm(_for_each(_scaled(g, alpha), batch2), transpose(batch2, -1, -2)),
    batch2=lambda g, batch1, alpha: bmm(transpose(batch1, -1, -2), _for_each(_scaled(g, alpha), batch1)))
addr = operator("addr", kernels.addr, layout="elementwise", x=_scaled,
                vec1=lambda g, vec2, alpha: _scaled(mv(g, vec2), alpha),
                vec2=lambda g, vec1, alpha: _scaled(mv(t(g), vec1), alpha))


trace = linear("trace", kernels.trace, x=lambda g, x_shape: diagonal_backward(
    spread(g, (min(x_shape),), (), False), x_shape, 0, 0, 1))

# A product of a vector and a matrix is a product of two matrices, without the dim that was added in front.
first_row = linear("squeeze", kernels.first_row, node=4, x=lambda g, x_shape: np.reshape(g, x_shape))

# Sums of products of three factors. The derivative by a factor is again such a sum.


def _weight(g: Value, x: Value, y: Value, weight_shape: Shape) -> Any:
    pairs = np.expand_dims(x, 2) * np.expand_dims(y, 1)
    return np.reshape(mm(t(g), np.reshape(pairs, (x.shape[0], x.shape[1] * y.shape[1]))), weight_shape)


trilinear: Op = operator("trilinear", kernels.trilinear, tensors=3,
                         x=lambda g, weight, y: trilinear(g, np.transpose(weight, (1, 0, 2)), y),
                         weight=_weight,
                         y=lambda g, x, weight: trilinear(g, np.transpose(weight, (2, 0, 1)), x))

# The exponential of a matrix


def _derivative(g: Value, x: Value) -> Any:
    """The derivative at the adjoint matrix in the direction g: a block of the exponential of [[x', g], [0, x']]."""
    n = x.shape[-1]
    across = adjoint(x)
    above = np.concatenate([across, g], axis=-1)
    below = np.concatenate([np.zeros_like(across), across], axis=-1)
    return matrix_exp(np.concatenate([above, below], axis=-2))[..., :n, n:]


matrix_exp: Op = operator("linalg_matrix_exp", matrix_exponential.matrix_exp, complex="adjoint", x=_derivative)
