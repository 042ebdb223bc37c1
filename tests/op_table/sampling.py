"""Entries for samples that follow a tensor of parameters. They are the same at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import ONE, TWO, Entry, Shapes


def drawn(name: str, draw: Callable[..., Any], shapes: tuple[Shapes, ...] = ONE, **options: Any) -> Entry:
    """An entry whose random numbers are the same at every call."""

    def call(t: Any, *inputs: Any) -> Any:
        t.manual_seed(3)
        return draw(t, *inputs)

    return Entry(name, call, shapes, **options)


SAMPLING = [
    drawn("poisson", lambda t, x: t.poisson(x), low=0.1, high=30.0,
          conventional="a sample takes as many numbers as it needs, and does not move with its rate"),
    drawn("bernoulli like", lambda t, x: x.bernoulli(0.3), refused=True),
    drawn("binomial", lambda t, n, p: t.binomial(n * 10, p), (((3, 4), (3, 4)), ((0, 3), (1, 3))), low=0.1, high=0.9,
          refused=True),
    drawn("_standard_gamma", lambda t, x: t._standard_gamma(x), low=0.1, high=30.0, no_tangent="PyTorch has none",
          once=True, apart={"f": "PyTorch approximates the derivative, to three digits"},
          conventional="a sample moves as its quantile does, and not as a draw with the same numbers does"),
    drawn("_standard_gamma_grad", lambda t, a, x: t._standard_gamma_grad(a, x), TWO, low=0.1, high=30.0, refused=True,
          apart={"f": "PyTorch approximates the derivative, to three digits"}),
    drawn("_dirichlet_grad", lambda t, x, a, b: t._dirichlet_grad(x, a, a + b), (((3, 4), (3, 4), (3, 4)),), low=0.1,
           high=0.9, refused=True, apart={"f": "PyTorch approximates the derivative, to three digits"}),
    drawn("_sample_dirichlet", lambda t, x: t._sample_dirichlet(x), low=0.1, refused=True),
]
