"""Activation functions. Each function takes a tensor of any shape and works on single elements or along a dimension.

Unless a docstring says otherwise, the input is floating, the result has the shape and the dtype of the input, and
`inplace=True` writes the result into the input's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.dtypes import F64, I64, dtype as torch_dtype, letter, refuse
from ...foundations.errors import noted, warn
from ...foundations.limits import largest_float
from ...foundations.scalars import check_double, converted
from ...kernels.random.distributions import exponential
from ...ops.creation import draw_for, full_beside
from ...ops.framework import Op
from ...ops.networks import activations as ops
from ...tensors.arguments.dims import array_of, axis_of
from ...tensors.arguments.generator import twister_of
from ...tensors.arguments.options import check_tensor, number, refuse_complex_gradient
from ...tensors.functions.elementwise import activations
from ...tensors.functions.elementwise.activations import hardshrink, prelu, rrelu_, threshold_
from ...tensors.recording.calls import recorded
from ...tensors.recording.inplace_methods import inplace as written_over
from ...tensors.recording.out_rules import FOUND, FREE, rule
from ...tensors.recording.public import public
from ...tensors.recording.public_facts import facts_of
from ...tensors.state.base import plain
from ...tensors.tensor import Tensor

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu",
    "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]

# With these constants mean and variance stay the same from layer to layer (Klambauer and others, 2017).
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _pair(op: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The recorded call of an operator, and the call that overwrites its argument."""
    return recorded(op), written_over(op)


_relu, relu_ = _pair(ops.relu)
_leaky_relu, _leaky_relu_ = _pair(ops.leaky_relu)
_elu, _elu_ = _pair(ops.elu)
_celu, _celu_ = _pair(ops.celu)
_silu, _silu_ = _pair(ops.silu)
_mish, _mish_ = _pair(ops.mish)
_hardtanh, _hardtanh_ = _pair(ops.hardtanh)
_hardsigmoid, _hardsigmoid_ = _pair(ops.hardsigmoid)
_hardswish, _hardswish_ = _pair(ops.hardswish)
_softplus, _gelu, _gelu_tanh, _log_sigmoid, _glu, _softshrink = map(recorded, (
    ops.softplus, ops.gelu, ops.gelu_tanh, ops.log_sigmoid, ops.glu, ops.softshrink))


@public()
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)) for each element x. Ints and bools give the default floating dtype."""
    return input.sigmoid()


@public("log_sigmoid(Tensor input, out)", out=rule(exact="expected scalar type {result} but found {out}", overlap=FREE,
                                                   blame="log_sigmoid_forward", notice=""))
def logsigmoid(input: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))) for each element x. It does not overflow for large negative elements."""
    return _log_sigmoid(input)


@public()
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of each element. Ints and bools give the default floating dtype."""
    return input.tanh()


@public()
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0) for each element x. Takes ints too.

    >>> import retrograd as torch
    >>> torch.nn.functional.relu(torch.tensor([-1., 2.]))
    tensor([0., 2.])

    Raises RuntimeError for bools and complex numbers.
    """
    return relu_(input) if inplace else _relu(input)


@public()
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(x, 0), 6) for each element x. Takes ints too."""
    check_tensor("relu6_" if inplace else "relu6", input)
    return (_hardtanh_ if inplace else _hardtanh)(input, 0.0, 6.0)


@public()
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """min(max(x, min_val), max_val) for each element x. Takes ints too.

    Raises ValueError if `min_val` is greater than `max_val`, RuntimeError if `min_val` is negative and the input is
    uint8, which has no negative numbers.
    """
    if min_val > max_val:
        raise noted(
            ValueError("min_val cannot be greater than max_val"),
            given=f"min_val is {min_val} and max_val is {max_val}")
    return (hardtanh_ if inplace else _within)(input, min_val, max_val)


def _within(input: Tensor, min_val: Any, max_val: Any, name: str = "hardtanh") -> Any:
    """`hardtanh` or `hardtanh_` without the comparison of the limits."""
    max_val, min_val = number(name, "max_val", 3, max_val), number(name, "min_val", 2, min_val)
    kind = letter(array_of(name, input).dtype)
    if kind in "iu":
        min_val, max_val = converted(min_val, I64), converted(max_val, I64)
        if kind == "u" and (min_val < 0 or max_val < 0):
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    elif kind == "f":
        min_val, max_val = converted(min_val, F64), converted(max_val, F64)
    return (_hardtanh if name == "hardtanh" else _hardtanh_)(input, min_val, max_val)


@public()
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh`, written into the input's memory. A `min_val` greater than `max_val` raises no error here."""
    return _within(input, min_val, max_val, "hardtanh_")


