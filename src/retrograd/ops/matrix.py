"""Products of vectors and matrices. The rules take stacks of matrices as they take matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import matrix as kernels
from .framework import Op, linear, operator
from .reductions import spread


def _by_left(g: Any, y: Any) -> Any:
    return np.matmul(g, np.swapaxes(y, -1, -2))


def _by_right(g: Any, x: Any) -> Any:
    return np.matmul(np.swapaxes(x, -1, -2), g)


mm = Op("mm", np.matmul, "x y", {"x": _by_left, "y": _by_right}, kind="operator", tensors=2)
bmm = Op("bmm", np.matmul, "x y", {"x": _by_left, "y": _by_right}, kind="operator", tensors=2)
# np.matmul of tensors may be any of these and more, by rank: that is a function of its own, not one operator.
del Op.by_kernel[np.matmul]

dot = operator("dot", kernels.dot, x=lambda g, y: g * y, y=lambda g, x: g * x)
vdot = operator("vdot", kernels.vdot, holomorphic=False, x=lambda g, y: np.conj(g) * y, y=lambda g, x: g * x)


def _column_times_row(g: Any, y: Any) -> Any:
    return np.reshape(g, (-1, 1)) * y


def _mv_by_vector(g: Any, x: Any) -> Any:
    return np.matmul(np.swapaxes(x, 0, 1), g)


mv = Op("mv", np.matmul, "x y", {"x": _column_times_row, "y": _mv_by_vector}, kind="operator", tensors=2)
del Op.by_kernel[np.matmul]


def _scaled(g: Any, factor: Any) -> Any:
    return g if factor == 1 else g * factor


def _addend(g: Any, beta: Any) -> Any:
    return _scaled(g, beta)


def _mat1(g: Any, mat2: Any, alpha: Any) -> Any:
    return np.matmul(_scaled(g, alpha), np.swapaxes(mat2, -1, -2))


def _mat2(g: Any, mat1: Any, alpha: Any) -> Any:
    """The product is taken transposed: where mat2 is a layer's weight transposed, its gradient is then row-major."""
    return np.swapaxes(np.matmul(np.swapaxes(_scaled(g, alpha), -1, -2), mat1), -1, -2)


addmm = operator("addmm", kernels.addmm, x=_addend, mat1=_mat1, mat2=_mat2)
baddbmm = operator("baddbmm", kernels.addmm, x=_addend, mat1=_mat1, mat2=_mat2)
addbmm = operator("addbmm", kernels.addbmm, x=_addend,
                  batch1=lambda g, batch2, alpha: _mat1(g, batch2, alpha),
                  batch2=lambda g, batch1, alpha: _by_right(_scaled(g, alpha), batch1))
addmv = operator("addmv", kernels.addmm, x=_addend,
                 mat1=lambda g, mat2, alpha: _column_times_row(_scaled(g, alpha), mat2),
                 mat2=lambda g, mat1, alpha: _mv_by_vector(_scaled(g, alpha), mat1))


def _vec1(g: Any, vec2: Any, alpha: Any) -> Any:
    return np.matmul(_scaled(g, alpha), vec2)


def _vec2(g: Any, vec1: Any, alpha: Any) -> Any:
    return np.matmul(np.swapaxes(_scaled(g, alpha), 0, 1), vec1)


addr = operator("addr", kernels.addr, x=_addend, vec1=_vec1, vec2=_vec2)


def _trace(g: Any, x_shape: Any) -> Any:
    g = spread(g, x_shape, (), False)
    return np.where(np.eye(*x_shape, dtype=bool), g, np.zeros_like(g))


trace = linear("trace", kernels.trace, x=_trace)

# A product of a vector and a matrix is one of two matrices, without the dim that was put in front.
first_row = linear("squeeze", kernels.first_row, node="SqueezeBackward4", x=lambda g, x_shape: np.reshape(g, x_shape))
