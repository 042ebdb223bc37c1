"""The deformable convolution: each weight reads its pixel at a place that an offset moves, between four pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.backward import grad as gradients
from ...autograd.grad_mode import enable_grad
from ...nn.functional import conv2d, pad
from ...tensors.state.base import as_leaf, plain

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _sampled(input: Tensor, y: Tensor, x: Tensor) -> Any:
    """The pixels of each channel at places between pixels, zeros outside. The shapes are (N, G, C, H, W), (N, G, P)."""
    high, wide = input.shape[-2:]
    padded = pad(input, (1, 1, 1, 1)).flatten(3)
    top, left = y.detach().floor(), x.detach().floor()
    total: Any = 0
    for down in (0, 1):
        for across in (0, 1):
            row, column = top + down, left + across
            weight = (1 - (y - row).abs()) * (1 - (x - column).abs())
            inside = (y > -1) & (y < high) & (x > -1) & (x < wide)
            place = ((row.clamp(-1, high) + 1) * (wide + 2) + column.clamp(-1, wide) + 1).long()
            index = place.unsqueeze(2).expand(-1, -1, input.shape[2], -1)
            total = total + padded.gather(3, index) * (weight * inside).unsqueeze(2)
    return total


def _columns(input: Tensor, offset: Tensor, mask: Tensor, kernel: tuple[int, int], options: tuple[int, ...],
             groups: int, use_mask: bool) -> Any:
    """What the weights read: (N, C, weights of the kernel, height and width of the result)."""
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w = options
    count, channels = input.shape[:2]
    out_h, out_w = offset.shape[2:]
    moves = offset.view(count, groups, kernel[0] * kernel[1], 2, out_h, out_w)
    base_y = np.arange(out_h)[:, None] * stride_h - pad_h
    base_x = np.arange(out_w)[None] * stride_w - pad_w
    rows, columns = [each.reshape(-1, 1, 1) for each in np.divmod(np.arange(kernel[0] * kernel[1]), kernel[1])]
    kind = input._array.dtype
    y = moves[:, :, :, 0] + plain((base_y + rows * dilation_h + 0 * base_x).astype(kind))
    x = moves[:, :, :, 1] + plain((base_x + columns * dilation_w + 0 * base_y).astype(kind))
    parts = input.view(count, groups, channels // groups, *input.shape[2:])
    found = _sampled(parts, y.flatten(2), x.flatten(2)).unflatten(3, (kernel[0] * kernel[1], out_h, out_w))
    if use_mask:
        found = found * mask.view(count, groups, 1, kernel[0] * kernel[1], out_h, out_w)
    return found.flatten(1, 2)


def deform_conv2d(input: Tensor, weight: Any, offset: Tensor, mask: Tensor, bias: Tensor, stride_h: int, stride_w: int,
                  pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int, offset_groups: int,
                  use_mask: bool) -> Any:
    """The deformable convolution: the products of the weights with the pixels that they read."""
    kernel = weight.shape[2:]
    found = _columns(input, offset, mask, kernel, (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w),
                     offset_groups, use_mask)
    flat = found.flatten(1, 2)
    return conv2d(flat, weight.flatten(1)[:, :, None, None], bias, groups=groups)


def deform_conv2d_backward(grad: Tensor, input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
                           *options: Any) -> tuple[Any, ...]:
    """The gradients of `deform_conv2d` by its tensors; zeros for a mask that is not used."""
    with enable_grad():
        leaves = [as_leaf(each.detach()) for each in (input, weight, offset, mask, bias)]
        found = gradients(deform_conv2d(*leaves, *options), leaves, grad, allow_unused=True)
    return tuple([leaf.detach() * 0 if each is None else each for leaf, each in zip(leaves, found)])
