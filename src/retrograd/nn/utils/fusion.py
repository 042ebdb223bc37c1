"""torch.nn.utils.fusion: a convolution or linear layer that does the work of the batch normalization behind it, too."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ...tensors.functions.creation.creation import ones_like, zeros_like
from ...tensors.tensor import Tensor
from ..parameter import Parameter

if TYPE_CHECKING:
    from ...nn.modules.module import Module

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check_evaluating(*modules: Any) -> None:
    if any(module.training for module in modules):
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Any:
    """A copy of a convolution that computes what the convolution and the normalization compute together.

    Both modules are in evaluation. `transpose` is true for a transposed convolution. Raises AssertionError if a module
    is in training.
    """
    _check_evaluating(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def _moved(weight: Any, bias: Any, mean: Any, variance: Any, eps: float, scale: Any, shift: Any, axis: int) -> Any:
    """Weight and bias with the normalization in them. The axis of the weight counts the outputs."""
    dtypes = weight.dtype, weight.dtype if bias is None else bias.dtype
    bias = zeros_like(mean) if bias is None else bias
    scale = ones_like(mean) if scale is None else scale
    shift = zeros_like(mean) if shift is None else shift
    factor = scale * (variance + eps).rsqrt()
    shape = [1] * weight.dim()
    shape[axis] = -1
    new_weight = (weight * factor.reshape(shape)).to(dtype=dtypes[0])
    new_bias = ((bias - mean) * factor + shift).to(dtype=dtypes[1])
    return new_weight, new_bias


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                         bn_w: Tensor | None, bn_b: Tensor | None,
                         transpose: bool = False) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that does a batch normalization, too. None stands for a missing tensor."""
    weight, bias = _moved(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)
    return (Parameter(weight, conv_w.requires_grad),
            Parameter(bias, conv_b is not None and conv_b.requires_grad))


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Any:
    """A copy of a linear layer that computes what the layer and the normalization compute together.

    Both modules are in evaluation. Raises AssertionError if one is in training, or if the numbers of features differ.
    """
    _check_evaluating(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
                             f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                           bn_w: Tensor, bn_b: Tensor) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer that does a batch normalization, too. None stands for a missing tensor."""
    weight, bias = _moved(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)
    return (Parameter(weight, linear_w.requires_grad),
            Parameter(bias, linear_b is not None and linear_b.requires_grad))
