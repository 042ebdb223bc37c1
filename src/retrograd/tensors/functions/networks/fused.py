"""Functions in which PyTorch joins several steps for its own layers. Here they are the steps, one after another.

So their graphs have the nodes of the steps, and every one of them has derivatives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ....foundations.dtypes import refuse
from ....foundations.errors import warn
from ...arguments.dims import array_of, axis_of
from ...recording.public import public
from ..elementwise.arithmetic import add
from ..elementwise.elementary import relu, relu_
from ..images.convolution import conv2d
from ..indexing.masking import masked_fill
from .softmax import log_softmax, softmax

if TYPE_CHECKING:
    from ...state.base import TensorBase


@public("_softmax(Tensor input, int dim, bool half_to_float)")
def _softmax(input: TensorBase, dim: int, half_to_float: bool) -> Any:
    """`softmax`. Raises RuntimeError for `half_to_float`, which is for GPUs."""
    _refuse_conversion(half_to_float)
    return softmax(input, dim)


@public("_log_softmax(Tensor input, int dim, bool half_to_float)")
def _log_softmax(input: TensorBase, dim: int, half_to_float: bool) -> Any:
    """`log_softmax`. Raises RuntimeError for `half_to_float`, which is for GPUs."""
    _refuse_conversion(half_to_float)
    return log_softmax(input, dim)


def _refuse_conversion(half_to_float: bool) -> None:
    if half_to_float:
        raise RuntimeError("softmax with half to float conversion is not supported on CPU")


@public("_masked_softmax(Tensor input, Tensor mask, int? dim=None, int? mask_type=None)")
def _masked_softmax(input: TensorBase, mask: TensorBase, dim: int | None = None, mask_type: int | None = None) -> Any:
    """The softmax along `dim`, or the last dim, of the elements where the mask is False; 0 elsewhere.

    The mask has shape (L, L) if `mask_type` is 0, (B, L) if it is 1 and the input has four dims, and else the shape of
    the input. If the mask hides a whole row, the row is nan.

    >>> import retrograd as torch
    >>> torch._masked_softmax(torch.zeros(1, 3), torch.tensor([[False, True, False]]), 1, 2)
    tensor([[0.5000, 0.0000, 0.5000]])
    """
    x, hides = array_of("_masked_softmax", input), array_of("_masked_softmax", mask, "mask", 2)
    if hides.dtype.kind != "b":
        raise RuntimeError("Mask should be a boolean tensor")
    if mask_type is None:
        warn("Mask Type should be defined", UserWarning)
    refuse(x.dtype, "masked_softmax", "biuc")
    mask = _spread(mask, x.shape, mask_type)
    axis = axis_of("_masked_softmax", -1 if dim is None else dim, x.ndim)
    return softmax(masked_fill(input, mask, -math.inf), axis)


def _spread(mask: TensorBase, shape: tuple[int, ...], mask_type: int | None) -> Any:
    """The mask, in a shape that broadcasts to that of the input. Raises RuntimeError if the mask does not fit."""
    if mask.shape == shape:
        return mask
    if len(shape) == 4 and mask_type == 1:
        if tuple(mask.shape) == (shape[0], shape[3]):
            return mask.view(shape[0], 1, 1, shape[3])
        raise RuntimeError("For mask_type == 1 mask shape should be (B, L)")
    if len(shape) == 4 and mask_type == 0:
        if tuple(mask.shape) == shape[2:]:
            return mask
        raise RuntimeError("For mask_type == 0 mask shape should be (L, L)")
    raise RuntimeError("For mask_type == 2 mask shape should match input shape")


@public("_add_relu(Tensor input, Tensor other, *, Number alpha=1)",
        "_add_relu(Tensor input, Number other, Number alpha=1)")
def _add_relu(input: TensorBase, other: Any, alpha: Any = 1) -> Any:
    """`relu(input + alpha * other)`."""
    return relu(add(input, other, alpha=alpha))


@public("_add_relu_(Tensor input, Tensor other, *, Number alpha=1)",
        "_add_relu_(Tensor input, Number other, Number alpha=1)")
def _add_relu_(input: TensorBase, other: Any, alpha: Any = 1) -> Any:
    """`_add_relu` written over `input`."""
    return relu_(add.written(input, other, alpha=alpha))


@public("_nnpack_spatial_convolution(Tensor input, Tensor weight, Tensor? bias, ints[2] padding, ints[2] stride=1)")
def _nnpack_spatial_convolution(input: TensorBase, weight: TensorBase, bias: TensorBase, padding: Any,
                                stride: Any = 1) -> Any:
    """`conv2d`, which PyTorch computes by the library NNPACK here."""
    return conv2d(input, weight, bias, stride, padding)


def _nnpack_available() -> bool:
    """Whether `_nnpack_spatial_convolution` can be called: always."""
    return True
