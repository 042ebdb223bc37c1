"""Padding as modules: each kind for lines, images and volumes."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Tensor
from ..functional import padding as functional
from .module import Module
from .utils import repeated

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]


class _PadNd(Module):
    """Padding with elements of the input: one number for all ends, or one for each end, last dimension first."""

    dims = 0
    mode = ""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input."""
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input. Raises ValueError for another number of dimensions."""
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise ValueError(f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd):
    """Lines (N, C, L) or (C, L), continued at each end by the elements of the other end.

    >>> import retrograd as torch
    >>> torch.nn.CircularPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[2, 3, 1, 2, 3, 1, 2]])
    """

    dims = 1


class CircularPad2d(_CircularPadNd):
    """Images (N, C, H, W) or (C, H, W), continued at each end by the elements of the other end."""

    dims = 2


class CircularPad3d(_CircularPadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W), continued at each end by the elements of the other end."""

    dims = 3


class _ConstantPadNd(Module):
    """Padding with a number."""

    dims = 0

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = repeated(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input."""
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """`value` around the last dimension: `padding` times at each end, or (in front, behind).

    >>> import retrograd as torch
    >>> torch.nn.ConstantPad1d((1, 2), 7)(torch.tensor([[1, 2, 3]]))
    tensor([[7, 1, 2, 3, 7, 7]])
    """

    dims = 1


class ConstantPad2d(_ConstantPadNd):
    """`value` around the last two dimensions: `padding` times at each end, or (left, right, top, bottom)."""

    dims = 2


class ConstantPad3d(_ConstantPadNd):
    """`value` around the last three dimensions: `padding` times at each end, or six numbers, last dimension first."""

    dims = 3


class _ZeroPadNd(_ConstantPadNd):
    """Padding with zeros. It stands before a class that pads with a number."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd, ConstantPad1d):
    """`ConstantPad1d` with zeros."""


class ZeroPad2d(_ZeroPadNd, ConstantPad2d):
    """`ConstantPad2d` with zeros.

    >>> import retrograd as torch
    >>> torch.nn.ZeroPad2d((1, 0, 0, 1))(torch.ones(1, 2, 2))
    tensor([[[0., 1., 1.],
             [0., 1., 1.],
             [0., 0., 0.]]])
    """


class ZeroPad3d(_ZeroPadNd, ConstantPad3d):
    """`ConstantPad3d` with zeros."""


class ReflectionPad1d(_PadNd):
    """Lines (N, C, L) or (C, L), continued at each end by their mirror image.

    >>> import retrograd as torch
    >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[3, 2, 1, 2, 3, 2, 1]])
    """

    dims, mode = 1, "reflect"


class ReflectionPad2d(_PadNd):
    """Images (N, C, H, W) or (C, H, W), continued at each end by their mirror image."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_PadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W), continued at each end by their mirror image."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_PadNd):
    """Lines (N, C, L) or (C, L), with their first and last element repeated.

    >>> import retrograd as torch
    >>> torch.nn.ReplicationPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[1, 1, 1, 2, 3, 3, 3]])
    """

    dims, mode = 1, "replicate"


class ReplicationPad2d(_PadNd):
    """Images (N, C, H, W) or (C, H, W), with the elements at their border repeated."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_PadNd):
    """Volumes (N, C, D, H, W) or (C, D, H, W), with the elements at their border repeated."""

    dims, mode = 3, "replicate"
