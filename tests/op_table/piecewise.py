"""Entries for gates, shrinkages, thresholds and random slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import INFINITE, MANY, NO_SECOND, ONE, Entry, Shapes, functional, method, named

_ENDS = (0.0, -0.0, 0.5, -0.5, 3.0, -3.0, *INFINITE)
_NO_TANGENT = "PyTorch has no forward mode of the write"
_PAIRS: tuple[Shapes, ...] = (((2, 4),), ((4,),), ((2, 4, 3),), ((4, 0),))


def _sampled(name: str, call: Callable[..., Any], shapes: tuple[Shapes, ...] = ONE, **options: Any) -> Entry:
    """An entry whose random numbers are the same at every call."""

    def seeded(t: Any, *inputs: Any) -> Any:
        t.manual_seed(3)
        return call(t, *inputs)

    return Entry(name, seeded, shapes, **options)


def _over(name: str, *arguments: Any) -> Callable[..., Any]:
    return lambda t, x: getattr(t.nn.functional, name)(x.clone(), *arguments)


def _hard(name: str, **options: Any) -> list[Entry]:
    """Between the bends, beyond them, and written over the input."""
    return [Entry(name, functional(name), low=-2.9, high=2.9, points=_ENDS, **options),
            Entry(f"{name} far", functional(name), low=3.1, high=5.0, **options),
            Entry(f"{name} over", _over(name, True), points=_ENDS, **options)]


PIECEWISE = [
    *(Entry(name, functional(name, 0.5), distinct=True, low=-1.3, points=_ENDS)
      for name in ("hardshrink", "softshrink")),
    Entry("hardshrink 0.1", method("hardshrink", 0.1), distinct=True, low=-1.3),
    Entry("hardshrink none", named("hardshrink"), low=-0.4, high=0.4),
    *_hard("hardswish"),
    *_hard("hardsigmoid", first_only=NO_SECOND),
    Entry("threshold", functional("threshold", 0.05, 20), distinct=True, low=-1.3, points=(0.05, *INFINITE)),
    Entry("threshold over", _over("threshold_", 0.05, -1.5), distinct=True, low=-1.3, points=(0.05, *INFINITE)),
    Entry("glu", functional("glu"), (((2, 4),), ((4,),), ((0, 2),)), points=(0.0, *INFINITE)),
    Entry("glu 0", functional("glu", 0), _PAIRS),
    Entry("glu -2", functional("glu", -2), (((2, 4),), ((4, 0, 3),))),
    Entry("prelu", named("prelu"), (((3, 4), (1,)), ((3, 4), ()), ((), ()), ((5,), (1,))), distinct=True, low=-1.3,
          points=(0.0, -0.0, 1.0, -1.0)),
    Entry("prelu channels", method("prelu"), (((2, 3), (3,)), ((2, 3, 2, 2), (3,)), ((0, 3), (3,))), distinct=True,
          low=-1.3),
    Entry("rrelu", functional("rrelu"), distinct=True, low=-1.3, points=(0.0, *INFINITE)),
    Entry("rrelu over", _over("rrelu_", 0.1, 0.3), distinct=True, low=-1.3, points=(0.0,), no_tangent=_NO_TANGENT),
    _sampled("rrelu training", lambda t, x: t.rrelu(x, 0.1, 0.3, True), high=-0.1, points=(0.0, *INFINITE)),
    _sampled("rrelu sure", lambda t, x: t.rrelu(x, 0.2, 0.2, True), distinct=True, low=-1.3),
    _sampled("rrelu training over", lambda t, x: t.rrelu_(x.clone(), 0.1, 0.3, True), high=-0.1,
             no_tangent=_NO_TANGENT),
    _sampled("gumbel_softmax", functional("gumbel_softmax"), MANY),
    _sampled("gumbel_softmax 0", functional("gumbel_softmax", tau=0.5, dim=0), MANY),
    _sampled("gumbel_softmax hard", functional("gumbel_softmax", hard=True), MANY,
             conventional="a one-hot sample has the gradient of the soft one"),
]
