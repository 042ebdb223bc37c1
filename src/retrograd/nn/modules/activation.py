"""Activation functions as modules, for use in a Sequential. Each module calls the function of its name.

Unless a docstring says otherwise, the input is a floating tensor of any shape, and the result has its shape and dtype.
With `inplace=True` the result overwrites the input.
"""

from __future__ import annotations

from typing import Any

from ...errors import warn
from ...tensors.functions.elementwise.elementary import sigmoid, tanh
from ...tensors.tensor import Tensor
from ..functional import activation as functional
from ..init import constant_
from .attention import MultiheadAttention
from .linear import uninitialized
from .module import Module
from .module.members import Member
from .softmax import LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]


class _Simple(Module):
    """An activation without options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class _InPlace(Module):
    """An activation that may overwrite its input."""

    inplace: bool

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _and_inplace(self, options: str) -> str:
        return f"{options}, inplace=True" if self.inplace else options


class _Either(_InPlace):
    """An activation whose only option is `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_Either):
    """max(x, 0) for each element x.

    >>> import retrograd as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """`functional.relu` of the input."""
        return functional.relu(input, self.inplace)


class SiLU(_Either):
    """x * sigmoid(x) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.silu` of the input."""
        return functional.silu(input, self.inplace)


class Mish(_Either):
    """x * tanh(softplus(x)) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.mish` of the input."""
        return functional.mish(input, self.inplace)


class SELU(_Either):
    """ELU with constants that keep mean and variance the same from layer to layer."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.selu` of the input."""
        return functional.selu(input, self.inplace)


class Hardtanh(_InPlace):
    """min(max(x, min_val), max_val) for each element x.

    Raises AssertionError unless `max_val` is greater than `min_val`.
    """

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
        warn(f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`", FutureWarning)
        return old

    def forward(self, input: Tensor) -> Tensor:
        """`functional.hardtanh` of the input."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """min(max(x, 0), 6) for each element x."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class LeakyReLU(_InPlace):
    """x for each positive element x, and negative_slope * x for each other element.

    >>> import retrograd as torch
    >>> torch.nn.LeakyReLU(0.1)(torch.tensor([-1., 2.]))
    tensor([-0.1000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.leaky_relu` of the input."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"negative_slope={self.negative_slope}")


class ELU(_InPlace):
    """x for each positive element x, and alpha * (exp(x) - 1) for each other element."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.elu` of the input."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"alpha={self.alpha}")


class CELU(ELU):
    """x for each positive element x, and alpha * (exp(x / alpha) - 1) for each other element."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.celu` of the input."""
        return functional.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """x times the probability that a standard normal number is less than x, for each element x.

    `approximate="tanh"` computes a faster approximation.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """`functional.gelu` of the input."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta for each element x, and x itself if beta * x is greater than `threshold`."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softplus` of the input."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Tanh(_Simple):
    """The hyperbolic tangent of each element."""

    def forward(self, input: Tensor) -> Tensor:
        """`torch.tanh` of the input."""
        return tanh(input)


class Sigmoid(_Simple):
    """1 / (1 + exp(-x)) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`torch.sigmoid` of the input."""
        return sigmoid(input)


class LogSigmoid(_Simple):
    """log(sigmoid(x)) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.logsigmoid` of the input."""
        return functional.logsigmoid(input)


class Softsign(_Simple):
    """x / (1 + |x|) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softsign` of the input."""
        return functional.softsign(input)


class Tanhshrink(_Simple):
    """x - tanh(x) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.tanhshrink` of the input."""
        return functional.tanhshrink(input)


class GLU(Module):
    """The first half of the input along `dim`, times the sigmoid of the second half."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """`functional.glu` of the input."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Shrinkage(Module):
    """An activation that is 0 between -lambd and lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrinkage):
    """x for each element x, and 0 for each element between -lambd and lambd."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.hardshrink` of the input."""
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrinkage):
    """x moved by `lambd` towards 0 for each element x, and 0 for each element between -lambd and lambd."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softshrink` of the input."""
        return functional.softshrink(input, self.lambd)


class _Hard(_Either):
    """An activation made of straight lines. Its text does not show the option."""

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_Hard):
    """x / 6 + 1 / 2 for each element x, limited to the interval from 0 to 1."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.hardsigmoid` of the input."""
        return functional.hardsigmoid(input, self.inplace)


class Hardswish(_Hard):
    """x * hardsigmoid(x) for each element x."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.hardswish` of the input."""
        return functional.hardswish(input, self.inplace)


class Threshold(_InPlace):
    """x for each element x greater than `threshold`, and `value` for each other element."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.threshold` of the input."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"threshold={self.threshold}, value={self.value}")


class PReLU(Module):
    """x for each positive element x, and weight * x for each other element.

    The weight is a parameter (num_parameters): one number, or one number for each channel (dimension 1).

    >>> import retrograd as torch
    >>> torch.nn.PReLU()(torch.tensor([-1., 2.]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)

    Raises RuntimeError if the number of weights does not fit the input.
    """

    weight = Member("_parameters")

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
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

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(_InPlace):
    """x for each positive element x, and slope * x for each other element.

    In training each slope is drawn uniformly from [lower, upper]. In evaluation every slope is the mean of both.
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        """`functional.rrelu` of the input."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"lower={self.lower}, upper={self.upper}")
