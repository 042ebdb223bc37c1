"""Functions of libraries for devices, and of quantized tensors, against PyTorch's CPU build."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing import near_expression
from comparing.same_expression import check

_SETUP = """
x = torch.linspace(-1, 1, 32).view(1, 2, 4, 4)
k = torch.linspace(-1, 1, 36).view(4, 1, 3, 3)
v, rows = torch.ones(2), torch.tensor([[1.5, -2., .3], [.1, .2, .7]])
mean, var = torch.zeros(2), torch.ones(2)
one, infinite = torch.tensor([1]), float("inf")
state = [torch.full((1,), infinite), torch.full((1,), -infinite), torch.ones(1), torch.zeros(1, dtype=torch.int32)]
each = [torch.full((2,), infinite), torch.full((2,), -infinite), torch.ones(2), torch.zeros(2, dtype=torch.int32)]
empty = [torch.ones(0), torch.ones(0), torch.ones(0), torch.zeros(0, dtype=torch.int32)]
"""
_REFUSED = """
torch.batch_norm_stats(x, 1e-5)
torch.batch_norm_elemt(x, v, v, v, v, 1e-5)
torch.batch_norm_elemt(x, None, None, v, v)
torch.batch_norm_gather_stats(x, v, v, v, v, 0.1, 1e-5, 3)
torch.batch_norm_gather_stats_with_counts(x, v, v, v, v, 0.1, 1e-5, v)
torch.batch_norm_backward_reduce(x, x, v, v, v, True, True, True)
torch.batch_norm_backward_elemt(x, x, v, v, v, v, v, v)
torch.cudnn_affine_grid_generator(torch.ones(1, 2, 3), 1, 1, 2, 2)
torch.cudnn_batch_norm(x, v, v, v, v, True, 0.1, 1e-5)
torch.cudnn_convolution(x, k, (0, 0), (1, 1), (1, 1), 1, False, False, False)
torch.cudnn_convolution(3)
torch.cudnn_convolution(x, k, (0, 0), (1, 1))
torch.cudnn_convolution_relu(x, k, None, (1, 1), (0, 0), (1, 1), 1)
torch.cudnn_convolution_add_relu(x, k, x, 1, None, (1, 1), (0, 0), (1, 1), 1)
torch.cudnn_convolution_transpose(x, k, (0, 0), (0, 0), (1, 1), (1, 1), 1, False, False, False)
torch.cudnn_grid_sampler(x, torch.zeros(1, 2, 2, 2))
torch.cudnn_is_acceptable(x)
torch.cudnn_is_acceptable(3)
torch.miopen_batch_norm(x, v, v, v, v, True, 0.1, 1e-5)
torch.miopen_convolution(x, k, None, (0, 0), (1, 1), (1, 1), 1, False, False)
torch.miopen_convolution_relu(x, k, None, (1, 1), (0, 0), (1, 1), 1)
torch.miopen_convolution_add_relu(x, k, x, 1, None, (1, 1), (0, 0), (1, 1), 1)
torch.miopen_convolution_transpose(x, k, None, (0, 0), (0, 0), (1, 1), (1, 1), 1, False, False)
torch.miopen_depthwise_convolution(x, k, None, (0, 0), (1, 1), (1, 1), 1, False, False)
torch.miopen_ctc_loss(x, x, [1], [1], 0, False, False)
torch.miopen_rnn(x, [x], 0, x, None, 0, 2, 1, False, 0., False, False, [], None)
torch.mkldnn_adaptive_avg_pool2d(x, 2)
torch.mkldnn_linear_backward_weights(x, x, x, False)
torch.mkldnn_max_pool2d(x, 2)
torch.mkldnn_max_pool3d(x, 2)
torch.int_repr(x)
torch.int_repr(3)
torch.q_scale(x)
x.q_scale()
x.q_zero_point()
x.q_per_channel_axis()
x.q_per_channel_scales()
x.q_per_channel_zero_points()
x.qscheme()
x.to_padded_tensor(0.)
torch.dequantize(x) is x
torch.dequantize([x])
torch.dequantize(3)
torch.dequantize(x.clone().requires_grad_()).dtype
torch.tensor([1, 2]).dequantize()
torch.tensor([1 + 2j]).dequantize()
"""
_COMPUTED = """
torch.mkldnn_convolution(x, k, None, (1, 1), (2, 1), (1, 1), 2)
torch.mkldnn_convolution(x.double(), k.double(), None, (1, 1), (1, 1), (1, 1), 2)
torch.mkldnn_convolution(x, k, None, (1, 1), (1, 1), (1, 1), 1)
torch.batch_norm_update_stats(x, mean, var, 0.1)
torch.batch_norm_update_stats(x, mean, var, 0.1) and (mean, var)
torch.batch_norm_update_stats(x.double(), None, None, 0.1)
torch.batch_norm_update_stats(x, mean, None, 0.1) and mean
torch.batch_norm_update_stats(x.long(), None, None, 0.1)
torch.batch_norm_update_stats(v, None, None, 0.1)
torch.batch_norm_update_stats(torch.ones(0, 2), None, None, 0.1)
torch.batch_norm_update_stats(x, mean.double(), var.double(), 0.1)
torch.fbgemm_linear_quantize_weight(rows)[:2]
torch.fbgemm_linear_quantize_weight(torch.zeros(2, 2))[:2]
torch.fbgemm_linear_quantize_weight(torch.ones(2, 2))[:2]
torch.fbgemm_linear_quantize_weight(torch.ones(2))
"""
_ROUNDED = """
torch.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255)
torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 255, 0)
torch.fake_quantize_per_tensor_affine(x.long(), 0.1, 0, -3, 3)
torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1), torch.tensor(9), 0, 5)
torch.fake_quantize_per_tensor_affine(x, torch.tensor([.1, .2]), torch.tensor([1, 2]), 0, 5)
torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1).requires_grad_(), torch.tensor(0), 0, 5)
torch.fake_quantize_per_tensor_affine(x, 0.1, torch.tensor(1), 0, 5)
torch.fake_quantize_per_tensor_affine(x, 0., 1, 0, 5)
torch.fake_quantize_per_tensor_affine(x, -0.1, 1, 0, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2, .3]), torch.zeros(3, dtype=torch.int64), 1, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(3), 1, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(2), 1, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(2), 2, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(2) + 9, 0, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.tensor([9, 0], dtype=torch.int32), 0, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]).double(), torch.zeros(2), 0, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(2), 0, 5, -5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([.1, .2]), torch.zeros(2), -1, -5, 5)
torch.fake_quantize_per_channel_affine(rows, torch.tensor([[.1, .2]]), torch.zeros(2), 0, -5, 5)
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *state, .1, 0, 255, 0), state
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *state, .1, 0, 255, 0, False, True), state
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *each, .1, -128, 127, 0, True), each
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *each, .1, 0, 255, 0, True, True), each
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *empty, .1, 0, 255, 0, True), empty
torch.fused_moving_avg_obs_fake_quant(rows, one * 0, one, *state, .1, 0, 255, 0), state
torch.fused_moving_avg_obs_fake_quant(rows, one, one * 0, *state, .1, 0, 255, 0), state
[torch.fused_moving_avg_obs_fake_quant(rows * n, one, one, *state, .3, 0, 255, 0) for n in (1, 2, 3)], state
torch.fused_moving_avg_obs_fake_quant(rows * 1e-7, one, one, *state, .1, 0, 255, 0), state
torch.fused_moving_avg_obs_fake_quant(rows * 0, one, one, *state, .1, 0, 255, 0), state
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *state, .1, 0, 255, 5)
torch.fused_moving_avg_obs_fake_quant(rows, one, one, *each, .1, 0, 255, 1, True)
torch.fused_moving_avg_obs_fake_quant(rows.half(), one, one, *state, .1, 0, 255, 1)
"""


@pytest.mark.parametrize("expression", (_REFUSED + _ROUNDED[1:]).split("\n")[1:-1])
def test_what_is_exact(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)


@pytest.mark.parametrize("expression", _COMPUTED.split("\n")[1:-1])
def test_what_is_computed(expression: str) -> None:
    near_expression.check(_SETUP, expression)
