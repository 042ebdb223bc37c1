"""Normalisation as layers use it: what the functions of torch do, with layers' order of arguments and checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...dtypes import float16, refuse
from ...ops.images import resampling
from ...tensors.arguments.options import check_tensor
from ...tensors.functions.networks import normalization
from ...tensors.functions.shapes import joining
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

_windows = recorded(resampling.windows)


def _several(sizes: Sequence[int], shown: Any) -> None:
    """Refuse a batch with one value for each channel, whose deviation is 0."""
    if math.prod((sizes[0], *sizes[2:])) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")


@public()
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """`torch.batch_norm`. Raises ValueError in training for one value for each channel."""
    if training:
        check_tensor("batch_norm", input)
        _several(input.shape, input.shape)
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return normalization.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@public()
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """`torch.instance_norm`. Raises ValueError where each channel has one value, whose deviation is 0."""
    check_tensor("instance_norm", input)
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    return normalization.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@public()
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """`torch.layer_norm`."""
    return normalization.layer_norm(input, normalized_shape, weight, bias, eps)


@public()
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """`torch.rms_norm`."""
    return normalization.rms_norm(input, normalized_shape, weight, eps)


@public()
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """`torch.group_norm`. Raises ValueError where each group has one value, whose deviation is 0."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    sizes = input.shape
    _several((sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]), [*sizes])
    return normalization.group_norm(input, num_groups, weight, bias, eps)


@public()
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`input` (N, C, …), divided by (k + alpha * m) ** beta, for m the mean of the squares of `size` channels around.

    Channels past the ends count as 0. Raises ValueError for fewer than three dims.
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} "
                         "dimensions)")
    if input.numel() == 0:
        return input
    refuse(input._array.dtype, "avg_pool2d" if input.dim() == 3 else "avg_pool3d_out_frame",
           "biuc" if input.dim() == 3 or input.dtype is not float16 else "f")
    channels = input.shape[1]
    before, after = size // 2, (size - 1) // 2
    squares = input * input
    ends = [squares.new_zeros((len(input), n, *input.shape[2:])) for n in (before, after)]
    padded = joining.cat([ends[0], squares, ends[1]], 1)
    sums = _windows(padded, ((1, channels + before + after, channels, "window", None, False, False),))
    return input / sums.div(size).mul(alpha).add(k).pow(beta)
