"""More activation functions: gates, shrinkages, thresholds, random slopes, and samples that are nearly one-hot."""

from __future__ import annotations

from typing import Any

from ...errors import warn
from ...kernels.random.distributions import exponential
from ...ops.creation import draw_for, full_beside
from ...ops.networks import piecewise as ops
from ...tensors.arguments.dims import array_of, axis_of
from ...tensors.arguments.generator import twister_of
from ...tensors.arguments.options import check_tensor, number
from ...tensors.functions.elementwise import piecewise
from ...tensors.functions.elementwise.piecewise import hardshrink, prelu, rrelu_, threshold_
from ...tensors.recording.calls import recorded
from ...tensors.recording.inplace import inplace as written_over
from ...tensors.recording.out import into
from ...tensors.state.base import plain

__all__ = [
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "prelu",
    "rrelu",
    "rrelu_",
    "softshrink",
    "threshold",
    "threshold_",
]

_glu, _softshrink = recorded(ops.glu), recorded(ops.softshrink)
_hardsigmoid, _hardsigmoid_ = recorded(ops.hardsigmoid), written_over(ops.hardsigmoid)
_hardswish, _hardswish_ = recorded(ops.hardswish), written_over(ops.hardswish)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half of the tensor along `dim`, times the sigmoid of the second. Raises RuntimeError for an odd size.

    >>> import retrograd as torch
    >>> torch.nn.functional.glu(torch.tensor([3., 5., 0., 100.]))
    tensor([1.5000, 5.0000])
    """
    rank = input.dim()
    return _glu(input, axis_of("glu", dim, rank) if rank else 0)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """x / 6 + 1 / 2, moved into [0, 1]."""
    return (_hardsigmoid_ if inplace else _hardsigmoid)(input)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """x * hardsigmoid(x)."""
    return (_hardswish_ if inplace else _hardswish)(input)


def softshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Any:
    """x, brought nearer to 0 by lambd; 0 where it is in [-lambd, lambd]. Raises RuntimeError for a negative lambd."""
    if out is not None:
        return into(out, softshrink, input, lambd)
    check_tensor("softshrink", input)
    return _softshrink(input, number("softshrink", "lambd", 2, lambd))


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """x, and `value` where it is not above the threshold."""
    return (piecewise.threshold_ if inplace else piecewise.threshold)(input, threshold, value)


def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False) -> Any:
    """x, and x times a slope where it is negative: in training one drawn from [lower, upper], else the middle.

    Raises RuntimeError where the bounds are the wrong way round.
    """
    return (piecewise.rrelu_ if inplace else piecewise.rrelu)(input, lower, upper, training)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A sample from the Gumbel-softmax distribution with these logits: probabilities along `dim`, near to one-hot.

    The lower the temperature `tau`, the nearer. With `hard` it is one-hot, and has the gradient of the soft sample.
    `eps` is without effect, and warned of.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", UserWarning)
    array = array_of("gumbel_softmax", logits)
    stream = twister_of("gumbel_softmax", None)
    drawn = draw_for(array, lambda x: exponential(stream, x.shape, x.dtype))
    soft = ((logits + -plain(drawn).log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = plain(full_beside(soft._array, array.shape, array.dtype, 0)).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
