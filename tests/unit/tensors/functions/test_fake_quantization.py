"""Rounding to the numbers of quantized tensors, and the functions of libraries for devices. Facts from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch


def test_numbers_are_rounded_and_cut_off_and_the_gradient_stops_at_the_ends() -> None:
    x = torch.tensor([0.05, 0.15, 0.26, 9.0, float("nan"), -1.0], requires_grad=True)
    out = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 5)
    assert [round(n, 4) for n in out.tolist()] == [0.0, 0.2, 0.3, 0.5, 0.0, 0.0]
    assert type(out.grad_fn).__name__ == "FakeQuantizePerTensorAffineCachemaskBackward0"
    assert out.grad_fn._saved_mask.tolist() == [True, True, True, False, False, False]
    out.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_zero_that_is_no_integer_is_added_before_the_rounding() -> None:
    x, scale = torch.tensor([[0.05, 0.15, -0.05]]), torch.tensor([0.1])
    shifted = torch.fake_quantize_per_channel_affine(x, scale, torch.tensor([0.5]), 0, -5, 5)
    assert [round(n, 4) for n in shifted[0].tolist()] == [0.05, 0.15, -0.05]
    whole = torch.fake_quantize_per_channel_affine(x, scale, torch.tensor([1], dtype=torch.int32), 0, -5, 5)
    assert [round(n, 4) for n in whole[0].tolist()] == [0.0, 0.2, 0.0]


def test_observed_ends_decide_the_scale() -> None:
    x = torch.tensor([[1.5, -2.0, 0.3], [0.1, 0.2, 0.7]])
    low, high = torch.tensor([float("inf")]), torch.tensor([-float("inf")])
    scale, zero, on = torch.ones(1), torch.zeros(1, dtype=torch.int32), torch.tensor([1])
    torch.fused_moving_avg_obs_fake_quant(x, on, on, low, high, scale, zero, 0.5, 0, 255, 0)
    assert (low.item(), high.item(), zero.item(), round(scale.item(), 6)) == (-2.0, 1.5, 146, 0.013725)
    before = low._version
    torch.fused_moving_avg_obs_fake_quant(2 * x, on, on, low, high, scale, zero, 0.5, 0, 255, 0)
    assert (low.item(), high.item()) == (-3.0, 2.25)
    assert low._version > before
    copied = torch.fused_moving_avg_obs_fake_quant(x, on, 0 * on, low, high, scale, zero, 0.5, 0, 255, 0)
    assert copied.equal(x)


@pytest.mark.parametrize(("options", "error", "said"), [
    ((0.1, 300, 0, 255), RuntimeError, "`zero_point` must be between"),
    ((0.1, 0, 255, 0), RuntimeError, "`quant_min` should be less than or         equal to `quant_max`"),
    ((torch.ones(2), torch.ones(2), 0, 5), RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    ((torch.tensor(0.1, requires_grad=True), torch.tensor(0), 0, 5), RuntimeError, "is not differentiable"),
])
def test_wrong_scales_are_refused(options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        torch.fake_quantize_per_tensor_affine(torch.ones(2), *options)


def test_functions_of_other_devices_say_what_to_call() -> None:
    with pytest.raises(NotImplementedError) as caught:
        torch.cudnn_grid_sampler(torch.ones(1, 2, 4, 4), torch.zeros(1, 2, 2, 2))
    assert str(caught.value).startswith(
        "Could not run 'aten::cudnn_grid_sampler' with arguments from the 'CPU' backend. This could be because")
    with pytest.raises(NotImplementedError, match=r"(?s)Could not run 'aten::q_scale' .* the tensor is not quantized"):
        torch.ones(2).q_scale()
    with pytest.raises(NotImplementedError, match=r"Could not run 'aten::record_stream'"):
        torch.ones(2).record_stream(None)
    assert torch.cudnn_is_acceptable(torch.ones(2)) is False


def test_statistics_of_channels_move_the_running_ones() -> None:
    x, mean, var = torch.tensor([[1.0, 5.0], [3.0, 5.0]]), torch.zeros(2), torch.ones(2)
    found = torch.batch_norm_update_stats(x, mean, var, 0.5)
    assert [t.tolist() for t in found] == [[2.0, 5.0], [1.0, 0.0]]
    assert (mean.tolist(), var.tolist()) == ([1.0, 2.5], [1.5, 0.5])
    whole, sums, scale, zero = torch.fbgemm_linear_quantize_weight(torch.ones(2, 2))
    assert (whole.tolist(), sums.tolist(), zero) == ([[127, 127], [127, 127]], [510, 510], -128)
    assert scale == pytest.approx(1 / 255)
