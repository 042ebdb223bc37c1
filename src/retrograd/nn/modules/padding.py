"""Padding as modules: each kind for lines, images and volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.functions.images import padding as functional
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from .layer import Layer
from .utils import repeated

__all__ = ["CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
           "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
           "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _PadNd(Layer):
    """Padding with elements of the input: one number for all ends, or one for each end, last dimension first."""

    mode = ""
    _options_text = "{self.padding}"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input."""
        return functional.pad(input, self.padding, self.mode)


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input. Raises ValueError for another number of dimensions."""
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise ValueError(f"expected {self.dims + 1}D or {self.dims + 2}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd, dims=1):
    """Lines (N, C, L) or (C, L), continued at each end by the elements of the other end.

    >>> import retrograd as torch
    >>> torch.nn.CircularPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[2, 3, 1, 2, 3, 1, 2]])
    """


class CircularPad2d(_CircularPadNd, dims=2):
    """Images (N, C, H, W) or (C, H, W), continued at each end by the elements of the other end."""


class CircularPad3d(_CircularPadNd, dims=3):
    """Volumes (N, C, D, H, W) or (C, D, H, W), continued at each end by the elements of the other end."""


class _ConstantPadNd(Layer):
    """Padding with a number."""

    _options_text = "padding={self.padding}, value={self.value}"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__()
        self.value = value
        self.padding = repeated(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pad` of the input."""
        return functional.pad(input, self.padding, "constant", self.value)


class ConstantPad1d(_ConstantPadNd, dims=1):
    """`value` around the last dimension: `padding` times at each end, or (in front, behind).

    >>> import retrograd as torch
    >>> torch.nn.ConstantPad1d((1, 2), 7)(torch.tensor([[1, 2, 3]]))
    tensor([[7, 1, 2, 3, 7, 7]])
    """


class ConstantPad2d(_ConstantPadNd, dims=2):
    """`value` around the last two dimensions: `padding` times at each end, or (left, right, top, bottom)."""


class ConstantPad3d(_ConstantPadNd, dims=3):
    """`value` around the last three dimensions: `padding` times at each end, or six numbers, last dimension first."""


class _ZeroPadNd(_ConstantPadNd):
    """Padding with zeros. It stands before a class that pads with a number."""

    _options_text = "{self.padding}"

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)


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


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, dims=1):
    """Lines (N, C, L) or (C, L), continued at each end by their mirror image.

    >>> import retrograd as torch
    >>> torch.nn.ReflectionPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[3, 2, 1, 2, 3, 2, 1]])
    """


class ReflectionPad2d(_ReflectionPadNd, dims=2):
    """Images (N, C, H, W) or (C, H, W), continued at each end by their mirror image."""


class ReflectionPad3d(_ReflectionPadNd, dims=3):
    """Volumes (N, C, D, H, W) or (C, D, H, W), continued at each end by their mirror image."""


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, dims=1):
    """Lines (N, C, L) or (C, L), with their first and last element repeated.

    >>> import retrograd as torch
    >>> torch.nn.ReplicationPad1d(2)(torch.tensor([[1, 2, 3]]))
    tensor([[1, 1, 1, 2, 3, 3, 3]])
    """


class ReplicationPad2d(_ReplicationPadNd, dims=2):
    """Images (N, C, H, W) or (C, H, W), with the elements at their border repeated."""


class ReplicationPad3d(_ReplicationPadNd, dims=3):
    """Volumes (N, C, D, H, W) or (C, D, H, W), with the elements at their border repeated."""
