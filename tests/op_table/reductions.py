"""Entries for what drops dimensions or looks along one: sums, extremes, norms, scans, sorting."""

from __future__ import annotations

from typing import Any

from op_table.entry import INFINITE, MANY, Entry, each, unary


def second_zero(x: Any) -> Any:
    """x with its second column taken away, and zeros in its place."""
    return x * x.new_tensor([1.0, 0.0, 1.0, 1.0])


_UNDEFINED = {"i": "which one of equal elements it takes is not defined"}
_FULL = (((3, 4),), ((),))

REDUCTIONS = [
    *unary("sum prod", kinds="fcib", points=(0.0, float("nan"))),
    *unary("mean", kinds="fc", shapes=_FULL),
    *unary("max min amax amin", shapes=_FULL, distinct=True, kinds="fi", points=(1.0, float("nan"))),
    *unary("var std norm", shapes=MANY, points=(0.0, 1.0)),
    Entry("logsumexp", lambda t, x: t.logsumexp(x, 0), MANY, points=INFINITE),
    *unary("any all count_nonzero", kinds="fib", points=(0.0,)),
    *unary("argmax argmin", shapes=_FULL, distinct=True, kinds="fi"),
    *unary("hash_tensor", kinds="fhib", shapes=_FULL, points=(0.0, -0.0, *INFINITE)),
    *each("hash_tensor", " dim", lambda f, x: f(x, -1, keepdim=True), MANY, kinds="fib"),
    *each("any all", " dim", lambda f, x: f(x, -1, True), MANY, kinds="ib"),
    *each("count_nonzero", " dim", lambda f, x: f(x, -1), MANY, kinds="ib"),
    *each("argmax argmin", " dim", lambda f, x: f(x, -1, True), MANY, distinct=True, kinds="i"),
    *each("sum mean prod amax amin", " dim", lambda f, x: f(x, -1), MANY, distinct=True, points=(0.0, float("nan"))),
    *each("var std", " dim", lambda f, x: f(x, -1, True), MANY, distinct=True, points=(0.0, float("nan"))),
    *each("cumsum cumprod", " dim", lambda f, x: f(x, -1), MANY, distinct=True, points=(0.0, float("nan"))),
    *each("sum mean amax", " keepdim", lambda f, x: f(x, dim=(0, 1), keepdim=True), MANY),
    *each("var std", " keepdim", lambda f, x: f(x, dim=(0, 1), correction=1, keepdim=True), MANY),
    *each("logsumexp nansum", " keepdim", lambda f, x: f(x, dim=(0, 1), keepdim=True), MANY),
    *each("max min median nanmedian", " dim", lambda f, x: tuple(f(x, 1, True)), MANY, distinct=True,
          points=(1.0, float("nan"))),
    *each("cummax cummin", " dim", lambda f, x: tuple(f(x, 1)), MANY, distinct=True, points=(1.0, float("nan"))),
    *each("mode", " dim", lambda f, x: tuple(f(x, 1, True)), MANY, distinct=True, points=(1.0, float("nan"))),
    *each("softmax log_softmax", "", lambda f, x: f(x, 1), MANY, points=(0.0, float("inf"))),
    *unary("median nanmedian", shapes=MANY, distinct=True, points=(1.0, float("nan"))),
    Entry("mode ties", lambda t, x: tuple(t.mode(t.cat([x, x], 1), 1)), (((3, 3),),), distinct=True,
          conventional="it takes the last of equal elements, which a difference makes unequal"),
    Entry("aminmax", lambda t, x: tuple(t.aminmax(x, dim=1, keepdim=True)), MANY, distinct=True,
          points=(1.0, float("nan"))),
    Entry("aminmax all", lambda t, x: tuple(t.aminmax(x)), MANY, distinct=True, points=(1.0,)),
    Entry("nansum", lambda t, x: t.nansum(x), points=(float("nan"),)),
    *each("prod", " with a 0", lambda f, x: f(second_zero(x), -1, True), MANY),
    *each("cumprod", " with a 0", lambda f, x: f(second_zero(x), -1), MANY),
    Entry("prod all with a 0", lambda t, x: t.prod(second_zero(x)), MANY),
    Entry("var correction", lambda t, x: t.var(x, 1, correction=0), MANY, kinds="fc"),
    Entry("std_mean", lambda t, x: tuple(t.std_mean(x, 1)), MANY),
    Entry("var_mean", lambda t, x: tuple(t.var_mean(x, 1)), MANY),
    Entry("sum dtype", lambda t, x: t.sum(x, dtype=t.float64), kinds="fib"),
    *(Entry(f"norm {p}", lambda t, x, p=p: t.norm(x, p, dim=1), MANY, low=0.2, points=(0.0,))
      for p in (0, 0.5, 1, 1.5, 2, 3, float("inf"), float("-inf"))),
    Entry("sort", lambda t, x: tuple(t.sort(x, 1, descending=True)), MANY, distinct=True, kinds="fi"),
    Entry("sort stable", lambda t, x: tuple(t.sort(x, dim=1, stable=True)), MANY, distinct=True, kinds="fi"),
    Entry("argsort", lambda t, x: t.argsort(x, 0, True), MANY, distinct=True),
    Entry("topk", lambda t, x: tuple(t.topk(x, 2, -1, True, True)), MANY, distinct=True,
          apart=_UNDEFINED),
    Entry("kthvalue", lambda t, x: tuple(t.kthvalue(x, 2, -1, True)), MANY, distinct=True, apart=_UNDEFINED),
    Entry("trace", lambda t, x: t.trace(x), (((3, 4),),), kinds="fci"),
]
