"""The activations that PyTorch also keeps in the namespace torch: `hardshrink`, `threshold`, `prelu`, `rrelu`."""

from __future__ import annotations

import math
from typing import Any

from ....foundations.dtypes import legacy
from ....foundations.scalars import check_double
from ....kernels.networks import activations as kernels
from ....ops.creation import draw_for
from ....ops.networks import activations as ops
from ....tensors.state.base import TensorBase
from ...arguments.generator import Generator, twister_of
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.out_rules import FOUND, FREE, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import plain

_hardshrink, _prelu = recorded(ops.hardshrink), recorded(ops.prelu)


@public("hardshrink(Tensor input, Number lambd=0.5, out)", out=rule(exact=FOUND), method=True)
def hardshrink(input: TensorBase, lambd: float = 0.5) -> Any:
    """x, but 0 if x is in [-lambd, lambd], elementwise. The shape and the dtype stay.

    >>> import retrograd as torch
    >>> torch.hardshrink(torch.tensor([-1., 0.25, 2.]))
    tensor([-1.,  0.,  2.])
    """
    return _hardshrink(input, number("hardshrink", "lambd", 2, lambd))


@twins("threshold(Tensor input, Number threshold, Number value, out)", out=rule(overlap=FREE, repeated=True))
def threshold(call: Call, input: TensorBase, threshold: float, value: float) -> Any:
    """x if x is above the threshold, else `value`, elementwise. The shape and the dtype stay.

    Raises NotImplementedError for bools and complex numbers.
    """
    limit = number("threshold", "threshold", 2, threshold)
    return call(ops.threshold, input, limit, number("threshold", "value", 3, value))


@public("prelu(Tensor input, Tensor weight)", method=True)
def prelu(input: TensorBase, weight: TensorBase) -> Any:
    """x if x is positive, else weight * x, elementwise.

    The weight has one element, or one element for each channel (dimension 1).

    >>> import retrograd as torch
    >>> torch.prelu(torch.tensor([[-1., -1.]]), torch.tensor([0.5, 0.25]))
    tensor([[-0.5000, -0.2500]])

    Raises RuntimeError if the dtypes differ, or if the number of weights is neither 1 nor that of the channels.
    """
    x, w = input._array, weight._array
    if x.dtype != w.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {legacy(x)} and {legacy(w)}")
    if w.size != 1:
        if not x.ndim:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = x.shape[1] if x.ndim > 1 else 1
        if channels != w.size:
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{w.size} and channel size = {channels}.")
    if w.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.ndim}")
    if x.ndim != w.ndim:
        weight = weight.reshape([w.size if i == 1 else 1 for i in range(x.ndim)])
    return _prelu(input, weight)


@twins("rrelu(Tensor input, Number lower=0.125, Number upper=0.3333333333333333, bool training=False, Generator? "
       "generator=None)")
def rrelu(call: Call, input: TensorBase, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          generator: Generator | None = None) -> Any:
    """x if x is not negative, else x times a slope, elementwise.

    In training each slope is drawn from [lower, upper]. Otherwise the slope is (lower + upper) / 2.
    Raises RuntimeError if `lower` is larger than `upper`.
    """
    slopes = _slopes(input, lower, upper, training, generator)
    return call(ops.rrelu if training else ops.rrelu_even, input, *slopes)


threshold_, rrelu_ = threshold.written, rrelu.written


def _slopes(input: TensorBase, lower: float, upper: float, training: bool, generator: Any) -> tuple[Any, ...]:
    """The lower and the upper limit of the slopes. In training the tensor of slopes stands before the two limits."""
    lower, upper = number("rrelu", "lower", 2, lower), number("rrelu", "upper", 3, upper)
    for which, bound in (("lower", lower), ("upper", upper)):
        check_double(bound)
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {which} bound must be finite, got {bound:g}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    limits = float(lower), float(upper)
    if not training:
        return limits
    stream = twister_of("rrelu", generator)
    noise = draw_for(input._array, lambda x: kernels.rrelu_noise(stream, x, *limits))
    return plain(noise), *limits
