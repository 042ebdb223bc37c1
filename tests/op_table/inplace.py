"""Entries for writes over a tensor, and for random numbers, which are mostly written over one."""

from __future__ import annotations

from typing import Any

from op_table.entry import Entry, Shapes
from op_table.sampling import drawn


def _over(names: str, *arguments: Any, **options: Any) -> list[Entry]:
    """`x.clone().name_(…)` for each name, with the other inputs and then `arguments` for its arguments."""
    said = f"({', '.join(map(str, arguments))})" if arguments else ""

    def entry(method: str) -> Entry:
        return Entry(method + said, lambda t, x, *inputs: getattr(x.clone(), method)(*inputs, *arguments), **options)

    return [entry(f"{name}_") for name in names.split()]


_PAIR: tuple[Shapes, ...] = (((3, 4), (3, 4)),)
_MISSING = dict.fromkeys("fhc", "PyTorch has not implemented the derivative for the write")
_NO_TANGENT = "PyTorch has no forward mode of the write"
_IN_C = "PyTorch's message has the name that C++ has for the type"
_THREE: tuple[Shapes, ...] = (((3, 4), (3, 4), (3, 4)),)

INPLACE = [
    *_over("neg exp sin cos sinh cosh tanh square sigmoid tan atan", kinds="fci"),
    *_over("expm1 exp2 erf erfc deg2rad rad2deg zero"),
    *_over("sqrt log log2 log10 rsqrt reciprocal log1p", low=0.3, kinds="fc"),
    *_over("asin acos erfinv logit sinc frac relu nan_to_num", low=0.2, high=0.8),
    *_over("abs sgn sign ceil floor trunc round", low=0.1, high=0.4),
    *_over("asinh", kinds="fc", apart=_MISSING, no_tangent=_NO_TANGENT),
    *_over("acosh", low=1.2, kinds="fc", apart=_MISSING, no_tangent=_NO_TANGENT),
    *_over("atanh", low=-0.8, high=0.8, kinds="fc", apart=_MISSING, no_tangent=_NO_TANGENT),
    *_over("add sub mul div pow remainder fmod", 3, low=0.3, high=0.9),
    *_over("eq ne lt le gt ge", 0.05, distinct=True),
    *_over("clamp_min clamp_max", 0.05, distinct=True, apart=dict.fromkeys("ib", _IN_C)),
    *_over("clamp", -1, 1, low=-0.9, high=0.9, apart={"b": _IN_C}),
    *_over("fill", 2.0, kinds="fci"),
    *_over("fill", shapes=(((3, 4), ()), ((), ()))),
    *_over("lerp", 0.3, shapes=_PAIR),
    *_over("add sub mul copy", shapes=_PAIR, kinds="fci"),
    *_over("div atan2 hypot xlogy pow remainder fmod", shapes=_PAIR, low=0.3, high=0.9),
    *_over("clamp_min clamp_max eq ne lt le gt ge", shapes=_PAIR, distinct=True, kinds="fi"),
    *_over("logical_and logical_or logical_xor", shapes=_PAIR, distinct=True, kinds="fib",
           conventional="PyTorch does not record the write, so that the gradient of what was there remains",
          wrong_tangent="PyTorch does not see the write, so that the tangent of what was there remains"),
    *_over("lerp addcmul addcdiv", shapes=_THREE, low=0.4),
    *_over("copysign", -2.0, low=0.2),
    *_over("copysign", shapes=_PAIR, low=0.2),
    *_over("tril triu", shapes=(((3, 4),), ((2, 3, 3),)), kinds="fci"),
    *_over("conj_physical", kinds="fc"),
    *_over("lgamma digamma i0", low=0.3, high=4.0, apart={"h": "PyTorch has no derivative of i0 of half precision"}),
    *_over("polygamma mvlgamma", 2, low=1.2, high=4.0),
    *_over("xlogy", 2, low=0.3),
    *_over("nextafter ldexp", shapes=_PAIR, distinct=True),
    *_over("heaviside", shapes=_PAIR, low=0.2, refused=True),
    *_over("floor_divide", 2, low=0.3, refused=True),
    *_over("floor_divide", shapes=_PAIR, low=0.3, refused=True),
]


_AROUND = "a sample moves with the mean and the deviation it is drawn with, which PyTorch does not follow"

RANDOM = [
    drawn("uniform_", lambda t, x: x.clone().uniform_(-1, 1)),
    drawn("normal_", lambda t, x: x.clone().normal_(1, 2)),
    drawn("exponential_", lambda t, x: x.clone().exponential_(2)),
    drawn("geometric_", lambda t, x: x.clone().geometric_(0.3)),
    drawn("log_normal_", lambda t, x: x.clone().log_normal_(0.5, 2.0)),
    drawn("cauchy_", lambda t, x: x.clone().cauchy_(0.5, 2.0)),
    drawn("random_", lambda t, x: x.clone().random_(), kinds="fi"),
    drawn("random_(9)", lambda t, x: x.clone().random_(9), kinds="fi"),
    drawn("random_(2, 9)", lambda t, x: x.clone().random_(2, 9), kinds="fi"),
    drawn("bernoulli", lambda t, x: t.bernoulli(x), low=0.1, high=0.9),
    drawn("bernoulli_", lambda t, x: x.clone().bernoulli_(0.3), kinds="fi"),
    drawn("bernoulli_ tensor", lambda t, x, p: x.clone().bernoulli_(p), _PAIR, low=0.1, high=0.9),
    drawn("normal mean", lambda t, m: t.normal(m, 2.0), conventional=_AROUND),
    drawn("normal std", lambda t, s: t.normal(2.0, s), low=0.1, conventional=_AROUND),
    drawn("normal both", lambda t, m, s: t.normal(m, s), _PAIR, low=0.1, conventional=_AROUND),
    # The mask is drawn in the order of the memory, as in PyTorch, so that another layout drops other elements.
    drawn("dropout", lambda t, x: t.nn.functional.dropout(x.contiguous(), 0.4)),
]
