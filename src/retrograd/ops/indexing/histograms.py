"""Operators that count: places in a sorted sequence, and histograms. They have no derivatives."""

from __future__ import annotations

from ...kernels.indexing import histograms as kernels
from ..framework import not_differentiable, operator

searchsorted = operator("searchsorted", kernels.searchsorted, domain="promote", tensors=2)
histc = operator("histc", kernels.histc, tensors=1)
_undefined = not_differentiable("histogram")
histogram = operator("histogram", kernels.histogram, node="NotImplemented", outputs="*", tensors=1, x=_undefined)
weighted_histogram = operator("histogram", kernels.weighted_histogram, node="NotImplemented", outputs="*", tensors=2,
                              x=_undefined, weight=_undefined)
_undefined_of_points = not_differentiable("_histogramdd_from_bin_cts")
histogramdd = operator("histogramdd", kernels.histogram, node="NotImplemented", outputs="*", tensors=1,
                       x=_undefined_of_points)
weighted_histogramdd = operator("histogramdd", kernels.weighted_histogram, node="NotImplemented", outputs="*",
                                tensors=2, x=_undefined_of_points, weight=_undefined_of_points)
