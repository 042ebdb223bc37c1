"""Singular values and vectors of stacks of matrices.

Singular vectors have derivatives only if the singular values are distinct. Complex singular vectors have derivatives
only if the result does not depend on their phases. Singular values always have derivatives, so if the vectors got no
gradient, their part of the rule is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import factorizations as kernels
from ..basic import look
from ..framework import Op, constant, operator
from .adjoints import adjoint, differences, in_sum, main_diagonal, on_diagonal, skew

if TYPE_CHECKING:
    from ..values import Value


def without_phase(products: Value, refusal: str) -> None:
    """Raise an error with the given text if complex products show that a result depends on the phases of vectors. The
    products are those of the vectors and their gradients.
    """
    look(products, kernels.refuse_phase, refusal)


_REFUSED = ("svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
            "The specified loss function depends on this phase term, making it ill-defined.")


def _svd(g: Sequence[Value | None], u: Value, s: Value, vh: Value) -> Any:
    gu, gs, gvh = g
    m, n, count = u.shape[-2], vh.shape[-1], s.shape[-1]
    u, vh = u[..., :count], vh[..., :count, :]
    if gu is None and gvh is None:
        return None if gs is None else np.matmul(u * gs[..., None, :], vh)
    gu = None if gu is None else gu[..., :count]
    gvh = None if gvh is None else gvh[..., :count, :]
    by_u: Any = None if gu is None else np.matmul(adjoint(u), gu)
    by_v: Any = None if gvh is None else np.matmul(vh, adjoint(gvh))
    without_phase(main_diagonal(in_sum(by_u, by_v)), _REFUSED)
    inner = _between_vectors(s, gs, by_u, by_v)
    result = np.matmul(np.matmul(u, inner), vh)
    if m > count and gu is not None:
        result = result + np.matmul((gu - np.matmul(u, by_u)) / s[..., None, :], vh)
    if n > count and gvh is not None:
        result = result + np.matmul(u / s[..., None, :], gvh - np.matmul(adjoint(by_v), vh))
    return result


def _between_vectors(s: Value, gs: Value | None, by_u: Value | None, by_v: Value | None) -> Any:
    """The part of the gradient between singular vectors, in the basis of these vectors."""
    apart, sums = differences(s), s[..., None, :] + s[..., :, None]
    squares = np.where(on_diagonal(s.shape[-1]), apart, apart * sums)
    turned_u = None if by_u is None else skew(by_u)
    inner = in_sum(None if turned_u is None else turned_u / squares * s[..., None, :],
                   None if by_v is None else s[..., :, None] * (skew(by_v) / squares))
    along = None if gs is None else gs[..., None, :]
    if turned_u is not None and turned_u.dtype.kind == "c":
        along = in_sum(along, main_diagonal(turned_u)[..., None, :] / (2 * s[..., None, :]))
    return inner if along is None else inner + np.where(on_diagonal(s.shape[-1]), along, 0.0)


svd: Op = operator("linalg_svd", kernels.svd, layout="columns", outputs="u s vh", unfilled=True, a=_svd)
svdvals = constant("linalg_svdvals", kernels.svdvals, "a", layout="rows")
