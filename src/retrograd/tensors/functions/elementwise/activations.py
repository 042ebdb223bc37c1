"""Activations that torch itself offers beside torch.nn.functional: shrinkage, threshold, prelu, rrelu."""

from __future__ import annotations

from typing import Any

from ....dtypes import legacy
from ....kernels.networks import activations as kernels
from ....ops.creation import draw_for
from ....ops.networks import activations as ops
from ...arguments.generator import Generator, twister_of
from ...arguments.options import check_tensor, filling, number
from ...recording.calls import recorded
from ...recording.inplace import inplace, write
from ...recording.out_rules import FOUND, FREE, rule
from ...recording.public import public
from ...state.base import plain

_hardshrink, _threshold = recorded(ops.hardshrink), recorded(ops.threshold)
_rrelu, _rrelu_even = recorded(ops.rrelu), recorded(ops.rrelu_even)
_prelu, _threshold_ = recorded(ops.prelu), inplace(ops.threshold)


@public("hardshrink(Tensor input, Number lambd=0.5, out)", out=rule(exact=FOUND))
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, and 0 where it is in [-lambd, lambd].

    >>> import retrograd as torch
    >>> torch.hardshrink(torch.tensor([-1., 0.25, 2.]))
    tensor([-1.,  0.,  2.])
    """
    check_tensor("hardshrink", input)
    return _hardshrink(input, number("hardshrink", "lambd", 2, lambd))


@public(out=rule(overlap=FREE, repeated=True))
def threshold(input: Any, threshold: float, value: float) -> Any:
    """x, and `value` where it is not above the threshold. Raises NotImplementedError for bools and complex numbers."""
    check_tensor("threshold", input)
    return _threshold(input, *_limits(input, threshold, value))


@public()
def threshold_(input: Any, threshold: float, value: float) -> Any:
    """`threshold`, written over the tensor."""
    check_tensor("threshold_", input)
    return _threshold_(input, *_limits(input, threshold, value))


def _limits(input: Any, *limits: Any) -> list[Any]:
    """The threshold and the value as numbers of the tensor's type. Raises RuntimeError where they do not fit it."""
    dtype = input._array.dtype
    named = zip(("threshold", "value"), limits, (2, 3))
    return [filling(number("threshold", name, position, limit), dtype) for name, limit, position in named]


@public("prelu(Tensor input, Tensor weight)")
def prelu(input: Any, weight: Any) -> Any:
    """x, and weight * x where it is not positive. The weight is one number, or one for each channel (dimension 1).

    >>> import retrograd as torch
    >>> torch.prelu(torch.tensor([[-1., -1.]]), torch.tensor([0.5, 0.25]))
    tensor([[-0.5000, -0.2500]])

    Raises RuntimeError where the weights are of another dtype or another number than the channels.
    """
    check_tensor("prelu", input)
    check_tensor("prelu", weight, "weight", 2)
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


@public()
def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          generator: Generator | None = None) -> Any:
    """x, and x times a slope where it is negative: in training one drawn from [lower, upper], else the middle.

    Raises RuntimeError where the bounds are the wrong way round.
    """
    check_tensor("rrelu", input)
    slopes = _slopes(input, lower, upper, training, generator)
    return (_rrelu if training else _rrelu_even)(input, *slopes)


@public()
def rrelu_(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
           generator: Generator | None = None) -> Any:
    """`rrelu`, written over the tensor."""
    check_tensor("rrelu_", input)
    slopes = _slopes(input, lower, upper, training, generator)
    write(ops.rrelu if training else ops.rrelu_even, input, slopes)
    return input


def _slopes(input: Any, lower: Any, upper: Any, training: bool, generator: Any) -> tuple[Any, ...]:
    """The limits of the slopes, and in training the slopes themselves before them."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    limits = float(lower), float(upper)
    if not training:
        return limits
    stream = twister_of("rrelu", generator)
    noise = draw_for(input._array, lambda x: kernels.rrelu_noise(stream, x, *limits))
    return plain(noise), *limits


class PiecewiseMethods:
    """Activations, as methods."""

    __slots__ = ()

    hardshrink, prelu = hardshrink, prelu
