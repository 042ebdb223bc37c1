"""Values and gradients at nan, infinities and zeros are PyTorch's, for functions that combine several numbers."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

X = [[1.0, nan, -2.0, 0.0, inf, -inf, 0.5, -0.0]]
Y = [[0.0, 0.0, 0.0, nan, 1.0, inf, 0.5, 2.0]]
ROWS = (0.5, 1, 1.5, 2, 3, inf, -inf)
CALLS = [
    *[f"x.norm({p})" for p in (*ROWS, -1)], *[f"torch.linalg.vector_norm(x, {p}, dim=1)" for p in ROWS],
    *[f"torch.dist(x, y, {p})" for p in (1, 1.5, 2, 3, inf)],
    *[f"F.pairwise_distance(x, y, {p})" for p in (1, 2, 3, inf)],
    *[f"torch.cdist(x, y, p={p})" for p in (0.0, 1.0, 1.5, 2.0, 3.0, inf)],
    *[f"F.pdist(torch.cat([x, y]), {p})" for p in (0.0, 2.0, 3.0, inf)], "x.renorm(1, 0, 1.0)", "F.normalize(x, 1.0)",
    *[f"F.{name}(x, y)" for name in ("l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "cosine_similarity")],
    "F.smooth_l1_loss(x, y, beta=0.0)", "F.gaussian_nll_loss(x, y, torch.ones_like(y))", "F.poisson_nll_loss(x, y)",
    "F.kl_div(x, y, reduction='sum')", "F.hinge_embedding_loss(x, torch.ones_like(y))",
    "F.margin_ranking_loss(x, y, torch.ones_like(y))", "F.triplet_margin_loss(x, y, x * 2)",
    "F.multi_margin_loss(x, torch.tensor([1]))", "F.multilabel_margin_loss(x, torch.tensor([[1, 0, *[-1] * 6]]))",
    *[f"x.{name}()" for name in ("amax", "max", "amin", "median", "nanmedian", "nansum", "nanmean", "std",
                                 "aminmax")],
    "x.sort()[0]", "x.cummax(1)[0]", "x.topk(2)[0]", "x.quantile(0.5)", "x.nanquantile(0.5)", "x.logsumexp(1)",
    "x.logcumsumexp(1)", "x.softmax(1)[:, 0]", "x.clamp(y, y + 1)", "torch.lerp(x, y, x)", "torch.where(x > 0, x, y)",
    *[f"torch.{name}(x, y)" for name in ("maximum", "fmax", "atan2", "hypot", "pow", "xlogy", "fmod", "remainder",
                                         "copysign", "ldexp", "logaddexp", "logaddexp2")],
]


def seen(t: Any, call: str) -> list[Any]:
    """The results of a call, and the gradients of their sum."""
    x, y = [t.tensor(numbers, dtype=t.float64, requires_grad=True) for numbers in (X, Y)]
    found = eval(call, {"torch": t, "F": t.nn.functional, "inf": inf, "x": x, "y": y})
    results = [*found] if isinstance(found, tuple) else [found]
    grads = t.autograd.grad([each.sum() for each in results], [x, y], allow_unused=True)
    return [None if each is None else each.detach().numpy() for each in (*results, *grads)]


@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call: str) -> None:
    theirs, ours = seen(torch, call), seen(retrograd, call)
    assert [each is None for each in theirs] == [each is None for each in ours]
    for their, our in zip(theirs, ours):
        if their is not None:
            np.testing.assert_allclose(our, their, 1e-6, 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("p", [1, 2, 3, -1, 0.5, inf, -inf])
def test_a_norm_of_one_number_is_its_size(p: float, dtype: str) -> None:
    """So neither the square of a large number overflows nor that of a small one vanishes."""

    def norms(t: Any) -> list[Any]:
        found = []
        for number in (0.0, -0.0, 1e-30, -1e30, 3.0, inf, -inf, nan, *([1e-45] if dtype == "float32" else [])):
            for shape, dim in (((), None), ((1,), None), ((3, 1), 1), ((1, 3), 0), ((2, 1, 1), (1, 2)), ((1, 0), 0)):
                for keepdim in (False, True):
                    x = t.full(shape, number, dtype=t.float64).to(getattr(t, dtype)).requires_grad_()
                    norm = t.linalg.vector_norm(x, p, dim, keepdim)
                    gradient, = t.autograd.grad(norm.sum(), x)
                    wide = t.complex128 if gradient.is_complex() else t.float64
                    found.append((norm.detach().double().numpy(), gradient.to(wide).numpy(), norm.stride()))
        return found

    for (ours, gradient, strides), (theirs, right, steps) in zip(norms(retrograd), norms(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        np.testing.assert_allclose(gradient, right, rtol=2e-3)
        assert strides == steps


def test_the_sign_of_a_complex_infinity_is_nan() -> None:
    numbers = [complex(inf, 0), complex(1, -inf), complex(inf, inf), complex(nan, 1), 0j, complex(-2, 0), 3 + 4j]
    for t in (retrograd, torch):
        x = t.tensor(numbers, requires_grad=True)
        found = x.sgn().detach().numpy(), t.autograd.grad(x.abs().sum(), x)[0].resolve_conj().numpy()
        for each in found:
            np.testing.assert_array_equal(each, np.array([complex(nan, nan)] * 4 + [0, -1, 0.6 + 0.8j], np.complex64))