@public()
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x for each positive element x, and negative_slope * x for each other element.

    >>> import retrograd as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-1., 2.]), 0.1)
    tensor([-0.1000,  2.0000])

    With `inplace` and a negative slope the backward pass raises RuntimeError: the result does not tell which elements
    were negative.
    """
    return (_leaky_relu_ if inplace else _leaky_relu)(input, number(
        "leaky_relu_" if inplace else "leaky_relu", "negative_slope", 2, negative_slope))


@public()
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu`, written into the input's memory."""
    return leaky_relu(input, negative_slope, True)


@public()
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x for each positive element x, and alpha * (exp(x) - 1) for each other element.

    With `inplace` and a negative `alpha` the backward pass raises RuntimeError: the result does not tell which elements
    were negative.
    """
    alpha = number("elu_" if inplace else "elu", "alpha", 2, alpha)
    return (_elu_ if inplace else _elu)(input, alpha, 1.0, 1.0)


@public()
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu`, written into the input's memory."""
    return elu(input, alpha, True)


@public()
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with constants that keep mean and variance the same from layer to layer (Klambauer and others, 2017)."""
    check_tensor("selu_" if inplace else "selu", input)
    return (_elu_ if inplace else _elu)(input, _SELU_ALPHA, _SELU_SCALE, 1.0)


@public()
def selu_(input: Tensor) -> Tensor:
    """`selu`, written into the input's memory."""
    return selu(input, True)


@public()
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x for each positive element x, and alpha * (exp(x / alpha) - 1) for each other element.

    Raises RuntimeError if `alpha` is 0.
    """
    alpha = number("celu_" if inplace else "celu", "alpha", 2, alpha)
    check_double(alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return (_celu_ if inplace else _celu)(input, alpha, 1.0, 1.0 / alpha)


@public()
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu`, written into the input's memory."""
    return celu(input, alpha, True)


@public()
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x) for each element x. This function is also called swish."""
    refuse_complex_gradient("silu", input)
    return (_silu_ if inplace else _silu)(input)


@public()
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)) for each element x."""
    return (_mish_ if inplace else _mish)(input)


@public("gelu(Tensor input, *, str approximate='none', Tensor out=None)", out=rule(exact=FOUND))
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the probability that a standard normal number is less than x; with "tanh" a quicker approximation.

    `approximate="tanh"` computes a faster approximation.

    >>> import retrograd as torch
    >>> torch.nn.functional.gelu(torch.tensor([-1., 0., 1.]))
    tensor([-0.1587,  0.0000,  0.8413])

    Raises RuntimeError if `approximate` is neither "none" nor "tanh".
    """
    if approximate == "none":
        return _gelu(input)
    if approximate == "tanh":
        return _gelu_tanh(input)
    raise noted(RuntimeError("approximate argument must be either none or tanh."), given=f"'{approximate}'")


@public("softplus(Tensor input, Number beta=1, Number threshold=20, out)", out=rule(exact=FOUND))
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta for each element x, and x itself if beta * x is greater than `threshold`."""
    return _softplus(input, number("softplus", "beta", 2, beta), number("softplus", "threshold", 3, threshold))


@public()
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|) for each element x."""
    return input / (input.abs() + 1)


@public()
def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x) for each element x."""
    return input - input.tanh()


