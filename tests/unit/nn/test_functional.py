"""Activations and losses: derivatives by differences, closed forms, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import retrograd as torch
from retrograd.nn import functional as F

scores = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 4)), elements=st.floats(-30, 30))


def tensor(values: Any, **options: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(values, dtype=float), **options)


def slope(function: Any, x: np.ndarray[Any, Any], step: float = 1e-6) -> np.ndarray[Any, Any]:
    """The derivatives of a function of an array to a number, by differences."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        found[i] = (function(tensor(up)).item() - function(tensor(down)).item()) / (2 * step)
    return found


SMOOTH = [F.silu, F.gelu, F.mish, F.softplus, F.logsigmoid, F.elu, F.selu, F.celu, F.tanhshrink, F.softsign,
          lambda x: F.gelu(x, approximate="tanh"), lambda x: F.leaky_relu(x, 0.2), lambda x: F.hardtanh(x, -0.5, 0.5)]


@pytest.mark.parametrize("number", range(len(SMOOTH)))
def test_derivatives_of_activations(number: int) -> None:
    x = np.linspace(-3.05, 3.1, 21)
    leaf = tensor(x, requires_grad=True)
    weights = tensor(np.linspace(-1, 2, 21))
    (first,) = torch.autograd.grad((SMOOTH[number](leaf) * weights).sum(), leaf, create_graph=True)
    expected = slope(lambda t: (SMOOTH[number](t) * weights).sum(), x)
    np.testing.assert_allclose(first.detach().numpy(), expected, atol=1e-7)
    if first.requires_grad:
        (second,) = torch.autograd.grad((first * weights).sum(), leaf)

        def again(t: Any) -> Any:
            t.requires_grad_()
            return (torch.autograd.grad((SMOOTH[number](t) * weights).sum(), t)[0] * weights).sum()

        np.testing.assert_allclose(second.numpy(), slope(again, x), atol=1e-6)


@pytest.mark.parametrize("function", [F.silu, F.softplus, F.logsigmoid, F.elu, F.gelu])
def test_activations_far_from_zero(function: Any) -> None:
    leaf = tensor([-1e4, 1e4], requires_grad=True)
    (grad,) = torch.autograd.grad(function(leaf).sum(), leaf)
    assert np.isfinite(grad.numpy()).all()
    assert grad.numpy().tolist() == ([1.0, 0.0] if function is F.logsigmoid else [0.0, 1.0])


# Losses

@given(scores, st.randoms(use_true_random=False))
def test_cross_entropy_by_its_definition(x: np.ndarray[Any, Any], chance: Any) -> None:
    target = np.array([chance.randrange(x.shape[1]) for _ in x])
    leaf = tensor(x, requires_grad=True)
    loss = F.cross_entropy(leaf, torch.tensor(target))
    shifted = np.exp(x - x.max(1, keepdims=True))
    probabilities = shifted / shifted.sum(1, keepdims=True)
    logs = x - x.max(1, keepdims=True) - np.log(shifted.sum(1, keepdims=True))
    np.testing.assert_allclose(loss.item(), -logs[np.arange(len(x)), target].mean(), rtol=1e-10, atol=1e-12)
    loss.backward()
    expected = (probabilities - np.eye(x.shape[1])[target]) / len(x)
    assert leaf.grad is not None
    np.testing.assert_allclose(leaf.grad.numpy(), expected, atol=1e-12)


@given(scores)
def test_a_class_and_its_one_hot_vector_are_the_same_target(x: np.ndarray[Any, Any]) -> None:
    target = torch.tensor(np.arange(len(x)) % x.shape[1])
    one_hot = F.one_hot(target, x.shape[1]).double()
    for smoothing in (0.0, 0.1):
        a, b = (F.cross_entropy(tensor(x), t, label_smoothing=smoothing).item() for t in (target, one_hot))
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


def test_what_is_ignored_counts_for_nothing() -> None:
    x = tensor([[0.0, math.log(3)], [5.0, 1.0]], requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([1, -100]))
    assert loss.item() == pytest.approx(math.log(4 / 3))
    loss.backward()
    assert x.grad is not None
    assert x.grad[1].tolist() == [0.0, 0.0]
    assert math.isnan(F.cross_entropy(x, torch.tensor([-100, -100])).item())
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        F.cross_entropy(x, torch.tensor([0, 2]))


LOSSES = [F.mse_loss, F.smooth_l1_loss, F.huber_loss, lambda x, y, **o: F.smooth_l1_loss(x, y, beta=0.3, **o),
          lambda x, y, **o: F.huber_loss(x, y, delta=0.3, **o), F.binary_cross_entropy_with_logits, F.l1_loss]


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("number", range(len(LOSSES)))
def test_derivatives_of_losses(number: int, reduction: str) -> None:
    draws = np.random.default_rng(number)
    x, y = 2 * draws.standard_normal((3, 4)), draws.uniform(0.1, 0.9, (3, 4))
    inputs = [tensor(a, requires_grad=True) for a in (x, y)]

    def loss(a: Any, b: Any) -> Any:
        return LOSSES[number](a, b, reduction=reduction)

    by_x, by_y = torch.autograd.grad(loss(*inputs), inputs)
    np.testing.assert_allclose(by_x.numpy(), slope(lambda t: loss(t, tensor(y)), x), atol=1e-7)
    np.testing.assert_allclose(by_y.numpy(), slope(lambda t: loss(tensor(x), t), y), atol=1e-7)


