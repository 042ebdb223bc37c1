"""Normalization as layers use it: torch's functions with layers' order of arguments and layers' checks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...tensors.arguments.options import check_tensor
from ...tensors.functions.images.padding import pad
from ...tensors.functions.networks import normalization
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor
from .pooling import avg_pool2d, avg_pool3d

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

_verify_batch_size = normalization.verify_batch_size


def _verify_spatial_size(size: Sequence[int]) -> None:
    """Raises ValueError for samples with one value for each channel."""
    if math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


@public()
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Each channel of (N, C, …), less its mean and divided by its deviation; then times weight, plus bias.

    In training the mean and the variance are those of the batch, and `running_mean` and `running_var` move towards them
    by `momentum`. Otherwise the running ones are used. Both, weight and bias have shape (C) and may be None.

    >>> import retrograd as torch
    >>> x = torch.tensor([[1., 10.], [3., 30.]])
    >>> torch.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])

    Raises ValueError in training if each channel has one value, and for a negative `eps`; RuntimeError if shapes or
    dtypes do not fit.
    """
    if training:
        check_tensor("batch_norm", input)
        _verify_batch_size(input.shape)
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return normalization.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@public()
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Each channel of each sample of (N, C, …), less its mean and divided by its deviation; then times weight, plus
    bias.

    The arguments are those of `batch_norm`; `use_input_stats` stands for `training`. Raises ValueError if each channel
    has one value.
    """
    check_tensor("instance_norm", input)
    if use_input_stats:
        _verify_spatial_size(input.shape)
    return normalization.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@public()
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """The input, less its mean over the last dimensions and divided by its deviation; then times weight, plus bias.

    `normalized_shape` has the sizes of these dimensions, and is the shape of weight and bias.

    >>> import retrograd as torch
    >>> torch.nn.functional.layer_norm(torch.tensor([[1., 3.], [10., 30.]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])

    Raises RuntimeError if shapes or dtypes do not fit.
    """
    return normalization.layer_norm(input, normalized_shape, weight, bias, eps)


@public()
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """The input, divided by the root of its mean square over the last dimensions; then times weight.

    `normalized_shape` has the sizes of these dimensions, and is the shape of the weight. Raises RuntimeError if shapes
    do not fit.
    """
    return normalization.rms_norm(input, normalized_shape, weight, eps)


@public()
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:
    """The input (N, C, …), less its mean over each of `num_groups` groups of channels, divided by its deviation.

    It is then multiplied by weight (C), and bias (C) is added. Raises ValueError if each group has one value,
    RuntimeError if the sizes do not fit.
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    sizes = input.shape
    normalization.verify_batch_size((sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]), [*sizes])
    return normalization.group_norm(input, num_groups, weight, bias, eps)


@public()
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`input` (N, C, …), divided by (k + alpha * m) ** beta. m is the mean square of the `size` nearest channels.

    Channels past the ends count as 0. Raises ValueError for fewer than three dimensions.
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} "
                         "dimensions)")
    if input.numel() == 0:
        return input
    squares, ends = input * input, (size // 2, (size - 1) // 2)
    if input.dim() == 3:
        means = avg_pool2d(pad(squares.unsqueeze(1), (0, 0, *ends)), (size, 1), 1).squeeze(1)
    else:
        volumes = squares.view(len(input), 1, *input.shape[1:3], -1)
        means = avg_pool3d(pad(volumes, (0, 0, 0, 0, *ends)), (size, 1, 1), 1).squeeze(1).view(input.shape)
    return input / means.mul(alpha).add(k).pow(beta)