@public()
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of the input along `dim`, times the sigmoid of the second half.

    >>> import retrograd as torch
    >>> torch.nn.functional.glu(torch.tensor([3., 5., 0., 100.]))
    tensor([1.5000, 5.0000])

    Raises RuntimeError if the size of `dim` is odd.
    """
    rank = input.dim()
    return _glu(input, axis_of("glu", dim, rank) if rank else 0)


@public()
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1 / 2 for each element x, limited to the interval from 0 to 1."""
    return (_hardsigmoid_ if inplace else _hardsigmoid)(input)


@public()
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x) for each element x."""
    return (_hardswish_ if inplace else _hardswish)(input)


@public("softshrink(Tensor input, Number lambd=0.5, out)", out=rule(exact=FOUND))
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, brought nearer to 0 by lambd; 0 where it is in [-lambd, lambd]. Raises RuntimeError for a negative lambd."""
    lambd, dtype = converted(number("softshrink", "lambd", 2, lambd), F64), array_of("softshrink", input).dtype
    refuse(dtype, "softshrink_check", "biuc")
    largest = largest_float(torch_dtype.of[dtype])
    if not 0 <= lambd <= largest:
        raise RuntimeError(f"lambda must be in range [0, {largest:g}] for input dtype {torch_dtype.of[dtype].legacy}, "
                           f"but found {lambd:g}")
    return _softshrink(input, lambd)


@public()
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x for each element x greater than `threshold`, and `value` for each other element. Takes ints too."""
    return (activations.threshold_ if inplace else activations.threshold)(input, threshold, value)


@public()
def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """x for each positive element x, and slope * x for each other element.

    In training each slope is drawn uniformly from [lower, upper], with PyTorch's random numbers. Otherwise every slope
    is the mean of `lower` and `upper`. Raises RuntimeError if `lower` is greater than `upper`.
    """
    return (activations.rrelu_ if inplace else activations.rrelu)(input, lower, upper, training)


@public()
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of the Gumbel-softmax distribution with these logits: probabilities along `dim`, close to one-hot.

    A lower temperature `tau` gives samples closer to one-hot. With `hard` the sample is exactly one-hot, and its
    gradient is the gradient of the soft sample. `eps` has no effect; another value than the default gives a warning.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", UserWarning)
    array = array_of("empty_like", logits)
    stream = twister_of("gumbel_softmax", None)
    drawn = draw_for(array, lambda x: exponential(stream, x.shape, x.dtype))
    soft = ((logits + -plain(drawn).log()) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = plain(full_beside(soft._array, array.shape, array.dtype, 0)).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that PyTorch once guessed, with a warning."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
         "argument.")
    return 0 if ndim in (0, 1, 3) else 1


def _dimension(name: str, input: Tensor, dim: int | None) -> int:
    return _get_softmax_dim(name, input.ndim, 3) if dim is None else dim


@public()
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch_dtype | None = None) -> Tensor:
    """exp(x) divided by its sum along `dim`. With `dtype` the input is converted first.

    >>> import retrograd as torch
    >>> torch.nn.functional.softmax(torch.tensor([0., 0., 0., 0.]), dim=0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])

    Without `dim` a dimension is guessed, with a warning. Raises IndexError if the input has no such dimension,
    NotImplementedError for ints and bools without `dtype`.
    """
    return input.softmax(_dimension("softmax", input, dim), dtype)


@public()
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch_dtype | None = None) -> Tensor:
    """The softmax of -x along `dim`. The arguments are those of `softmax`."""
    return (-input).softmax(_dimension("softmin", input, dim), dtype)


@public()
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: torch_dtype | None = None) -> Tensor:
    """The logarithm of the softmax along `dim`, computed without overflow. The arguments are those of `softmax`."""
    return input.log_softmax(_dimension("log_softmax", input, dim), dtype)

facts_of(threshold).body.__qualname__ = "_threshold"            # as Python's errors about arguments name PyTorch's
