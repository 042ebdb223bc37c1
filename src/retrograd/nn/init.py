"""Initial values of parameters. Each function fills a tensor of any dtype in place, and returns the tensor.

The random numbers are PyTorch's. No function is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import no_grad
from ..foundations.errors import noted, warn
from ..foundations.names import missing
from ..tensors.functions.creation.creation import empty_like, zeros_like
from ..tensors.functions.creation.random import randperm
from ..tensors.functions.linalg.factorizations import linalg_qr
from ..tensors.tensor import Tensor

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
    "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal",
    "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_", "xavier_normal",
    "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_GAINS: dict[str, float] = {
    "linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
    "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before a nonlinearity are scaled. `param` is the negative slope of "leaky_relu".

    >>> import retrograd as torch
    >>> torch.nn.init.calculate_gain("tanh")
    1.6666666666666667

    Raises ValueError for an unknown name.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise noted(
            ValueError(f"Unsupported nonlinearity {nonlinearity}"),
            instead=f"choose one of {', '.join(_GAINS)}, leaky_relu")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Fill with numbers drawn uniformly from [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Fill with normal samples."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
                  generator: Any = None) -> Any:
    """Fill with normal samples within [a, b]. Samples outside are drawn again."""

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
             "incorrect.")
    with no_grad():
        if below((b - mean) / std) - below((a - mean) / std) > 0.3:
            low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
            result = tensor.normal_(mean, std, generator=generator)
            while bool((outside := (result < low) | (result > high)).any()):
                result = empty_like(tensor).normal_(mean, std, generator=generator).where(outside, result)
            return tensor if result is tensor else tensor.copy_(result)
        return _in_the_tail(tensor, mean, std, a, b, generator)


def _in_the_tail(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """The same if few samples lie within [a, b]: uniform numbers, kept with the probability of their density."""
    nearest = max(a, min(mean, b))
    highest = -0.5 * ((nearest - mean) / std) ** 2
    result, pending = tensor, None
    while pending is None or bool(pending.any()):
        if pending is None:
            drawn = tensor.uniform_(a, b, generator=generator)
        else:
            drawn = empty_like(tensor).uniform_(a, b, generator=generator)
            result = drawn.where(pending, result)
        log_density = ((drawn - mean) / std) ** 2 * -0.5 - highest
        refused = empty_like(tensor).uniform_(generator=generator).log() > log_density
        pending = refused if pending is None else pending & refused
    return tensor if result is tensor else tensor.copy_(result)


def constant_(tensor: Tensor, val: float) -> Any:
    """Fill with one number.

    >>> import retrograd as torch
    >>> torch.nn.init.constant_(torch.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Any:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Any:
    """Fill with the identity matrix. Raises ValueError if the tensor is not a matrix."""
    if tensor.ndimension() != 2:
        raise noted(ValueError("Only tensors with 2 dimensions are supported"), given=f"{tensor.ndim} dimensions")
    with no_grad():
        identity = zeros_like(tensor)
        identity.diagonal().fill_(1.0)
        return tensor.copy_(identity)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The number of inputs of an output of this layer, and the number of outputs of an input."""
    if tensor.dim() < 2:
        raise noted(
            ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
            given=f"the shape is {list(tensor.shape)}")
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Any:
    """Fill with uniform numbers that keep the variances of activations and gradients equal (Glorot and Bengio, 2010).

    Raises ValueError for fewer than two dimensions.
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Any:
    """The same as `xavier_uniform_` with normal samples."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor)))), generator)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The number of inputs for "fan_in", and of outputs for "fan_out". Raises ValueError for another mode."""
    mode, modes = mode.lower(), ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _is_empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return True
    return False


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Any = None) -> Any:
    """Fill with uniform numbers that keep the variance through rectifiers (He and others, 2015).

    `a` is the negative slope of "leaky_relu". The mode "fan_in" keeps the variance of activations, "fan_out" the
    variance of gradients. Raises ValueError for an unknown mode or nonlinearity, and for fewer than two dimensions.
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: Any = None) -> Any:
    """The same as `kaiming_uniform_` with normal samples."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Any:
    """Fill with a matrix whose rows, or columns if there are fewer columns, are orthogonal and have length `gain`.

    All dimensions but the first are joined. Raises ValueError for fewer than two dimensions, NotImplementedError for
    the types of 16 bits and for complex numbers.
    """
    if tensor.ndimension() < 2:
        raise noted(
            ValueError("Only tensors with 2 or more dimensions are supported"), given=f"{tensor.ndim} dimensions")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    q, r = linalg_qr(drawn.t() if rows < columns else drawn)
    q *= r.diagonal().sign()
    with no_grad():
        tensor.view(rows, columns).copy_(q.t() if rows < columns else q)
        return tensor.mul_(gain)


def dirac_(tensor: Tensor, groups: int = 1) -> Any:
    """Fill with the weights of a convolution that returns its input channels, as many as the output has.

    Raises ValueError unless the tensor has 3, 4 or 5 dimensions, and unless the first is a multiple of `groups`.
    """
    if tensor.ndimension() not in (3, 4, 5):
        raise noted(
            ValueError("Only tensors with 3, 4, or 5 dimensions are supported"), given=f"{tensor.ndim} dimensions")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups:
        raise noted(
            ValueError("dim 0 must be divisible by groups"),
            because=f"its size is {out_channels}, and groups is {groups}")
    each = out_channels // groups
    middle = [size // 2 for size in kernel]
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, in_channels)):
                tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Fill with normal samples, and set a part `sparsity` of the rows to zero in each column (Martens, 2010).

    Raises ValueError if the tensor is not a matrix.
    """
    if tensor.ndimension() != 2:
        raise noted(ValueError("Only tensors with 2 dimensions are supported"), given=f"{tensor.ndim} dimensions")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


# Other names of these functions, which programs import from PyTorch
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_


# The deprecated names, without the underscore

def _make_deprecate(meth: Callable[..., Any]) -> Callable[..., Any]:
    """A function under its old name. A call warns that the name is deprecated."""
    name = meth.__name__[:-1]

    def call(*args: Any, **kwargs: Any) -> Any:
        warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return meth(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The old name of `{name}_`. A call warns that the name is deprecated."
    return call


uniform, normal, constant = _make_deprecate(uniform_), _make_deprecate(normal_), _make_deprecate(constant_)
eye, dirac = _make_deprecate(eye_), _make_deprecate(dirac_)
xavier_uniform, xavier_normal = _make_deprecate(xavier_uniform_), _make_deprecate(xavier_normal_)
kaiming_uniform, kaiming_normal = _make_deprecate(kaiming_uniform_), _make_deprecate(kaiming_normal_)
orthogonal, sparse = _make_deprecate(orthogonal_), _make_deprecate(sparse_)
