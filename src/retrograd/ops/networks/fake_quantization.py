"""Rounding to the numbers that a quantized tensor could hold. The gradient passes where the numbers are not cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...kernels.networks import fake_quantization as kernels
from ..framework import Op, operator


def _rounded(name: str, node: str, kernel: Callable[..., Any] = kernels.fake_quantized) -> Op:
    return operator(name, kernel, outputs="out mask", differentiable="out", tensors=1, node=node, layout="elementwise",
                    x=lambda g, mask: g * mask)


per_tensor = _rounded("fake_quantize_per_tensor_affine_cachemask", "FakeQuantizePerTensorAffineCachemaskBackward0")
per_tensor_of_tensors = _rounded("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
                                 "FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0")
per_channel = _rounded("fake_quantize_per_channel_affine_cachemask", "FakeQuantizePerChannelAffineCachemaskBackward0",
                       kernels.fake_quantized_channels)
observed = _rounded("_fused_moving_avg_obs_fq_helper", "FusedMovingAvgObsFqHelperBackward0",
                    kernels.observed_and_quantized)
