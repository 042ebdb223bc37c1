"""The dropout functions of the namespace torch: for elements and for whole channels, plain and for selu.

All take the probability `p` of a drop, and `train`. If `train` is False, they return the tensor itself. The same seed
drops the same elements as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import Array
from ....foundations.errors import noted
from ....kernels.networks import dropout as kernels
from ....kernels.random import distributions as random
from ....ops.creation import draw_for, random_channels
from ....ops.elementwise.arithmetic import add, mul
from ....ops.networks import dropout as ops
from ....tensors.state.base import TensorBase
from ...arguments.generator import twister_of
from ...arguments.options import check_flag, check_tensor, number, refuse_complex_gradient
from ...recording.calls import recorded
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import plain
from ..creation.creation import empty_as
from ..creation.random import in_memory_order

_native_dropout = recorded(ops.native_dropout)


def _noise(name: str, input: TensorBase, p: float, of_channels: bool, for_selu: bool) -> Any:
    """Noise of ones and zeros in the shape and the layout of the input. For channels, the other dimensions have size 1.

    The ones are scaled by 1 / (1 - p), but not for selu, which computes with them. So for selu the error for bools
    names int64.
    """
    x, stream = input._array, twister_of(name, None)

    def draw(memory: Array) -> Any:
        if for_selu:
            return random.bernoulli(stream, memory.shape, memory.dtype, 1 - p)
        return random.dropout_mask(stream, memory.shape, memory.dtype, p)

    if not of_channels:
        noise = draw_for(x, lambda x: in_memory_order(empty_as(x, x.dtype, None), draw))
    elif x.ndim < 2:
        raise noted(
            RuntimeError("Feature dropout requires at least 2 dimensions in the input"),
            because="samples and channels")
    else:
        noise = draw_for(x, lambda x: draw(np.empty((*x.shape[:2], *[1] * (x.ndim - 2)), x.dtype)),
                         random_channels)
    kernels.refuse_integers(x.dtype, "Long" if for_selu and x.dtype.kind == "b" else input.dtype.legacy)
    return noise


def _pair(name: str, what: str, *, of_channels: bool = False, for_selu: bool = False) -> tuple[Callable[..., Any],
                                                                                               Callable[..., Any]]:
    """A function for one kind of dropout, and its in-place form."""

    def function(call: Call, input: TensorBase, p: float, train: bool) -> Any:
        check_tensor(name, input)
        p = number(name, "p", 2, p, "float")
        check_flag(name, "train", 3, train)
        if not 0 <= p <= 1:
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
        x = input._array
        if p == 0 or not train or not x.size:
            return input
        if p == 1:
            return call(mul, input, plain(np.zeros((), x.dtype)))
        noise = _noise(name, input, p, of_channels, for_selu)
        if not for_selu:
            return call(mul, input, plain(noise))
        slope, shift = map(plain, ops.affine.run(noise, p))
        return call(add, call(mul, input, slope), shift)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"In training, {what}. The shape and the dtype stay. Raises RuntimeError if `p` is not in "
                        "[0, 1], and for ints.")
    entry = twins(f"{name}(Tensor input, float p, bool train)")(function)
    return entry, entry.written


_SELU = ("sets {} with probability `p` to the limit of selu at -infinity, and scales the result to keep its mean and "
         "variance")
dropout, dropout_ = _pair("dropout", "sets each element to 0 with probability `p` and scales the others by 1 / (1 - p)")
feature_dropout, feature_dropout_ = _pair(
    "feature_dropout", "sets whole channels (all beyond dimensions 0 and 1) to 0 with probability `p` and scales the "
                       "others by 1 / (1 - p)", of_channels=True)
alpha_dropout, alpha_dropout_ = _pair("alpha_dropout", _SELU.format("each element"), for_selu=True)
feature_alpha_dropout, feature_alpha_dropout_ = _pair(
    "feature_alpha_dropout", _SELU.format("whole channels"), of_channels=True, for_selu=True)


@public()
def native_dropout(input: TensorBase, p: float, train: bool | None) -> tuple[Any, Any]:
    """The tensor after dropout, and the mask of the kept elements, as bools. `train=None` means True."""
    check_tensor("native_dropout", input)
    refuse_complex_gradient("native_dropout", input)
    x, scale = input._array, None
    if not x.size or (train is not None and not train):
        mask = np.ones(x.shape, bool if x.size else x.dtype)
    else:
        stream, scale = twister_of("native_dropout", None), 0.0 if p == 1 else 1 / (1 - p)
        mask = draw_for(x, lambda x: in_memory_order(
            empty_as(x, np.dtype(bool), None), lambda m: random.bernoulli(stream, m.shape, m.dtype, 1 - p)))
        kernels.refuse_integers(x.dtype, input.dtype.legacy)
    return _native_dropout(input, mask, scale)  # type: ignore[no-any-return]
