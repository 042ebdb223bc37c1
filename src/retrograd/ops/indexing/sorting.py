"""Operators that pick, sort and count elements. Picked elements get the gradient.

`picked` takes elements by index along a dimension, and `placed` puts them back among zeros. Each is the derivative of
the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ...foundations.dtypes import Shape
from ...foundations.errors import noted
from ...kernels import reductions
from ...kernels.indexing import histograms, sorting as kernels
from ..framework import Op, Rule, constant, linear, not_differentiable, operator
from ..reductions import shared

if TYPE_CHECKING:
    from ..values import Value

placed = linear("placed", kernels.placed, x=lambda g, indices, dim, keepdim: picked(indices, g, dim, keepdim))
picked: Op = linear("picked", kernels.picked,
                x=lambda g, indices, x_shape, dim, keepdim: placed(indices, g, x_shape, dim, keepdim))


def _to_picked(g: Value, x_shape: Shape, indices: Value, dim: int, keepdim: bool) -> Any:
    return placed(indices, g, x_shape, dim, keepdim)


def reordered(g: Value, x_shape: Shape, indices: Value, dim: int) -> Any:
    return placed(indices, g, x_shape, dim, True)


PAIR: dict[str, Any] = {"outputs": "values indices", "differentiable": "values"}

max_dim, min_dim = [operator(name, reductions.extreme_dim, **PAIR, x=_to_picked) for name in ("max", "min")]
median = operator("median", kernels.median, x=shared)
median_dim = operator("median", kernels.median_dim, node=1, **PAIR, x=_to_picked)
nanmedian = operator("nanmedian", kernels.median, x=shared)
nanmedian_dim = operator("nanmedian", kernels.median_dim, node=1, **PAIR, x=_to_picked)
mode = operator("mode", kernels.mode, **PAIR, x=_to_picked)
kthvalue = operator("kthvalue", kernels.kthvalue, **PAIR, x=_to_picked)
sort = operator("sort", kernels.sort, layout="kept", **PAIR, x=reordered)
stable_sort = operator("sort", kernels.sort, layout="kept", node=1, **PAIR, x=reordered)
topk = operator("topk", kernels.topk, **PAIR, x=reordered)
nonzero = operator("nonzero", kernels.nonzero, layout="kept", tensors=1)
nonzero_columns = operator("nonzero", kernels.nonzero_columns, layout="kept", tensors=1, outputs="*")
bincount = operator("bincount", kernels.bincount, tensors=2, any_type=True)

# The unique elements, which PyTorch records and refuses to differentiate; and tests of membership


def _refused(name: str) -> Rule:
    def rule(g: Value) -> NoReturn:
        raise noted(NotImplementedError(f"the derivative for '{name}' is not implemented."),
                    instead="take the gradient of the elements themselves, for example by their indices")

    return rule


def _unique(name: str, kernel: Callable[..., Any]) -> Op:
    return operator(name, kernel, layout="kept", outputs="values inverse counts", differentiable="values",
                    x=_refused(name))


unique, unique_dim = _unique("_unique2", kernels.unique), _unique("unique_dim", kernels.unique_dim)
unique_consecutive = _unique("unique_consecutive", kernels.unique_consecutive)

isin = constant("isin", kernels.isin, "x tests", layout="rows")

# Places in a sorted sequence, and histograms. They have no derivatives.

searchsorted = operator("searchsorted", histograms.searchsorted, domain="promote", tensors=2)
histc = operator("histc", histograms.histc, tensors=1)


def _histogram(name: str, function: str) -> tuple[Op, Op]:
    """Two operators: a histogram, and one with weights. PyTorch records both under the name of the function."""
    refused = not_differentiable(function)
    return (operator(name, histograms.histogram, node="NotImplemented", outputs="*", tensors=1, x=refused),
            operator(name, histograms.weighted_histogram, node="NotImplemented", outputs="*", tensors=2, x=refused,
                     weight=refused))


histogram, weighted_histogram = _histogram("histogram", "histogram")
histogramdd, weighted_histogramdd = _histogram("histogramdd", "_histogramdd_from_bin_cts")
