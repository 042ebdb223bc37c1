"""The check of a gradient that a program assigns."""

from __future__ import annotations

from ...foundations.dtypes import C_NAMES, dtype as torch_dtype
from ...foundations.errors import kind_of, noted
from ...kernels.kinds import OtherArray
from ..state.base import TensorBase


def check_grad(tensor: TensorBase, grad: TensorBase) -> None:
    """Raise PyTorch's error if `grad` cannot be assigned as the gradient of `tensor`."""
    if not isinstance(grad, TensorBase):
        raise noted(
            TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {kind_of(grad)}"),
            "backward#assigned-grad-is-a-tensor")
    if grad is tensor:
        raise noted(RuntimeError("can't assign Variable as its own grad"), "backward#own-grad")
    if grad.is_meta != tensor.is_meta:
        raise RuntimeError(f"attempting to assign a gradient with device type '{grad.device.type}' to a tensor with "
                           f"device type '{tensor.device.type}'. Please ensure that the gradient and the tensor are on "
                           "the same device")
    dense = [not isinstance(x._array, OtherArray) for x in (grad, tensor)]
    if not grad.is_sparse and (any(dense) or tensor.is_sparse) and grad.layout is not tensor.layout:
        raise noted(
            RuntimeError("attempting to assign a gradient to a tensor that has data of a different type"),
            given=f"the tensor has the layout {tensor.layout}, and the gradient has {grad.layout}")
    meta = tensor._grad_meta
    wanted = (meta and meta.grad_dtype) or tensor._array.dtype
    if grad._array.dtype != wanted and not (meta and meta.any_grad):
        raise noted(
            RuntimeError(f"attempting to assign a gradient with dtype '{C_NAMES[grad._array.dtype.name]}' to a tensor "
                         f"with grad_dtype '{torch_dtype.of[wanted].legacy}'. The gradient must match the tensor's "
                         "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute "
                         "with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging "
                         "the dtypes of a tensor and its gradient may break downstream systems that assume they "
                         "match."),
            "backward#dtype-of-assigned-grad", instead=f"convert it with .to({torch_dtype.of[wanted]!r})")
    if grad._array.shape != tensor._array.shape:
        raise noted(
            RuntimeError(f"attempting to assign a gradient of size '{list(grad._array.shape)}' to a tensor of size "
                         f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same size"),
            "backward#size-of-assigned-grad")
