"""Options that are numbers, given as NumPy's scalars and as 0-d tensors: the result is as with Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare

draws = np.random.default_rng(11)
X = draws.standard_normal((3, 4)).astype("float32")

_FLOATS = """
F.softplus(x, k, 3.)
F.softplus(x, 1., k)
F.elu(x, k)
F.elu_(x.clone(), k)
F.celu(x, k)
F.leaky_relu(x, k)
F.leaky_relu_(x.clone(), k)
F.hardtanh(x, -k, k)
F.hardshrink(x, k)
F.softshrink(x, k)
F.threshold(x, k, k)
F.dropout(x, k)
F.alpha_dropout(x, k, True)
F.dropout1d(x, k)
F.layer_norm(x, (4,), eps=k)
F.group_norm(x, 2, eps=k)
F.normalize(x, k + 1, 1, k)
F.cosine_similarity(x, x * 2, 1, k)
F.pairwise_distance(x, x * 2, k + 1, k)
F.cross_entropy(x, c, label_smoothing=k)
F.smooth_l1_loss(x, x * 2, beta=k)
F.huber_loss(x, x * 2, delta=k)
F.triplet_margin_loss(x, x * 2, x * 3, margin=k, p=k + 1, eps=k)
F.scaled_dot_product_attention(x, x, x, scale=k)
torch.nn.LeakyReLU(k)(x)
torch.nn.CrossEntropyLoss(label_smoothing=k)(x, c)
torch.addmm(x @ x.T, x, x.T, beta=k, alpha=k)
torch.addmv(x[:, 0], x, x[0], beta=k, alpha=k)
torch.addr(x, x[:, 0], x[0], beta=k, alpha=k)
torch.baddbmm(x @ x.T, x[None], x.T[None], beta=k, alpha=k)
torch.addcmul(x, x, x, value=k)
x.clone().addcmul_(x, x, value=k)
torch.where(x > 0, x, k)
torch.where(x > 0, k, 2)
torch.where(x > 0, 2., k)
torch.remainder(k, x)
x.abs().pow_(k + 1)
torch.quantile(x, k)
torch.std(x, correction=k)
torch.var(x, 1, correction=k)
torch.isclose(x, x, k, k)
torch.linalg.matrix_rank(x, rtol=k)
torch.clamp(x, k)
torch.renorm(x, k + 1, 0, k)
torch.full((2,), k)
"""

_INTS = """
torch.linalg.norm(x, k, k - 2)
torch.norm(x, 'nuc', (k - 2, 1))
torch.nn.LayerNorm(k + 2)(x)
torch.where(c > 1, k, 2.)
torch.where(c > 1, c, k)
F.max_pool2d(x[None], k)
F.max_pool2d(x[None], (k, 1))
F.conv1d(x[None], x[None, :, :2], stride=k)
F.unfold(x[None], k)
"""


def _case(source: str, kind: str, value: float) -> Any:
    def case(torch: Any, x: Any) -> Any:
        torch.manual_seed(3)
        k = torch.tensor(value) if kind == "tensor" else getattr(np, kind)(value)
        return eval(source, {"torch": torch, "F": torch.nn.functional, "x": x, "k": k, "c": torch.tensor([0, 2, 1])})

    return case


def _lines(text: str) -> list[str]:
    return text.split("\n")[1:-1]


@pytest.mark.parametrize("kind", ["float64", "float32", "tensor"])
@pytest.mark.parametrize("source", _lines(_FLOATS))
def test_floats(source: str, kind: str) -> None:
    compare(_case(source, kind, 0.25), X, order=1)


@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("source", _lines(_INTS))
def test_ints(source: str, kind: str) -> None:
    compare(_case(source, kind, 2), X, order=1)


@pytest.mark.parametrize("source", [s for s in _lines(_INTS) if s.startswith(("F.max", "F.conv"))])
def test_sizes_as_tensors(source: str) -> None:
    compare(_case(source, "tensor", 2), X, order=1)


@pytest.mark.parametrize("nothing", [None, "a"])
@pytest.mark.parametrize("source", [
    s for s in _lines(_FLOATS) if s.startswith(("F.softplus", "F.elu", "F.leaky", "x.clone"))])
def test_what_is_no_number(source: str, nothing: Any) -> None:
    def case(torch: Any, x: Any) -> Any:
        return eval(source, {"torch": torch, "F": torch.nn.functional, "x": x, "k": nothing})

    compare(case, X)
