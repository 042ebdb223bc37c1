"""Softmax and its relatives as modules: numbers along a dimension whose sum is 1."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from ..functional import activation as functional
from .module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _AlongDim(Module):
    """A function along a dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x) divided by its sum along `dim`.

    >>> import retrograd as torch
    >>> torch.nn.Softmax(dim=0)(torch.tensor([0., 0.]))
    tensor([0.5000, 0.5000])
    """

    __module__ = "retrograd.nn.modules.activation"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softmax` of the input."""
        return functional.softmax(input, self.dim)


class Softmin(_AlongDim):
    """The softmax of -x along `dim`."""

    __module__ = "retrograd.nn.modules.activation"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softmin` of the input."""
        return functional.softmin(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of the softmax along `dim`, computed without overflow."""

    __module__ = "retrograd.nn.modules.activation"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.log_softmax` of the input."""
        return functional.log_softmax(input, self.dim)


class Softmax2d(Module):
    """The softmax over the channels of images (N, C, H, W) or (C, H, W). Raises ValueError for other shapes."""

    __module__ = "retrograd.nn.modules.activation"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.softmax` of the input along the third dimension from the end."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return functional.softmax(input, -3)
