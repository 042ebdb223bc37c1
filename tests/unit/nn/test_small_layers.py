"""The softmax in clusters, old norms and gradients of convolutions: closed forms, and facts recorded from PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn import grad


def test_probabilities_of_clusters_sum_to_one() -> None:
    torch.manual_seed(0)
    layer, x = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], 2.0), torch.randn(5, 8)
    everything = layer.log_prob(x)
    assert everything.exp().sum(1).tolist() == pytest.approx([1] * 5, abs=1e-5)
    assert layer.predict(x).equal(everything.argmax(1))
    target = torch.tensor([0, 5, 12, 19, 3])
    found = layer(x, target)
    assert found.output.tolist() == pytest.approx(everything.gather(1, target[:, None])[:, 0].tolist(), abs=1e-6)
    assert found.loss.item() == pytest.approx(-found.output.mean().item())
    assert type(found).__name__ == "_ASMoutput"


def test_numbers_of_clusters_recorded_from_pytorch() -> None:
    torch.manual_seed(0)
    layer, x = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10, 15], div_value=2.0), torch.randn(5, 8)
    found = layer(x, torch.tensor([0, 5, 12, 19, 3]))
    assert found.output.tolist() == pytest.approx([-2.0816, -4.0568, -3.3766, -2.6613, -2.3370], abs=1e-4)


def test_response_over_channels() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1, 1)
    found = nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0, k=1.0)(x).flatten()
    squares = [1 + 4, 1 + 4 + 9, 1 + 4 + 9 + 16, 1 + 9 + 16]    # the last still has channel 0, as in PyTorch
    assert found.tolist() == pytest.approx([x / (1 + s) for x, s in zip([1, 2, 3, 4], squares)])
    leaf = x.clone().requires_grad_()
    slope, = torch.autograd.grad(nn.CrossMapLRN2d(1)(leaf).square().sum(), leaf, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_one_process_is_the_whole_batch() -> None:
    x = torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(0))
    assert nn.SyncBatchNorm(3)(x).equal(nn.BatchNorm1d(3)(x))


def test_the_old_container_warns() -> None:
    with pytest.warns(FutureWarning, match="`nn.Container` is deprecated"):
        assert str(nn.Container(a=nn.ReLU())) == "Container(\n  (a): ReLU()\n)"


@pytest.mark.parametrize("options", [(1, 0, 1, 1), (2, 1, 1, 2), (1, 1, 2, 1)])
def test_gradients_of_convolutions(options: Any) -> None:
    x = torch.randn(2, 4, 6, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
    weight = torch.randn(2, 4 // options[3], 2, 2, generator=torch.Generator().manual_seed(1)).requires_grad_()
    out = nn.functional.conv2d(x, weight, None, *options)
    by_x, by_weight = torch.autograd.grad(out.sum(), (x, weight))
    ones = torch.ones_like(out)
    assert torch.allclose(grad.conv2d_input(x.shape, weight, ones, *options), by_x, atol=1e-5)
    assert torch.allclose(grad.conv2d_weight(x, weight.shape, ones, *options), by_weight, atol=1e-5)
