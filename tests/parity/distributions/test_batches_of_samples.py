"""Distributions that check their parameters and values inside of `vmap`, where the check is about all samples."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

BEGIN = """
        D, vmap = torch.distributions, torch.func.vmap
        x = torch.tensor([0.5, 1.5])
"""
PROGRAMS = {
    "values": """
        for d in (D.Normal(0., 1.), D.HalfNormal(1.), D.Gamma(2., 1.), D.Poisson(1.), D.LogNormal(0., 2.)):
            print(vmap(d.log_prob)(torch.tensor([1., 2.])))
        print(vmap(vmap(D.HalfNormal(1.).log_prob))(torch.ones(2, 2)))
        print(vmap(torch.func.grad(D.HalfNormal(1.).log_prob))(x))
    """,
    "parameters": """
        print(vmap(lambda s: D.Normal(0., s).log_prob(torch.tensor(0.5)))(x))
        print(vmap(lambda s: D.Laplace(s, 1.).entropy())(x))
        print(vmap(lambda p: D.Bernoulli(p).log_prob(torch.tensor(1.)))(torch.tensor([0.25, 0.5])))
        print(vmap(lambda p: D.Categorical(p).log_prob(torch.tensor(1)))(torch.ones(2, 3)))
        print(vmap(lambda m: D.kl_divergence(D.Normal(m, 1.), D.Normal(0., 1.)))(x))
        print(vmap(lambda m: D.Independent(D.Normal(m, 1.), 1).log_prob(torch.ones(2)))(torch.ones(3, 2)))
        print(vmap(lambda m: D.TransformedDistribution(D.Normal(m, 1.), D.ExpTransform()).log_prob(x))(x))
    """,
    "a wrong sample": """
        attempt(lambda: vmap(lambda s: D.Normal(torch.zeros(2), s))(torch.tensor([[1., 2.], [-1., 2.]])))
        attempt(lambda: vmap(D.HalfNormal(torch.ones(2)).log_prob)(torch.tensor([[1., 2.], [-1., 2.]])))
        attempt(lambda: vmap(D.HalfNormal(1.).log_prob)(-x))
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_says_the_same(program: str) -> None:
    assert transcript(retrograd, BEGIN + program) == transcript(torch, BEGIN + program)
