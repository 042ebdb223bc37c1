"""Gates, dropout, margins, likelihoods and sequences against PyTorch: modules, options, errors, warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_expression import Outcome, said
from comparing.same_text import same

LAYERS = """
GLU(); GLU(0); Hardshrink(); Hardshrink(0.1); Softshrink(0.3); Hardsigmoid(); Hardsigmoid(True); Hardswish(True)
Threshold(0.1, 20); Threshold(0.1, 20.0, True); PReLU(); PReLU(3, 0.1); RReLU(); RReLU(0.1, 0.2, True); Softmax2d()
Dropout1d(); Dropout2d(0.2); Dropout3d(0.2, True); AlphaDropout(0.1); FeatureAlphaDropout(); Dropout2d(1.5)
CTCLoss(); CTCLoss(2, 'sum', True); CosineEmbeddingLoss(0.2); GaussianNLLLoss(full=True); HingeEmbeddingLoss()
MarginRankingLoss(0.1, reduction='sum'); MultiLabelMarginLoss(); MultiLabelSoftMarginLoss(); MultiMarginLoss(2, 0.5)
PoissonNLLLoss(False, True, eps=1e-3); SoftMarginLoss(size_average=False); TripletMarginLoss(2.0, 1, swap=True)
TripletMarginWithDistanceLoss(); TripletMarginWithDistanceLoss(margin=0); TripletMarginLoss(-1.0); MultiMarginLoss(3)
NLLLoss2d(); CosineSimilarity(0); PairwiseDistance(1, keepdim=True)
MultiMarginLoss(weight=torch.ones(2, 2))"""


def _each(text: str, separator: str = "\n") -> list[str]:
    return [part.strip() for line in text.strip().split("\n") for part in line.split(separator)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("made", _each(LAYERS, ";"))
def test_layers_print_and_begin_alike(made: str) -> None:
    def case(t: Any) -> Any:
        layer = eval(f"nn.{made}", {"nn": t.nn, "torch": t})
        options = {k: v for k, v in vars(layer).items() if k[0] != "_" and k != "training"}
        return layer, options, layer.state_dict()

    same(case)


_SETUP = """
nn, F = torch.nn, torch.nn.functional
t, o = torch.tensor, torch.ones
x = torch.linspace(-2, 2, 12, dtype=torch.float64).reshape(3, 4).requires_grad_()
y = torch.linspace(1, -1, 12, dtype=torch.float64).reshape(3, 4)
s = torch.where(y > 0, 1.0, -1.0)
image = torch.linspace(-1, 1, 32).reshape(1, 2, 4, 4)
c, lists = t([0, 3, 2]), t([[1, -1, 0, 0], [0, 3, -1, 0], [2, 2, 1, 0]])
scores = torch.linspace(-2, 1, 40).sin().reshape(5, 2, 4).log_softmax(2)
T, I, L = t([[1, 2], [2, 3]]), t([5, 5]), t([2, 2])
"""
_RUN = """
nn.GLU()(x)
nn.Hardshrink()(x)
nn.Softshrink()(x)
nn.Hardsigmoid()(x)
nn.Hardswish()(x)
nn.Threshold(0.1, 3)(x)
nn.PReLU().double()(x)
nn.PReLU(4).double()(x)
nn.RReLU()(x)
nn.RReLU().eval()(x)
nn.Softmax2d()(image)
nn.Softmax2d()(x)
nn.Dropout1d()(x)
nn.Dropout2d()(image)
nn.Dropout3d()(image)
nn.AlphaDropout()(x)
nn.FeatureAlphaDropout()(image)
nn.FeatureAlphaDropout().eval()(image) is image
nn.CTCLoss()(scores, T, I, L)
nn.CosineEmbeddingLoss()(x, y, t([1, -1, 1]))
nn.GaussianNLLLoss()(x, y, y.abs())
nn.HingeEmbeddingLoss()(x, s)
nn.MarginRankingLoss()(x, y, s)
nn.MultiLabelMarginLoss()(x, lists)
nn.MultiLabelSoftMarginLoss(o(4))(x, y)
nn.MultiMarginLoss(weight=o(4, dtype=torch.float64))(x, c)
nn.PoissonNLLLoss()(x, y)
nn.SoftMarginLoss()(x, s)
nn.TripletMarginLoss()(x, y, y + 1)
nn.TripletMarginWithDistanceLoss()(x, y, y + 1)
nn.NLLLoss2d()(x, c)
nn.CosineSimilarity()(x, y)
nn.PairwiseDistance()(x, y)
"""
_ERRORS = """
F.glu(o(3))
F.glu(o(()))
F.glu(x, 5)
F.glu(3)
torch.hardshrink(3.)
torch.hardshrink(o(2), 'a')
F.softshrink(x, -1)
F.softshrink(x.half(), 1e6)
torch.threshold(t([3, 1]), 2, 7)
torch.threshold(t([3, 1]), 2.7, 7.9)
torch.threshold(t([3, 1]).byte(), 2, 300)
torch.threshold(o(2), 1e300, 0)
torch.prelu(x, o(3).double())
torch.prelu(x, o(2, 2).double())
torch.prelu(x, o(4))
torch.prelu(t(1.), o(2))
torch.prelu(o(3), o(2))
torch.prelu(x, 0.2)
torch.rrelu(x, 0.5, 0.3)
torch.rrelu(x.detach().half(), training=True)
torch.rrelu(t([1]))
torch.rrelu(x, 0.1, 0.3, True, torch.Generator().manual_seed(3))
torch.rrelu(-torch.arange(300.), 0.1, 1 / 3, True)
torch.rrelu(-torch.arange(300.).double(), 0.1, 1 / 3, True)
torch.rrelu(t([math.inf, -1.]), 0., 0.)
F.leaky_relu(t([math.inf, -1., -math.inf]), 0.)
F.gumbel_softmax(x, tau=0.3, hard=True, dim=0)
torch.dropout(x, 2, True)
torch.dropout(c, 0.5, True)
torch.alpha_dropout(c > 0, 0.5, True)
torch.feature_dropout(o(3), 0.5, True)
torch.native_dropout(c, 0.5, True)
torch.native_dropout(o(0, 3), 0.5, True)
F.dropout1d(o(2, 2, 2, 2))
F.dropout2d(o(2))
F.dropout3d(o(2, 2), 3)
F.alpha_dropout(x, -0.5)
F.soft_margin_loss(o(3), o(2, 3))
F.soft_margin_loss(x, o(4))
F.soft_margin_loss(x, y.requires_grad_())
F.soft_margin_loss(c, c)
F.soft_margin_loss(x, c > 0)
F.soft_margin_loss(x, 3)
F.soft_margin_loss(x, y, reduction='a')
F.hinge_embedding_loss(x, s, margin=0.3, size_average=False)
F.hinge_embedding_loss(c, c, reduction='sum')
F.cosine_embedding_loss(x, y, s)
F.cosine_embedding_loss(x, y, t(1))
F.cosine_embedding_loss(x[0], y[0], t(-1))
F.margin_ranking_loss(x, y, s[0])
F.margin_ranking_loss(3, y, s)
F.triplet_margin_loss(x, y, y, margin=0)
F.triplet_margin_loss(x, y[0], y)
F.triplet_margin_with_distance_loss(x, y, y, margin=-1)
F.triplet_margin_with_distance_loss(x, y, y[0])
F.triplet_margin_with_distance_loss(x, y, y, reduction='a')
F.multi_margin_loss(x, c[:2])
F.multi_margin_loss(x, c + 1)
F.multi_margin_loss(x, -c)
F.multi_margin_loss(x, c.int())
F.multi_margin_loss(x, c, p=3)
F.multi_margin_loss(x, c, weight=o(4))
F.multi_margin_loss(x, c, weight=o(3).double())
F.multi_margin_loss(x, c, weight=o(1, 4))
F.multi_margin_loss(x, c, weight=o(4).double().requires_grad_())
F.multi_margin_loss(o(2, 0), t([0, 0]))
F.multi_margin_loss(o(0, 3), t([]).long(), reduction='none')
F.multi_margin_loss(o(1, 2, 3), t([0]))
F.multi_margin_loss(t(1.), t(0), reduction='none')
F.multi_margin_loss(t([1., 2.]), t([1]), reduction='none')
F.multi_margin_loss(x.detach().half(), c)
F.multi_margin_loss(x, 3)
F.multilabel_margin_loss(x, lists + 3)
F.multilabel_margin_loss(x, lists - 2)
F.multilabel_margin_loss(x, lists.int())
F.multilabel_margin_loss(x, lists[:, :2])
F.multilabel_margin_loss(x[0], lists[1], reduction='none')
F.multilabel_margin_loss(t(1.), t(0))
F.multilabel_margin_loss(o(0), t([]).long())
F.multilabel_soft_margin_loss(x, y, reduction='a')
F.multilabel_soft_margin_loss(x, y, reduce=False)
F.poisson_nll_loss(x, y, reduction='a')
F.poisson_nll_loss(x, 3)
F.poisson_nll_loss(x, y.abs() * 9, full=True)
F.gaussian_nll_loss(x, y, -0.1)
F.gaussian_nll_loss(x, y, y)
F.gaussian_nll_loss(x, y, y[:2].abs())
F.gaussian_nll_loss(x, y, y[:, 0].abs())
F.gaussian_nll_loss(x, y, 0.3, reduction='a')
F.cosine_similarity(x, o(5))
F.cosine_similarity(c, c)
F.cosine_similarity(x, c[:, None])
F.cosine_similarity(x, 3)
F.cosine_similarity(x, y, dim=5)
F.cosine_similarity(x.detach().float(), y)
F.pairwise_distance(x, 3)
F.pairwise_distance(c, c)
F.pairwise_distance(c > 0, c > 0)
F.pairwise_distance(x, o(5))
torch.hinge_embedding_loss(x, s)
torch.hinge_embedding_loss(x, s, reduction=1)
torch.hinge_embedding_loss(x, s, 0.5, 2)
torch.margin_ranking_loss(x, y, s, 0.1, 1)
torch.cosine_embedding_loss(x, y, t([1, -1, 1]), 0.2)
torch.triplet_margin_loss(x, y, y + 1, 1., 2., 1e-6, True, 1)
torch.poisson_nll_loss(x, y, True, False, 1e-8, 0)
torch.kl_div(x, y.abs())
torch.kl_div(x, y, 1, log_target=True)
torch.kl_div(c, y)
torch.kl_div(x, 3)
torch.binary_cross_entropy_with_logits(x, y.sigmoid())
torch.binary_cross_entropy_with_logits(x, y.sigmoid(), None, o(4).double(), 1)
torch.binary_cross_entropy_with_logits(x, o(4).double())
torch.ctc_loss(scores, T, I, L)
torch.ctc_loss(scores, T, (5, 5), (2, 2), 0, 2)
F.ctc_loss(scores, T, [5, 5], L)
F.ctc_loss(scores, t([1, 2, 3]), I, t([2, 1]))
F.ctc_loss(scores, t([1, 2, 3]), I, L)
F.ctc_loss(scores, T, I, t([3, 2]))
F.ctc_loss(scores, t([[1, 2, 9], [2, 3, -1]]), I, L, reduction='none')
F.ctc_loss(scores, T, t([6, 5]), L)
F.ctc_loss(scores, T, t([-1, 5]), L)
F.ctc_loss(scores, T, I, -L)
F.ctc_loss(scores, T, I, L, blank=4)
F.ctc_loss(scores, T, t([5]), L)
F.ctc_loss(scores, T, I, t([2]))
F.ctc_loss(scores, T, I.float(), L)
F.ctc_loss(scores, T.float(), I.int(), L.int())
F.ctc_loss(scores.half(), T, I, L)
F.ctc_loss(scores[0, 0], T, I, L)
F.ctc_loss(scores[None], T, I, L)
F.ctc_loss(scores, T[None], I, L)
F.ctc_loss(scores, o(3, 2).long(), I, L)
F.ctc_loss(scores[:0], T, t([0, 0]), L)
F.ctc_loss(scores, T, t([0, 5]), t([0, 2]), reduction='none')
F.ctc_loss(scores, t([[1, 1], [2, 3]]), t([2, 5]), L, reduction='none', zero_infinity=True)
F.ctc_loss(scores[:, 0].requires_grad_(), T[0], t(5), t(2), reduction='none')
F.ctc_loss(scores, T, I, L, reduction='a')
F.ctc_loss(3, T, I, L)
torch.poisson(t([0.5, 3, 20, 0]))
torch.poisson(t([-1.]))
torch.poisson(c)
torch.poisson(3)
torch.poisson(t([3., 30.]).half(), torch.Generator().manual_seed(3))
torch.binomial(t([5., 50.]), t([0.3, 0.9]))
torch.binomial(c, c)
torch.binomial(o(2), c)
torch.binomial(o(2), o(2).double())
torch.binomial(o(2).half(), o(2).half())
torch.binomial(o(2), o(3))
torch.binomial(t([[5.], [100.]]), t([0., 0.3, 1.]), generator=torch.Generator().manual_seed(3))
torch._standard_gamma(t([0.3, 3., 0., -1.]))
torch._standard_gamma(c)
torch._sample_dirichlet(t([0.3, 3.]))
torch._sample_dirichlet(t(3.))
torch._sample_dirichlet(c)
"""


@pytest.mark.parametrize("expression", [*_each(_RUN), *_each(_ERRORS)])
def test_outcomes(expression: str) -> None:
    theirs, ours = (Outcome(library, _SETUP, expression) for library in (torch, retrograd))
    assert ours.message == theirs.message
    if theirs.seen[0] != "tensor":
        assert ours.seen == theirs.seen
        return
    *facts, (values, is_nan) = theirs.seen
    assert ours.seen[:-1] == tuple(facts)
    assert ours.seen[-1][1] == is_nan
    rounding = {"float64": 1e-12, "float32": 1e-6, "float16": 1e-3}.get(facts[1].removeprefix("torch."), 0.0)
    np.testing.assert_allclose(ours.seen[-1][0], values, rtol=rounding, atol=rounding)


def test_modules_have_the_functions_results_and_gradients() -> None:
    """A weight of PReLU learns; its gradient is PyTorch's."""
    def case(t: Any) -> Any:
        layer = t.nn.PReLU(2)
        layer(t.tensor([[-1., 2.], [-3., -4.]])).sum().backward()
        layer.reset_parameters()
        return layer.weight.grad.tolist(), layer.weight.tolist()

    assert case(torch) == case(retrograd)


_WARNED = """
torch.nn.NLLLoss2d()
torch.nn.functional.gumbel_softmax(torch.zeros(2), eps=1e-3)
torch.nn.functional.dropout2d(torch.ones(2, 2))
torch.nn.functional.dropout2d(torch.ones(2, 2, 2))
torch.nn.functional.dropout3d(torch.ones(2, 2))
torch.nn.functional.soft_margin_loss(torch.ones(2), torch.ones(2), reduce=False)
"""


@pytest.mark.parametrize("expression", _each(_WARNED))
def test_warnings(expression: str) -> None:
    told = []
    for library in (torch, retrograd):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(expression, {"torch": library})
        told.append([(w.category, said(w.message)) for w in caught])
    assert told[0] == told[1]
    assert told[0]
