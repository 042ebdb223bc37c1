"""Entries for differences, slopes and integrals of samples, quantiles, places in an order, and histograms."""

from __future__ import annotations

from functools import partial
from typing import Any

from op_table.entry import MANY, NO_SECOND, Entry, each
from op_table.reductions import second_zero

_STEEP = (((4, 5),),)
_SAMPLES = (((3, 4), (4,)),)
_JOINED = (((3, 4), (3, 1), (3, 2)),)
_PAIR = (((3, 4), (3, 4)), ((3, 4), (4,)), ((), (2, 3)))
_NORMS = (0.5, 1, 1.5, 2, 3, float("inf"))
_ROUNDED = {"c": "the largest absolute value in PyTorch is, by a rounding, that of no element, and its gradient nan"}


def _places(t: Any, like: Any) -> Any:
    return t.tensor([0.0, 0.2, 0.5, 1.0], dtype=like.dtype)


def _quantiles(interpolation: str, name: str, t: Any, x: Any, q: Any) -> Any:
    return getattr(t, name)(x, q.abs() / 4 + 0.2, 1, interpolation=interpolation)


def _apart(y: Any) -> Any:
    """Ascending numbers that are not too close."""
    return (y.abs() + 0.5).cumsum(0)


DIFFERENCES = [
    *each("diff", "", lambda f, x: f(x), MANY, kinds="fci"),
    *each("diff", " twice", lambda f, x: f(x, 2, 0), MANY, kinds="fci"),
    *each("diff", " no times", lambda f, x: f(x, n=0), MANY),
    *each("diff", " joined", lambda f, x, y, z: f(x, 1, -1, y, z), _JOINED, kinds="fci"),
    *each("gradient", "", lambda f, x: f(x), _STEEP, kinds="fci"),
    *each("gradient", " spacing", lambda f, x: f(x, spacing=0.3, dim=(1, 0), edge_order=2), _STEEP, kinds="fci"),
    *each("gradient", " spacings", lambda f, x: f(x, spacing=(0.3, 2)), _STEEP, kinds="fci"),
    Entry("gradient places", lambda t, x, y: t.gradient(x, spacing=(_apart(y),), dim=1), _SAMPLES),
    Entry("gradient places edges", lambda t, x, y: t.gradient(x, spacing=(_apart(y),), dim=1, edge_order=2),
          _SAMPLES),
    *each("trapezoid trapz cumulative_trapezoid", "", lambda f, x: f(x, dim=0), MANY, kinds="fci"),
    *each("trapezoid cumulative_trapezoid", " dx", lambda f, x: f(x, dx=0.5), MANY, kinds="fci"),
    *each("trapezoid cumulative_trapezoid", " places", lambda f, x, y: f(x, y, dim=-1), _SAMPLES, kinds="fci"),
    *each("quantile nanquantile", " number", lambda f, x: f(x, 0.3), MANY, distinct=True),
    *(Entry(f"{name} {way}", partial(_quantiles, way, name), (((3, 5), (2,)), ((3, 5), ())), distinct=True)
      for name in ("quantile", "nanquantile") for way in ("linear", "lower", "higher", "midpoint", "nearest")),
    *each("quantile nanquantile", " keepdim", lambda f, x: f(x, 0.4, 0, True, interpolation="linear"), MANY,
          distinct=True),
    *each("nanmean", "", lambda f, x: f(x), MANY, points=(1.0,)),
    *each("nanmean", " dim", lambda f, x: f(x, (0, 1), True), MANY),
    *each("logcumsumexp", "", lambda f, x: f(x, -1), kinds="fc", points=(0.0, float("nan"))),
    *each("logcumsumexp", " dim", lambda f, x: f(x, 0), MANY, kinds="fc"),
    *(Entry(f"dist {p}", lambda t, x, y, p=p: t.dist(x, y, p), _PAIR) for p in _NORMS),
    Entry("dist complex", lambda t, x, y: t.dist(x, y), _PAIR, kinds="fc"),
    *(Entry(f"renorm {p}", lambda t, x, p=p: t.renorm(x, p, 0, 2.0), MANY, low=0.2, apart=_ROUNDED if p > 3 else {})
      for p in _NORMS),
    *(Entry(f"norm_except_dim {p} {dim}", lambda t, x, p=p, dim=dim: t.norm_except_dim(x, p, dim),
            (((3, 4),), ((2, 3, 2),)), low=0.2,
            other_nodes="torch.norm is linalg.vector_norm here, as it is in PyTorch's own torch.norm",
            no_tangent="PyTorch has no forward mode of norm() without dimensions" if dim == -1 else "")
      for p, dim in ((2, 0), (2, -1), (2, 1), (3, 0))),
    *(Entry(f"_weight_norm {dim}", lambda t, v, g, dim=dim: t._weight_norm(v, g, dim), shapes, low=0.2,
            first_only="PyTorch's second derivative takes the norms for constants", no_tangent=NO_SECOND)
      for dim, shapes in ((0, (((3, 4), (3, 1)), ((2, 3, 2), (2, 1, 1)))), (1, (((3, 4), (1, 4)),)))),
    Entry("renorm complex", lambda t, x: t.renorm(x, 2, -1, 1.5), MANY, kinds="fc"),
    Entry("renorm_", lambda t, x: (x * 1).renorm_(2, 1, 1.5), MANY),
    Entry("sum_to_size", lambda t, x: x.sum_to_size(1, 4), (((3, 4),),), kinds="fcib"),
    Entry("sum_to_size fewer", lambda t, x: x.sum_to_size(4), (((3, 4),), ((2, 3, 4),)), kinds="fc"),
    Entry("sum_to_size none", lambda t, x: x.sum_to_size(()), (((3, 4),),)),
    Entry("cumprod with zeros", lambda t, x: t.cumprod(second_zero(second_zero(x).flip(1)), 1), MANY),
    Entry("searchsorted", lambda t, x: t.searchsorted(_places(t, x), x), MANY, kinds="f"),
    Entry("searchsorted rows", lambda t, x, y: t.searchsorted(
        x.sort(-1)[0], y, out_int32=True, right=True, side="right"), (((3, 4), (3, 2)),), kinds="fi"),
    Entry("bucketize", lambda t, x: t.bucketize(x, _places(t, x), right=True, out_int32=True), MANY, kinds="f"),
    Entry("histc", lambda t, x: t.histc(x, 5), MANY, kinds="f"),
    Entry("histc span", lambda t, x: t.histc(x, 5, 0, 1), MANY, kinds="f"),
    Entry("histogram", lambda t, x: tuple(t.histogram(x, 4)), MANY, refused=True),
    Entry("histogram edges", lambda t, x: tuple(t.histogram(x, _places(t, x), density=True)), MANY, refused=True),
    Entry("histogram weight", lambda t, x, y: tuple(t.histogram(x, 3, weight=y, range=(0.0, 1.0))),
          (((3, 4), (3, 4)),), refused=True),
    Entry("histogramdd", lambda t, x: t.histogramdd(x, 3)[0], (((5, 2),),), refused=True),
    Entry("unique", lambda t, x: t.unique(x.round(), return_inverse=True, return_counts=True), MANY, refused=True),
    Entry("unique dim", lambda t, x: t.unique(x.sign(), dim=0, return_inverse=True, return_counts=True), MANY,
          refused=True),
    Entry("unique_consecutive", lambda t, x: t.unique_consecutive(x.sign(), True, True), refused=True),
    Entry("unique_consecutive dim", lambda t, x: t.unique_consecutive(x.sign(), dim=-1), MANY, refused=True),
    Entry("histogramdd weight", lambda t, x, y: t.histogramdd(x, [2, 3], weight=y)[0], (((5, 2), (5,)),),
          refused=True),
]
