"""Images with other sizes, as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import resampling as functional
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class Upsample(Module):
    """`functional.interpolate` with the module's options.

    >>> import retrograd as torch
    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1., 2.]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                 align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> None:
        super().__init__()
        self.name, self.size = type(self).__name__, size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple([float(factor) for factor in scale_factor])
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`functional.interpolate` of the input."""
        return functional.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners,
                                      self.recompute_scale_factor)

    def extra_repr(self) -> str:
        size = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images (N, C, H, W) with other sizes, made of the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Images (N, C, H, W) with other sizes, bilinear between elements. The outermost elements stay in place."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
