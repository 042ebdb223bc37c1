"""Samples of distributions whose parameters are tensors: Poisson, binomial, gamma, Dirichlet.

The same seed gives the same bits as in PyTorch. The kernels draw one element after the other, in C order. This module
must not know how.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....foundations.dtypes import F16, letter, require
from ....kernels.random import rejection as kernels
from ....kernels.shape import common_shape
from ....ops import creation as ops
from ....tensors.state.base import TensorBase
from ...arguments.generator import Generator, twister_of
from ...arguments.options import check_tensor
from ...recording.calls import recorded
from ...recording.public import public

_poisson, _binomial = recorded(ops.poisson), recorded(ops.binomial)
_gamma, _dirichlet = recorded(ops.standard_gamma), recorded(ops.sample_dirichlet)
_gamma_gradient, _dirichlet_gradient = recorded(ops.gamma_gradient), recorded(ops.dirichlet_gradient)


@public("poisson(Tensor input, Generator generator=None)")
def poisson(input: TensorBase, generator: Generator | None = None) -> Any:
    """Poisson-distributed samples with the rates in `input`, in the shape and the dtype of `input`.

    The gradient is 0. Raises RuntimeError for a negative rate, NotImplementedError if the dtype is not floating.
    """
    check_tensor("poisson", input)
    stream = twister_of("poisson", generator)
    return _poisson(input, lambda x: kernels.poisson(stream, x))


@public("binomial(Tensor count, Tensor prob, Generator generator=None)")
def binomial(count: TensorBase, prob: TensorBase, generator: Generator | None = None) -> Any:
    """The numbers of successes in `count` trials, each with probability `prob`. The two tensors are broadcast.

    There is no derivative. Raises ValueError if a dtype is not floating, RuntimeError if the dtypes differ.
    """
    check_tensor("binomial", count, "count", 1)
    check_tensor("binomial", prob, "prob", 2)
    for name, value in (("count", count), ("prob", prob)):
        if letter(value._array.dtype) != "f":
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {value.dtype.legacy}")
    if count._array.dtype != prob._array.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.legacy} but expected {count.dtype.legacy}")
    common_shape(count._array.shape, prob._array.shape)      # which raises if there is none
    stream = twister_of("binomial", generator)
    return _binomial(count, prob, lambda n, p: kernels.binomial(stream, *np.broadcast_arrays(n, p)))


@public()
def _standard_gamma(input: TensorBase, generator: Generator | None = None) -> Any:
    """Gamma-distributed samples with scale 1. `input` holds the shape parameters."""
    check_tensor("_standard_gamma", input)
    stream = twister_of("_standard_gamma", generator)
    return _gamma(input, lambda x: kernels.standard_gamma(stream, x))


@public()
def _sample_dirichlet(input: TensorBase, generator: Generator | None = None) -> Any:
    """Dirichlet-distributed vectors along the last dimension. `input` holds the concentrations."""
    check_tensor("_sample_dirichlet", input)
    stream = twister_of("_sample_dirichlet", generator)
    return _dirichlet(input, lambda x: kernels.dirichlet(stream, x))


@public("_standard_gamma_grad(Tensor input, Tensor output)")
def _standard_gamma_grad(input: TensorBase, output: TensorBase) -> Any:
    """The derivative of each gamma sample in `output` by its shape parameter in `input`."""
    _check_samples("_standard_gamma_grad", input=input, output=output)
    return _gamma_gradient(input, output)


@public("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total)")
def _dirichlet_grad(x: TensorBase, alpha: TensorBase, total: TensorBase) -> Any:
    """The derivative of each component of Dirichlet samples `x` by its concentration, divided by 1 - x.

    `alpha` holds the concentrations, and `total` their sums.
    """
    _check_samples("_dirichlet_grad", x=x, alpha=alpha, total=total)
    return _dirichlet_gradient(x, alpha, total)


def _check_samples(function: str, **tensors: Any) -> None:
    """Raise PyTorch's error unless all arguments are tensors of one floating dtype."""
    for place, (name, value) in enumerate(tensors.items(), 1):
        check_tensor(function, value, name, place)
    first, *others = tensors.values()
    for other in others:
        if other._array.dtype != first._array.dtype:
            raise RuntimeError(f"Found dtype {other.dtype.legacy} but expected {first.dtype.legacy}")
    require(first._array.dtype.kind == "f" and first._array.dtype != F16, f"{function}_cpu", first._array.dtype)
