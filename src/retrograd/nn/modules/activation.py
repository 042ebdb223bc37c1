"""Activation functions as modules, for use in a Sequential. Each calls the function of its name."""

from __future__ import annotations

from typing import Any

from ...errors import warn
from ..functional import activation as functional
from ..module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


class _Simple(Module):
    """An activation without options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


class _InPlace(Module):
    """An activation that may write over its input."""

    inplace: bool

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _and_inplace(self, options: str) -> str:
        return f"{options}, inplace=True" if self.inplace else options


class _Either(_InPlace):
    """An activation whose one option is to write over its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_Either):
    """max(x, 0).

    >>> import retrograd as torch
    >>> torch.nn.ReLU()(torch.tensor([-1., 2.]))
    tensor([0., 2.])
    """

    def forward(self, input: Any) -> Any:
        """`functional.relu` of the input."""
        return functional.relu(input, self.inplace)


class SiLU(_Either):
    """x * sigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """`functional.silu` of the input."""
        return functional.silu(input, self.inplace)


class Mish(_Either):
    """x * tanh(softplus(x))."""

    def forward(self, input: Any) -> Any:
        """`functional.mish` of the input."""
        return functional.mish(input, self.inplace)


class SELU(_Either):
    """ELU, scaled so that activations keep their mean and variance."""

    def forward(self, input: Any) -> Any:
        """`functional.selu` of the input."""
        return functional.selu(input, self.inplace)


class Hardtanh(_InPlace):
    """x, moved into [min_val, max_val]."""

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
        """A limit, by its old name, with a warning, where that is given."""
        if old is None:
            return value
        warn(f"keyword argument `{name}_value` is deprecated and rename to `{name}_val`", FutureWarning)
        return old

    def forward(self, input: Any) -> Any:
        """`functional.hardtanh` of the input."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"min_val={self.min_val}, max_val={self.max_val}")


class ReLU6(Hardtanh):
    """x, moved into [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class LeakyReLU(_InPlace):
    """x, and negative_slope * x where x is negative."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Any) -> Any:
        """`functional.leaky_relu` of the input."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"negative_slope={self.negative_slope}")


class ELU(_InPlace):
    """x, and alpha * (exp(x) - 1) where x is not positive."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        """`functional.elu` of the input."""
        return functional.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"alpha={self.alpha}")


class CELU(ELU):
    """x, and alpha * (exp(x / alpha) - 1) where x is not positive."""

    def forward(self, input: Any) -> Any:
        """`functional.celu` of the input."""
        return functional.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """x times the probability that a standard normal number is less than x; "tanh" for a quicker approximation."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """`functional.gelu` of the input."""
        return functional.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Any) -> Any:
        """`functional.softplus` of the input."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Tanh(_Simple):
    """The hyperbolic tangent."""

    def forward(self, input: Any) -> Any:
        """`functional.tanh` of the input."""
        return functional.tanh(input)


class Sigmoid(_Simple):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Any) -> Any:
        """`functional.sigmoid` of the input."""
        return functional.sigmoid(input)


class LogSigmoid(_Simple):
    """log(sigmoid(x))."""

    def forward(self, input: Any) -> Any:
        """`functional.logsigmoid` of the input."""
        return functional.logsigmoid(input)


class Softsign(_Simple):
    """x / (1 + |x|)."""

    def forward(self, input: Any) -> Any:
        """`functional.softsign` of the input."""
        return functional.softsign(input)


class Tanhshrink(_Simple):
    """x - tanh(x)."""

    def forward(self, input: Any) -> Any:
        """`functional.tanhshrink` of the input."""
        return functional.tanhshrink(input)


class _AlongDim(Module):
    """A function along a dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x), scaled to a sum of 1 along `dim`."""

    def forward(self, input: Any) -> Any:
        """`functional.softmax` of the input."""
        return functional.softmax(input, self.dim)


class Softmin(_AlongDim):
    """The softmax of -x."""

    def forward(self, input: Any) -> Any:
        """`functional.softmin` of the input."""
        return functional.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """log(softmax(x)), computed at once."""

    def forward(self, input: Any) -> Any:
        """`functional.log_softmax` of the input."""
        return functional.log_softmax(input, self.dim)
