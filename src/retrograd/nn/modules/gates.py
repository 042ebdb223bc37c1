"""More activation functions as modules: gates, shrinkages, thresholds, learned and random slopes."""

from __future__ import annotations

from typing import Any

from ..functional import activation, gates as functional
from ..init import constant_
from ..members import Member
from ..module import Module
from .activation import _Either, _InPlace
from .linear import uninitialized

__all__ = [
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "PReLU",
    "RReLU",
    "Softmax2d",
    "Softshrink",
    "Threshold",
]


class GLU(Module):
    """The first half along `dim`, times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """`functional.glu` of the input."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _Shrinkage(Module):
    """What is 0 in [-lambd, lambd]."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrinkage):
    """x, and 0 where it is in [-lambd, lambd]."""

    def forward(self, input: Any) -> Any:
        """`functional.hardshrink` of the input."""
        return functional.hardshrink(input, self.lambd)


class Softshrink(_Shrinkage):
    """x, brought nearer to 0 by lambd; 0 where it is in [-lambd, lambd]."""

    def forward(self, input: Any) -> Any:
        """`functional.softshrink` of the input."""
        return functional.softshrink(input, self.lambd)


class _Hard(_Either):
    """An activation made of straight lines, which prints without its option."""

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_Hard):
    """x / 6 + 1 / 2, moved into [0, 1]."""

    def forward(self, input: Any) -> Any:
        """`functional.hardsigmoid` of the input."""
        return functional.hardsigmoid(input, self.inplace)


class Hardswish(_Hard):
    """x * hardsigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """`functional.hardswish` of the input."""
        return functional.hardswish(input, self.inplace)


class Threshold(_InPlace):
    """x, and `value` where it is not above the threshold."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Any) -> Any:
        """`functional.threshold` of the input."""
        return functional.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"threshold={self.threshold}, value={self.value}")


class PReLU(Module):
    """x, and weight * x where it is not positive. The weight is a parameter: one number, or one for each channel.

    >>> import retrograd as torch
    >>> torch.nn.PReLU()(torch.tensor([-1., 2.]))
    tensor([-0.2500,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    weight = Member("_parameters")

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = uninitialized((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to what they were made with."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """`functional.prelu` of the input."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(_InPlace):
    """x, and x times a slope where it is negative: in training one drawn from [lower, upper], else the middle."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        """`functional.rrelu` of the input."""
        return functional.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._and_inplace(f"lower={self.lower}, upper={self.upper}")


class Softmax2d(Module):
    """The softmax over the channels of images, (N, C, H, W) or (C, H, W). Raises ValueError for other shapes."""

    def forward(self, input: Any) -> Any:
        """`functional.softmax` of the input along the third dimension from the end."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return activation.softmax(input, -3)
