"""A module of a loss computes what the function of its name computes, with the options that the module was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional

X, Y, Z = [torch.linspace(start, stop, 12).reshape(3, 4) for start, stop in ((-1.5, 2.0), (0.05, 0.95), (1.0, -1.0))]
CLASSES, SIGNS, ROWS = torch.tensor([0, 3, 1]), torch.tensor([1.0, -1.0, 1.0]), (X, Y, Z)
FRAMES = torch.linspace(-1.0, 1.0, 40).sin().mul(9).cos().reshape(5, 2, 4).log_softmax(-1)
LABELS = torch.tensor([[1, 2], [3, 0]]), torch.tensor([5, 4]), torch.tensor([2, 1])
WEIGHT = torch.tensor([1.0, 2.0, 0.5, 1.5])
# The module and its options, the function, and the inputs.
LOSSES: list[tuple[type[Any], dict[str, Any], Callable[..., Any], tuple[Any, ...]]] = [
    (nn.L1Loss, {}, functional.l1_loss, (X, Y)), (nn.MSELoss, {}, functional.mse_loss, (X, Y)),
    (nn.SmoothL1Loss, {"beta": 0.3}, functional.smooth_l1_loss, (X, Y)),
    (nn.HuberLoss, {"delta": 0.3}, functional.huber_loss, (X, Y)),
    (nn.CrossEntropyLoss, {"weight": WEIGHT, "ignore_index": 3, "label_smoothing": 0.1}, functional.cross_entropy,
     (X, CLASSES)),
    (nn.NLLLoss, {"weight": WEIGHT, "ignore_index": 1}, functional.nll_loss, (X.log_softmax(1), CLASSES)),
    (nn.BCELoss, {"weight": WEIGHT}, functional.binary_cross_entropy, (Y, Z.sigmoid())),
    (nn.BCEWithLogitsLoss, {"weight": WEIGHT, "pos_weight": WEIGHT}, functional.binary_cross_entropy_with_logits,
     (X, Y)),
    (nn.KLDivLoss, {"log_target": True}, functional.kl_div, (X.log_softmax(1), Z.log_softmax(1))),
    (nn.PoissonNLLLoss, {"log_input": False, "full": True, "eps": 1e-3}, functional.poisson_nll_loss, (Y, Y * 5)),
    (nn.GaussianNLLLoss, {"full": True, "eps": 0.2}, functional.gaussian_nll_loss, (X, Y, Z.abs())),
    (nn.HingeEmbeddingLoss, {"margin": 0.7}, functional.hinge_embedding_loss, (X, Z.sign())),
    (nn.SoftMarginLoss, {}, functional.soft_margin_loss, (X, Z.sign())),
    (nn.MarginRankingLoss, {"margin": 0.3}, functional.margin_ranking_loss, (X[:, 0], Y[:, 0], SIGNS)),
    (nn.CosineEmbeddingLoss, {"margin": 0.2}, functional.cosine_embedding_loss, (X, Y, SIGNS)),
    (nn.MultiMarginLoss, {"p": 2, "margin": 0.7, "weight": WEIGHT}, functional.multi_margin_loss, (X, CLASSES)),
    (nn.MultiLabelMarginLoss, {}, functional.multilabel_margin_loss, (X, torch.tensor([[1, 0, -1, 2]] * 3))),
    (nn.MultiLabelSoftMarginLoss, {"weight": WEIGHT}, functional.multilabel_soft_margin_loss, (X, Y.round())),
    (nn.TripletMarginLoss, {"margin": 0.4, "p": 3, "swap": True}, functional.triplet_margin_loss, ROWS),
    (nn.TripletMarginWithDistanceLoss, {"margin": 0.4, "swap": True}, functional.triplet_margin_with_distance_loss,
     ROWS),
    (nn.CTCLoss, {"zero_infinity": True}, functional.ctc_loss, (FRAMES, *LABELS)),
    (nn.CTCLoss, {"blank": 3}, functional.ctc_loss, (FRAMES, LABELS[0] % 3, *LABELS[1:]))]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("number", range(len(LOSSES)), ids=lambda number: LOSSES[number][0].__name__)
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss")
def test_a_loss_is_its_function(number: int, reduction: str) -> None:
    module, options, function, inputs = LOSSES[number]
    found, expected = module(**options, reduction=reduction)(*inputs), function(*inputs, **options, reduction=reduction)
    assert torch.equal(found, expected)
    changes = [name for name in options if name != "zero_infinity"]        # these losses are finite
    assert not changes or not torch.allclose(expected.sum(), function(*inputs, reduction=reduction).sum())


def test_each_loss_is_in_the_table() -> None:
    classes = {each for each in vars(nn).values() if isinstance(each, type) and each.__name__.endswith("Loss")}
    others = {nn.AdaptiveLogSoftmaxWithLoss, nn.LinearCrossEntropyLoss}      # with parameters
    assert classes - {each[0] for each in LOSSES} == others
