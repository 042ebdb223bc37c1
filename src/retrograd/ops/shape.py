"""Views in other shapes, and what undoes each. None of them looks at the elements, so all are linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import shape as kernels
from .framework import backward_name, linear


def _back(g: Any, x_shape: Any) -> Any:
    return np.reshape(g, x_shape)


view = linear("view", kernels.view, view=True, x=_back)
unsafe_view = linear("_unsafe_view", kernels.reshaped, node="UnsafeViewBackward0", x=_back)
alias = linear("alias", kernels.alias, view=True, x=lambda g: g)
expand = linear("expand", kernels.expand, view=True, x=lambda g: g)

permute = linear("permute", kernels.permute, view=True,
                 x=lambda g, dims: permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__))))
transpose = linear("transpose", kernels.transpose, view=True, x=lambda g, dim0, dim1: transpose(g, dim0, dim1))
t = linear("t", kernels.t, view=True, x=lambda g: t(g))

squeeze = linear("squeeze", kernels.squeeze, view=True, x=_back)
squeeze_dim = linear("squeeze", kernels.squeeze_dim, node=backward_name("squeeze", 1), view=True, x=_back)
squeeze_dims = linear("squeeze", kernels.squeeze_dims, node=backward_name("squeeze", 2), view=True, x=_back)
unsqueeze = linear("unsqueeze", kernels.unsqueeze, view=True, x=lambda g, dim: squeeze_dim(g, dim))

diagonal = linear("diagonal", kernels.diagonal, view=True,
                  x=lambda g, x_shape, offset, dim0, dim1: diagonal_backward(g, x_shape, offset, dim0, dim1))
diagonal_backward = linear("diagonal_backward", kernels.diagonal_backward,
                           g=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))
diag_embed = linear("diag_embed", kernels.diag_embed, x=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))
diagonal_copy = linear("diagonal", kernels.diagonal_copy, node="DiagonalBackward0_copy",
                       x=lambda g, x_shape, offset, dim0, dim1: diagonal_backward(g, x_shape, offset, dim0, dim1))

unfold = linear("unfold", kernels.unfold, view=True,
                x=lambda g, x_shape, dim, size, step: unfold_backward(g, x_shape, dim, size, step))
unfold_backward = linear("unfold_backward", kernels.unfold_backward,
                         g=lambda g, dim, size, step: unfold(g, dim, size, step))
