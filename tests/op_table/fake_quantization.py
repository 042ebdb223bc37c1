"""Entries for rounding to the numbers of quantized tensors. Their gradient passes through the rounding."""

from __future__ import annotations

from typing import Any

from op_table.entry import INFINITE, ONE, Entry

_ROUNDED: dict[str, Any] = {"conventional": "the gradient passes through the rounding",
                            "no_tangent": "PyTorch has no forward mode of it"}


def _channels(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.3, 0.7, 0.2]), t.tensor([1, 0, -2, 4], dtype=t.int32),
                                              1, -5, 5)


def _shifted(t: Any, x: Any) -> Any:
    return t.fake_quantize_per_channel_affine(x, t.tensor([0.1, 0.3, 0.7]), t.tensor([0.5, 0.25, 0.0]), 0, -5, 5)


def _observed(t: Any, x: Any) -> Any:
    ends = t.tensor([-1.5]), t.tensor([1.25])
    return t.fused_moving_avg_obs_fake_quant(x.float(), t.tensor([1]), t.tensor([1]), *ends, t.ones(1),
                                             t.zeros(1, dtype=t.int32), 0.01, 0, 255, 0)


FAKE_QUANTIZATION = [
    Entry("fake_quantize_per_tensor_affine", lambda t, x: t.fake_quantize_per_tensor_affine(x, 0.1, 2, -10, 9),
          kinds="fh", points=(0.0, 0.05, -0.05, 0.15, *INFINITE), **_ROUNDED),
    Entry("fake_quantize_per_tensor_affine tensors",
          lambda t, x: t.fake_quantize_per_tensor_affine(x, t.tensor(0.3), t.tensor(2), -2, 5), kinds="fh",
          points=(0.0, 0.15, 0.45, *INFINITE), **_ROUNDED),
    Entry("fake_quantize_per_channel_affine", _channels, (((3, 4),), ((2, 4, 2),), ((0, 4),)), kinds="fh",
          **_ROUNDED),
    Entry("fake_quantize_per_channel_affine shifted", _shifted, (((3, 4),), ((3, 2, 2),), ((3, 0),)), kinds="fh",
          **_ROUNDED),
    Entry("fused_moving_avg_obs_fake_quant", _observed, (((3, 4),), ((2, 1, 3),)), **_ROUNDED),
    Entry("dequantize", lambda t, x: x.double().dequantize(), ONE, kinds="fh", refused=True),
]
