"""Activation functions as modules, for use in a Sequential. Each module calls the function of its name.

Unless a docstring says otherwise, the input is a floating tensor of any shape, and the result has its shape and dtype.
With `inplace=True` the result overwrites the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.functions.elementwise.elementary import sigmoid, tanh
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import activation as functional
from ..init import constant_
from .attention import MultiheadAttention
from .layer import Layer, uninitialized
from .module import Module
from .module.members import Member

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _Simple(Layer):
    """An activation without options."""

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input)


class _InPlace(Layer):
    """An activation that may overwrite its input. Its text ends with the option `inplace`, if that is true."""

    inplace: bool

    def extra_repr(self) -> str:
        return ", ".join(filter(None, (super().extra_repr(), "inplace=True" if self.inplace else "")))


class _Either(_InPlace):
    """An activation whose only option is `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.inplace)


class ReLU(_Either, function=functional.relu):
    """max(x, 0) for each element x.

    >>> import retrograd as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """


class SiLU(_Either, function=functional.silu):
    """x * sigmoid(x) for each element x."""


class Mish(_Either, function=functional.mish):
    """x * tanh(softplus(x)) for each element x."""


class SELU(_Either, function=functional.selu):
    """ELU with constants that keep mean and variance the same from layer to layer."""


class Hardtanh(_InPlace):
    """min(max(x, min_val), max_val) for each element x.

    Raises AssertionError unless `max_val` is greater than `min_val`.
    """

    _options_text = "min_val={self.min_val}, max_val={self.max_val}"

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 min_value: float | None = None, max_value: float | None = None) -> None:
        super().__init__()
        min_val = self._renamed("min", min_val, min_value)
        max_val = self._renamed("max", max_val, max_value)
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    @staticmethod
    def _renamed(name: str, value: float, old: float | None) -> float:
        """A limit. If the limit is given by its old name, a warning says so."""
        if old is None:
            return value
        warn(f"keyword argument `{name}_value` is deprecated and renamed to `{name}_val`", FutureWarning)
        return old

    def forward(self, input: Tensor) -> Tensor:
        """`functional.hardtanh` of the input."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6) for each element x."""

    _options_text = ""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class LeakyReLU(_InPlace):
    """x for each positive element x, and negative_slope * x for each other element.

    >>> import retrograd as torch
    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1., 2.]))
    tensor([-0.1000,  2.0000])
    """

    _options_text = "negative_slope={self.negative_slope}"

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.leaky_relu` of the input."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


class _Exponential(_InPlace):
    """What ELU and CELU share. Neither is a kind of the other."""

    _options_text = "alpha={self.alpha}"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.alpha, self.inplace)


class ELU(_Exponential, function=functional.elu):
    """x for each positive element x, and alpha * (exp(x) - 1) for each other element."""


class CELU(_Exponential, function=functional.celu):
    """x for each positive element x, and alpha * (exp(x / alpha) - 1) for each other element."""


class GELU(Layer):
    """x times the probability that a standard normal number is less than x, for each element x.

    `approximate="tanh"` computes a faster approximation.
    """

    _options_text = "approximate={self.approximate!r}"

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """`functional.gelu` of the input."""
        return functional.gelu(input, approximate=self.approximate)


class Softplus(Layer):
    """log(1 + exp(beta * x)) / beta for each element x, and x itself if beta * x is greater than `threshold`."""

    _options_text = "beta={self.beta}, threshold={self.threshold}"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softplus` of the input."""
        return functional.softplus(input, self.beta, self.threshold)


class Tanh(_Simple, function=tanh):
    """The hyperbolic tangent of each element."""


class Sigmoid(_Simple, function=sigmoid):
    """1 / (1 + exp(-x)) for each element x."""


class LogSigmoid(_Simple, function=functional.logsigmoid):
    """log(sigmoid(x)) for each element x."""


class Softsign(_Simple, function=functional.softsign):
    """x / (1 + |x|) for each element x."""


class Tanhshrink(_Simple, function=functional.tanhshrink):
    """x - tanh(x) for each element x."""


class _AlongDim(Layer):
    """A function along a dimension."""

    _options_text = "dim={self.dim}"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.dim)


class GLU(_AlongDim, function=functional.glu):
    """The first half of the input along `dim`, times the sigmoid of the second half."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)


class Softmax(_AlongDim, function=functional.softmax):
    """exp(x) divided by its sum along `dim`.

    >>> import retrograd as torch
    >>> torch.nn.Softmax(dim=0)(torch.tensor([0., 0.]))
    tensor([0.5000, 0.5000])
    """


class Softmin(_AlongDim, function=functional.softmin):
    """The softmax of -x along `dim`."""


class LogSoftmax(_AlongDim, function=functional.log_softmax):
    """The logarithm of the softmax along `dim`, computed without overflow."""


class Softmax2d(Module):
    """The softmax over the channels of images (N, C, H, W) or (C, H, W). Raises ValueError for other shapes."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softmax` of the input along the third dimension from the end."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)


class _Shrinkage(Layer):
    """An activation that is 0 between -lambd and lambd."""

    _options_text = "{self.lambd}"

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.lambd)


class Hardshrink(_Shrinkage, function=functional.hardshrink):
    """x for each element x, and 0 for each element between -lambd and lambd."""


class Softshrink(_Shrinkage, function=functional.softshrink):
    """x moved by `lambd` towards 0 for each element x, and 0 for each element between -lambd and lambd."""


class _Hard(_Either):
    """An activation made of straight lines. Its text does not show the option."""

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_Hard, function=functional.hardsigmoid):
    """x / 6 + 1 / 2 for each element x, limited to the interval from 0 to 1."""


class Hardswish(_Hard, function=functional.hardswish):
    """x * hardsigmoid(x) for each element x."""


class Threshold(_InPlace):
    """x for each element x greater than `threshold`, and `value` for each other element."""

    _options_text = "threshold={self.threshold}, value={self.value}"

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.threshold` of the input."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class PReLU(Layer):
    """x for each positive element x, and weight * x for each other element.

    The weight is a parameter (num_parameters): one number, or one number for each channel (dimension 1).

    >>> import retrograd as torch
    >>> torch.nn.PReLU()(torch.tensor([-1., 2.]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)

    Raises RuntimeError if the number of weights does not fit the input.
    """

    weight = Member("_parameters")
    _options_text = "num_parameters={self.num_parameters}"

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = uninitialized((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to their first value, `init`."""
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.prelu` of the input."""
        return functional.prelu(input, self.weight)


class RReLU(_InPlace):
    """x for each positive element x, and slope * x for each other element.

    In training each slope is drawn uniformly from [lower, upper]. In evaluation every slope is the mean of both.
    """

    _options_text = "lower={self.lower}, upper={self.upper}"

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.rrelu` of the input."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)
