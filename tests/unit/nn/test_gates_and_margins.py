"""Gates, margins, likelihoods and sequences against plain loops, closed forms, and facts recorded from PyTorch."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import retrograd as torch

functional = torch.nn.functional


def merged(path: tuple[int, ...], blank: int) -> list[int]:
    """What a path spells: repeats merged, blanks dropped."""
    return [c for c, _ in itertools.groupby(path) if c != blank]


def likelihood(chances: np.ndarray[Any, Any], labels: list[int], blank: int) -> float:
    """The sum over all paths that spell the labels."""
    steps, classes = chances.shape
    return sum(math.prod(chances[t, c] for t, c in enumerate(path))
               for path in itertools.product(range(classes), repeat=steps) if merged(path, blank) == labels)


@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.parametrize("labels", [[], [1], [1, 1], [1, 3], [3, 1, 3], [1, 1, 1]])
def test_ctc_loss_sums_over_all_paths(labels: list[int], blank: int) -> None:
    scores = torch.randn(5, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    x = scores.requires_grad_()
    loss = functional.ctc_loss(x.log_softmax(1), torch.tensor(labels, dtype=torch.int64), (5,), (len(labels),), blank,
                               "sum")
    expected = likelihood(x.softmax(1).detach().numpy(), labels, blank)
    assert loss.item() == pytest.approx(-math.log(expected), rel=1e-12)
    assert torch.autograd.gradcheck(lambda x: functional.ctc_loss(
        x.log_softmax(1), torch.tensor(labels, dtype=torch.int64), (5,), (len(labels),), blank, "sum"), (x,))


def test_ctc_losses_of_a_batch_are_those_of_its_samples() -> None:
    scores = torch.randn(7, 3, 5, generator=torch.Generator().manual_seed(4), dtype=torch.float64).log_softmax(2)
    labels, times, lengths = [[1, 2, 2], [3, 1, 0], [4, 0, 0]], [7, 5, 3], [3, 2, 1]
    losses = functional.ctc_loss(scores, torch.tensor(labels), times, lengths, reduction="none")
    for n in range(3):
        alone = functional.ctc_loss(scores[: times[n], n], torch.tensor(labels[n][: lengths[n]]), (times[n],),
                                    (lengths[n],), reduction="none")
        assert losses[n].item() == pytest.approx(alone.item(), rel=1e-13)
    mean = functional.ctc_loss(scores, torch.tensor(labels), times, lengths)
    assert mean.item() == pytest.approx((losses / torch.tensor(lengths)).mean().item())


def test_ctc_loss_of_labels_that_do_not_fit() -> None:
    scores = torch.zeros(2, 1, 3).log_softmax(2).requires_grad_()
    for zero, loss, gradient in ((False, math.inf, math.nan), (True, 0.0, 0.0)):
        found = functional.ctc_loss(scores, torch.tensor([[1, 1]]), (2,), (2,), reduction="sum", zero_infinity=zero)
        assert found.item() == loss
        (grad,) = torch.autograd.grad(found, scores)
        np.testing.assert_array_equal(grad.numpy(), np.full((2, 1, 3), gradient))
    with pytest.raises(RuntimeError, match="(?s)targets must be in label range.*from 1 to 3"):
        functional.ctc_loss(scores, torch.tensor([[1, 3]]), (2,), (2,))


def test_losses_of_classes_are_what_loops_give() -> None:
    x = torch.tensor([[0.1, 2.0, 0.3], [1.0, 1.5, -1.0]], dtype=torch.float64)
    target, weight = [1, 0], [0.5, 1.0, 2.0]
    for p in (1, 2):
        loops = [sum(max(0.0, 0.8 - row[t] + row[j]) ** p for j in range(3) if j != t) / 3 * weight[t]
                 for row, t in zip(x.tolist(), target, strict=True)]
        found = functional.multi_margin_loss(x, torch.tensor(target), p, 0.8, torch.tensor(weight, dtype=x.dtype),
                                             reduction="none")
        np.testing.assert_allclose(found.numpy(), loops, rtol=1e-14)
    lists = [[2, 0, -1], [1, -1, 0]]
    loops = [sum(max(0.0, 1 - row[t] + row[j]) for t in given for j in range(3) if j not in given) / 3
             for row, given in zip(x.tolist(), ([2, 0], [1]), strict=True)]
    found = functional.multilabel_margin_loss(x, torch.tensor(lists), reduction="none")
    np.testing.assert_allclose(found.numpy(), loops, rtol=1e-14)


def test_soft_margin_loss_neither_overflows_nor_loses_its_gradient() -> None:
    x = torch.tensor([-1000., 1000., 0.], requires_grad=True)
    loss = functional.soft_margin_loss(x, torch.ones(3), reduction="none")
    assert loss.tolist() == pytest.approx([1000.0, 0.0, math.log(2)])
    loss.sum().backward()
    assert x.grad.tolist() == [-1.0, 0.0, -0.5]


def test_likelihoods_are_those_of_the_distributions() -> None:
    rate, count = torch.tensor(2.5, dtype=torch.float64), torch.tensor(4.0, dtype=torch.float64)
    found = functional.poisson_nll_loss(rate, count, log_input=False, full=True, eps=0.0)
    assert found.item() == pytest.approx(-math.log(math.exp(-2.5) * 2.5**4 / math.factorial(4)), abs=0.03)
    mean, sample, variance = (torch.tensor(v, dtype=torch.float64) for v in (0.5, 2.0, 4.0))
    found = functional.gaussian_nll_loss(mean, sample, variance, full=True)
    assert found.item() == pytest.approx(0.5 * math.log(2 * math.pi * 4) + 1.5**2 / 8)


def test_the_gradient_does_not_know_that_a_variance_or_a_norm_was_too_small() -> None:
    variance = torch.tensor([1e-9], requires_grad=True)
    functional.gaussian_nll_loss(torch.zeros(1), torch.zeros(1), variance, eps=0.5).backward()
    assert variance.grad.tolist() == [1.0]
    x = torch.tensor([[0.003, 0.004]], requires_grad=True)
    functional.cosine_similarity(x, torch.tensor([[1., 0.]]), eps=0.1).sum().backward()
    assert x.grad.tolist() == [pytest.approx([1 / 0.1 - 0.003 / 0.01 * 0.6, -0.003 / 0.01 * 0.8], rel=1e-4)]


def test_gates_recorded_from_pytorch() -> None:
    x = torch.tensor([-4., -3., -0.5, 0., 0.5, 3., 4.])
    facts = {
        "hardshrink": [-4, -3, 0, 0, 0, 3, 4], "softshrink": [-3.5, -2.5, 0, 0, 0, 2.5, 3.5],
        "hardsigmoid": [0, 0, 2.5 / 6, 0.5, 3.5 / 6, 1, 1], "hardswish": [0, 0, -1.25 / 6, 0, 1.75 / 6, 3, 4],
    }
    for name, values in facts.items():
        np.testing.assert_allclose(getattr(functional, name)(x).numpy(), values, rtol=1e-6)
    assert functional.threshold(x, 0.5, -7).tolist() == [-7, -7, -7, -7, -7, 3, 4]
    assert torch.prelu(x[None, :2], torch.tensor([0.5, 2.0])).tolist() == [[-2, -6]]
    assert functional.rrelu(x[:2], 0.2, 0.4).tolist() == pytest.approx([-1.2, -0.9])


def test_a_gumbel_sample_is_one_hot_and_has_the_gradient_of_the_soft_one() -> None:
    logits = torch.tensor([[1., 2., 3.]], requires_grad=True)
    gradients = []
    for hard in (True, False):
        torch.manual_seed(5)
        sample = functional.gumbel_softmax(logits, hard=hard)
        assert sample.sum().item() == pytest.approx(1.0)
        (grad,) = torch.autograd.grad(sample[0, 0], logits)
        gradients.append(grad.tolist())
        assert ({*sample.detach().round().flatten().tolist()} == {0.0, 1.0}) or not hard
    assert gradients[0] == gradients[1]


def test_reductions_by_number() -> None:
    x, y = torch.tensor([0.5, 2.0]), torch.tensor([1.0, -1.0])
    each = functional.hinge_embedding_loss(x, y, reduction="none")
    assert torch.hinge_embedding_loss(x, y).equal(each)         # PyTorch's default is not the mean that it documents
    assert torch.hinge_embedding_loss(x, y, reduction=1).item() == each.mean().item()
    assert torch.hinge_embedding_loss(x, y, reduction=2).item() == each.sum().item()
