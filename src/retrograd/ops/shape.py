"""Views in other shapes, and the adjoint of each view. They do not look at the elements, so all are linear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Shape
from ..kernels import shape as kernels
from .framework import Op, linear, operator

if TYPE_CHECKING:
    from .values import Value


def _back(g: Value, x_shape: Shape) -> Any:
    return np.reshape(g, x_shape)


view: Op = linear("view", kernels.view, view=True, x=_back)
# The view of a removed method, whose node has no number.
resize: Op = linear("resize", kernels.view, view=True, x=_back, node="ResizeBackward")
reshape_alias: Op = linear("_reshape_alias", kernels.view, view=True, x=_back)
unsafe_view: Op = linear("_unsafe_view", kernels.reshaped, layout="kept", x=_back)
alias: Op = linear("alias", kernels.alias, view=True, x=lambda g: g)
expand: Op = linear("expand", kernels.expand, view=True, x=lambda g: g)

permute: Op = linear("permute", kernels.permute, view=True,
                     x=lambda g, dims: permute(g, tuple(sorted(range(len(dims)), key=lambda i: dims[i]))))
transpose: Op = linear("transpose", kernels.transpose, view=True, x=lambda g, dim0, dim1: transpose(g, dim0, dim1),
                       written={"name": "transpose_", "node": 1})
t: Op = linear("t", kernels.t, view=True, x=lambda g: t(g), written={"name": "t_", "node": 1})

squeeze: Op = linear("squeeze", kernels.squeeze, view=True, x=_back, written={"name": "squeeze_", "node": 3})
squeeze_dim: Op = linear("squeeze", kernels.squeeze_dim, node=1, view=True, x=_back,
                         written={"name": "squeeze_", "node": 4})
squeeze_dims: Op = linear("squeeze", kernels.squeeze_dims, node=2, view=True, x=_back,
                          written={"name": "squeeze_", "node": 5})
unsqueeze: Op = linear("unsqueeze", kernels.unsqueeze, view=True, x=lambda g, dim: squeeze_dim(g, dim),
                       written={"name": "unsqueeze_", "node": 1})
# The same bytes, read as elements of another type.
read_as = operator("view", lambda x, dtype: x.view(dtype), tensors=1, layout="kept", any_type=True)

diagonal: Op = linear("diagonal", kernels.diagonal, view=True,
                      x=lambda g, x_shape, offset, dim0, dim1: diagonal_backward(g, x_shape, offset, dim0, dim1))
diagonal_backward: Op = linear("diagonal_backward", kernels.diagonal_backward,
                               g=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))
diag_embed: Op = linear("diag_embed", kernels.diag_embed,
                        x=lambda g, offset, dim0, dim1: diagonal(g, offset, dim0, dim1))

unfold: Op = linear("unfold", kernels.unfold, view=True,
                    x=lambda g, x_shape, dim, size, step: unfold_backward(g, x_shape, dim, size, step))
unfold_backward: Op = linear("unfold_backward", kernels.unfold_backward,
                             g=lambda g, dim, size, step: unfold(g, dim, size, step))
# The frames of a signal, which PyTorch takes by strides. The derivative of any strides is slower.
frames: Op = linear("as_strided", lambda x, width, hop: kernels.unfold(x, 1, width, hop), view=True,
                    x=lambda g, x_shape, width, hop: unfold_backward(g, x_shape, 1, width, hop))

as_strided: Op = linear("as_strided", kernels.as_strided, view=True,
                        written={"name": "as_strided_", "node": 1},
                        x=lambda g, x_shape, size, stride, start, layout: transfer(
                            g, (size, stride, start), (x_shape, layout, 0), (x_shape, layout, 0)))
transfer: Op = linear("transfer", kernels.transfer,
                      g=lambda g, source, target, shared: transfer(g, target, source, shared))
