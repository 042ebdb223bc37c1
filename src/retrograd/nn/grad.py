"""torch.nn.grad: the gradients of convolutions by their input and by their weight, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.images import convolution as ops
from ..tensors.functions.images.convolution import convolution
from ..tensors.recording.calls import recorded
from ..tensors.tensor import Tensor
from .modules.utils import _ntuple

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

_convolution_weight = recorded(ops.convolution_weight)


def _by_input(dims: int) -> Callable[..., Any]:
    each = _ntuple(dims)

    def conv_input(input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                   dilation: Any = 1, groups: Any = 1) -> Tensor:
        """The gradient of a convolution by its input of shape `input_size`.

        Raises RuntimeError if the shapes do not fit.
        """
        window = weight.shape[2:], each(stride), each(padding), each(dilation)
        spans = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in zip(grad_output.shape[2:], *window)]
        rest = [size - span for size, span in zip(input_size[2:], spans)]
        result: Tensor = convolution(grad_output, weight, None, *window[1:], True, rest, groups)
        return result

    conv_input.__name__ = conv_input.__qualname__ = f"conv{dims}d_input"
    return conv_input


def _by_weight(dims: int) -> Callable[..., Any]:
    each = _ntuple(dims)

    def conv_weight(input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                    dilation: Any = 1, groups: Any = 1) -> Tensor:
        """The gradient of a convolution by its weight of shape `weight_size`. The shapes must fit."""
        result: Tensor = _convolution_weight(input, grad_output, tuple(weight_size), each(stride), each(padding),
                                             each(dilation), groups)
        return result

    conv_weight.__name__ = conv_weight.__qualname__ = f"conv{dims}d_weight"
    return conv_weight


conv1d_input, conv2d_input, conv3d_input = _by_input(1), _by_input(2), _by_input(3)
conv1d_weight, conv2d_weight, conv3d_weight = _by_weight(1), _by_weight(2), _by_weight(3)