def test_binary_cross_entropy_of_probabilities_and_of_logits() -> None:
    x, y = np.linspace(-4, 4, 9), np.linspace(0, 1, 9)
    for reduction in ("mean", "sum", "none"):
        a = F.binary_cross_entropy(tensor(x).sigmoid(), tensor(y), reduction=reduction)
        b = F.binary_cross_entropy_with_logits(tensor(x), tensor(y), reduction=reduction)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        F.binary_cross_entropy(tensor([1.5]), tensor([1.0]))


def test_a_target_of_another_shape_warns() -> None:
    with pytest.warns(UserWarning, match="Using a target size"):
        F.mse_loss(torch.ones(3, 1), torch.ones(3))
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        F.mse_loss(torch.ones(3), torch.ones(3), reduction="average")


def test_divergence_in_closed_form() -> None:
    p, q = np.array([0.2, 0.8, 0.0]), np.array([0.5, 0.25, 0.25])
    expected = 0.2 * math.log(0.2 / 0.5) + 0.8 * math.log(0.8 / 0.25)
    assert F.kl_div(tensor(q).log(), tensor(p), reduction="sum").item() == pytest.approx(expected)
    logs = tensor(p[:2]).log()
    assert F.kl_div(tensor(q[:2]).log(), logs, reduction="sum", log_target=True).item() == pytest.approx(expected)


def test_a_weight_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"rms_norm\(\): argument 'weight' \(position 3\) must be Tensor, not list"):
        F.rms_norm(torch.ones(2, 3), (3,), [1.0, 1.0, 1.0])


def test_pooling_by_norms_rounds_the_number_of_windows_up_if_asked() -> None:
    x = torch.arange(1.0, 6.0).view(1, 1, 5)
    assert torch.nn.LPPool1d(1, 2)(x).tolist() == [[[3.0, 7.0]]]
    assert torch.nn.LPPool1d(1, 2, ceil_mode=True)(x).shape == (1, 1, 3)
    image = torch.ones(1, 1, 5, 5)
    assert torch.nn.LPPool2d(1, 2, ceil_mode=True)(image).shape == (1, 1, 3, 3)
    assert torch.nn.LPPool3d(1, 2, ceil_mode=True)(torch.ones(1, 1, 5, 5, 5)).shape == (1, 1, 3, 3, 3)


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_drops_weights_in_training_alone(need_weights: bool) -> None:
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(4, 2, dropout=0.5)
    x = torch.rand(6, 1, 4)
    first, second = (layer(x, x, x, need_weights=need_weights)[0] for _ in range(2))
    assert not torch.equal(first, second)
    layer.eval()
    first, second = (layer(x, x, x, need_weights=need_weights)[0] for _ in range(2))
    assert torch.equal(first, second)
    without = torch.nn.MultiheadAttention(4, 2)
    first, second = (without(x, x, x, need_weights=need_weights)[0] for _ in range(2))
    assert torch.equal(first, second)


def test_linear_layers_on_vectors_and_stacks_go_through_views() -> None:
    weight, bias = tensor([[1, 2, 3], [4, 5, 6]], requires_grad=True), tensor([10, 20], requires_grad=True)
    for shape in [(3,), (2, 2, 3), (2, 0, 3)]:
        x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
        y = F.linear(x, weight, bias)
        assert y.shape == (*shape[:-1], 2)
        nodes, node = [], y.grad_fn
        while node is not None:
            nodes.append(node.name())
            node = node.next_functions[-2 if len(node.next_functions) == 3 else 0][0] if node.next_functions else None
        assert nodes == ["ViewBackward0", "AddmmBackward0", "ViewBackward0", "torch::autograd::AccumulateGrad"]
        assert y._base is not None
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.unique().tolist() == ([5.0, 7.0, 9.0] if x.numel() else [])
    assert F.linear(torch.ones(3, dtype=torch.float64), weight, bias).tolist() == [16, 35]
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        F.linear(torch.ones(2, dtype=torch.float64), weight, bias)


@pytest.mark.parametrize("weight", [0.25, 1.0, 0.0, -1.0, 2.0])
def test_prelu_of_any_slope(weight: float) -> None:
    x = tensor([-math.inf, -2, -0.0, 0, 3, math.inf, math.nan])
    found = F.prelu(x, tensor([weight])).tolist()
    np.testing.assert_array_equal(found, [v if v > 0 else weight * v for v in x.tolist()])
    assert [math.copysign(1, v) for v in found[2:5]] == [math.copysign(1, -weight), math.copysign(1, weight), 1]


def test_the_gradient_of_mse_loss_by_its_target_has_no_negative_zero() -> None:
    y = torch.tensor([1., 1.], requires_grad=True)
    torch.nn.functional.mse_loss(torch.tensor([1., 2.]), y).backward()
    assert repr(y.grad.tolist()) == "[0.0, -1.0]"
