"""Entries for writes over a tensor, and for random numbers, which are mostly written over one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table_entry import ONE, TWO, Entry, Shapes


def _over(name: str, *arguments: Any, **options: Any) -> Entry:
    """`x.clone().name_(…)`, with the other inputs and then `arguments` for its arguments."""
    said = ", ".join(map(str, arguments))
    return Entry(f"{name}_({said})" if said else f"{name}_", lambda t, x, *inputs: getattr(x.clone(), f"{name}_")(*inputs, *arguments),
                 **options)


INPLACE = [
    *(_over(name, kinds="fci") for name in ["neg", "exp", "sin", "cos", "sinh", "cosh", "tanh", "square", "sigmoid", "tan", "atan"]),
    *(_over(name) for name in ["asinh", "expm1", "exp2", "erf", "erfc", "deg2rad", "rad2deg", "zero"]),
    *(_over(name, low=0.3, kinds="fc") for name in ["sqrt", "log", "log2", "log10", "rsqrt", "reciprocal", "log1p"]),
    *(_over(name, low=0.2, high=0.8) for name in ["asin", "acos", "atanh", "erfinv", "logit", "sinc", "frac", "relu", "nan_to_num"]),
    *(_over(name, low=0.1, high=0.4) for name in ["abs", "sgn", "sign", "ceil", "floor", "trunc", "round"]),
    *(_over(name, shapes=TWO[:1], kinds="fci") for name in ["add", "sub", "mul", "copy"]),
    *(_over(name, shapes=TWO[:1], low=0.3) for name in ["div", "atan2", "hypot", "xlogy", "pow"]),
    *(_over(name, shapes=TWO[:1], low=0.3, high=0.9) for name in ["remainder", "fmod"]),
    *(_over(name, shapes=TWO[:1], distinct=True) for name in ["clamp_min", "clamp_max"]),
    *(_over(name, shapes=TWO[:1], distinct=True, kinds="fi")
      for name in ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]),
    *(_over(name, 0.05, distinct=True) for name in ["eq", "ne", "lt", "le", "gt", "ge", "clamp_min", "clamp_max"]),
    *(_over(name, 3, low=0.3) for name in ["add", "sub", "mul", "div", "pow", "remainder", "fmod"]),
    _over("acosh", low=1.2),
    _over("floor_divide", 2, low=0.3, refused=True),
    _over("floor_divide", shapes=TWO[:1], low=0.3, refused=True),
    _over("fill", 2.0, kinds="fci"),
    _over("fill", shapes=(((3, 4), ()), ((), ()))),
    _over("clamp", -1, 1, low=-0.9, high=0.9),
    _over("lerp", 0.3, shapes=TWO[:1]),
    _over("lerp", shapes=(((3, 4), (3, 4), (3, 4)),)),
    _over("addcmul", shapes=(((3, 4), (3, 4), (3, 4)),)),
    _over("addcdiv", shapes=(((3, 4), (3, 4), (3, 4)),), low=0.4),
]


def _drawn(name: str, draw: Callable[..., Any], shapes: tuple[Shapes, ...] = ONE, **options: Any) -> Entry:
    """An entry whose random numbers are the same at every call."""

    def call(t: Any, *inputs: Any) -> Any:
        t.manual_seed(3)
        return draw(t, *inputs)

    return Entry(name, call, shapes, **options)


_AROUND = "a sample moves with the mean and the deviation it is drawn with, which PyTorch does not follow"

RANDOM = [
    _drawn("uniform_", lambda t, x: x.clone().uniform_(-1, 1)),
    _drawn("normal_", lambda t, x: x.clone().normal_(1, 2)),
    _drawn("exponential_", lambda t, x: x.clone().exponential_(2)),
    _drawn("geometric_", lambda t, x: x.clone().geometric_(0.3)),
    _drawn("log_normal_", lambda t, x: x.clone().log_normal_()),
    _drawn("cauchy_", lambda t, x: x.clone().cauchy_()),
    _drawn("random_", lambda t, x: x.clone().random_(), kinds="fi"),
    _drawn("random_(9)", lambda t, x: x.clone().random_(9), kinds="fi"),
    _drawn("random_(2, 9)", lambda t, x: x.clone().random_(2, 9), kinds="fi"),
    _drawn("bernoulli", lambda t, x: t.bernoulli(x), low=0.1, high=0.9),
    _drawn("bernoulli_", lambda t, x: x.clone().bernoulli_(0.3), kinds="fi"),
    _drawn("bernoulli_ tensor", lambda t, x, p: x.clone().bernoulli_(p), TWO[:1], low=0.1, high=0.9),
    _drawn("normal mean", lambda t, m: t.normal(m, 2.0), conventional=_AROUND),
    _drawn("normal std", lambda t, s: t.normal(2.0, s), low=0.1, conventional=_AROUND),
    _drawn("normal both", lambda t, m, s: t.normal(m, s), TWO[:1], low=0.1, conventional=_AROUND),
    _drawn("dropout", lambda t, x: t.nn.functional.dropout(x, 0.4)),
]
