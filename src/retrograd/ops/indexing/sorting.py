"""Operators that pick elements: extremes with their indices, medians, sorting. Picked elements get the gradient.

`picked` takes elements by index along a dimension, and `placed` puts them back among zeros. Each is the derivative of
the other.
"""

from __future__ import annotations

from typing import Any

from ...kernels import reductions
from ...kernels.indexing import sorting as kernels
from ..framework import Op, linear, operator
from ..reductions import spread, tied

placed = linear("placed", kernels.placed, x=lambda g, indices, dim, keepdim: picked(indices, g, dim, keepdim))
picked: Op = linear("picked", kernels.picked,
                x=lambda g, indices, x_shape, dim, keepdim: placed(indices, g, x_shape, dim, keepdim))


def _to_picked(g: Any, x_shape: Any, indices: Any, dim: Any, keepdim: Any) -> Any:
    return placed(indices, g, x_shape, dim, keepdim)


def _reordered(g: Any, x_shape: Any, indices: Any, dim: Any) -> Any:
    return placed(indices, g, x_shape, dim, True)


def _shared(g: Any, x: Any, out: Any) -> Any:
    """All elements that equal the result share the gradient evenly."""
    return spread(g, x.shape, (), False) / tied(x, out, tuple(range(x.ndim)), False, True)


_PAIR: dict[str, Any] = {"outputs": "values indices", "differentiable": "values"}

max_dim = operator("max", reductions.extreme_dim, **_PAIR, x=_to_picked)
min_dim = operator("min", reductions.extreme_dim, **_PAIR, x=_to_picked)
median = operator("median", kernels.median, x=_shared)
median_dim = operator("median", kernels.median_dim, node=1, **_PAIR, x=_to_picked)
nanmedian = operator("nanmedian", kernels.median, x=_shared)
nanmedian_dim = operator("nanmedian", kernels.median_dim, node=1, **_PAIR, x=_to_picked)
mode = operator("mode", kernels.mode, **_PAIR, x=_to_picked)
kthvalue = operator("kthvalue", kernels.kthvalue, **_PAIR, x=_to_picked)
sort = operator("sort", kernels.sort, layout="kept", **_PAIR, x=_reordered)
stable_sort = operator("sort", kernels.sort, layout="kept", node=1, **_PAIR, x=_reordered)
topk = operator("topk", kernels.topk, **_PAIR, x=_reordered)
nonzero = operator("nonzero", kernels.nonzero, layout="kept", tensors=1)
nonzero_columns = operator("nonzero", kernels.nonzero_columns, layout="kept", tensors=1, outputs="*")
bincount = operator("bincount", kernels.bincount, tensors=2)
