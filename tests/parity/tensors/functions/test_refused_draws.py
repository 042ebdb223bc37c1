"""A call that is refused takes as many random numbers as in PyTorch: mostly none, so the program keeps to its seed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

CALLS = """
torch.multinomial(w, 2, out=torch.empty(2)) | torch.multinomial(-w, 2, out=torch.empty(2)) | torch.multinomial(-w, 2) |
torch.multinomial(w, 2, out=torch.empty(2, dtype=torch.int32)) | torch.multinomial(w, 4) |
torch.rand(3, out=torch.empty(3, dtype=torch.int64)) | torch.randn(3, out=torch.empty(3, dtype=torch.int64)) |
torch.randint(5, (3,), out=torch.empty(3)) | torch.randint(5, 2, (3,)) | torch.randperm(-5) |
torch.randperm(5, out=torch.empty(5, dtype=torch.complex64)) | torch.bernoulli(-w) |
torch.normal(w, 1., out=torch.empty(3, dtype=torch.int64)) | torch.normal(w, -w) |
torch.normal(w, w, out=torch.empty(3, dtype=torch.float64)) | torch.poisson(-w) | torch.binomial(-w, w) |
torch.bernoulli(w / 3, out=torch.empty(3, dtype=torch.int64)) | w.uniform_(3, 1) | w.random_(5, 2) |
w.geometric_(2) | w.exponential_(-2) | w.cauchy_(0, -2) | w.log_normal_(0, -1) | w.bernoulli_(2) |
torch.ones(2, requires_grad=True).uniform_() | torch.ones(2, requires_grad=True).bernoulli_() |
torch.nn.functional.dropout(w, 1.2) | torch.nn.functional.gumbel_softmax(w, dim=7) |
torch.nn.functional.rrelu(w, 3., 1., True) | torch.nn.functional.feature_alpha_dropout(w, 2.) |
torch.rand(3, dtype=torch.int64) | torch.randn(-3) | torch.rand_like(w.long()) | torch.nn.Linear(3, -2) |
torch.nn.init.orthogonal_(torch.empty(3)) | torch.nn.init.sparse_(torch.empty(3), 0.1) |
torch.utils.data.random_split([1, 2, 3], [1, 1])
"""


def after(package: Any, call: str) -> tuple[str, float]:
    """The error of a call, and the next number that the program draws."""
    package.manual_seed(0)
    try:
        eval(call, {"torch": package, "w": package.tensor([1., 2., 3.])})
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}", package.rand(1).item()
    return "", package.rand(1).item()


@pytest.mark.parametrize("call", [call for part in CALLS.split("|") if (call := " ".join(part.split()))])
def test_the_stream_stands_where_pytorchs_stands(call: str) -> None:
    assert after(retrograd, call) == after(torch, call)
