"""Layers that normalize the last dimensions, groups of channels, or neighboring channels of each sample."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.arguments.size import Size
from ...tensors.tensor import Tensor
from .. import init
from ..borrowed import borrowing
from ..functional import norms as functional
from ._functions import CrossMapLRN2d as _cross_map_lrn2d
from .layer import Layer, Weighted, uninitialized

__all__ = ["CrossMapLRN2d", "LayerNorm", "GroupNorm", "RMSNorm", "LocalResponseNorm"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

_shape_t = int | list[int] | Size                           # programs annotate with this type


class _Affine(Weighted):
    """A module that may have a weight, which starts with ones, and a bias, which starts with zeros."""

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
            if self._parameters.get("bias") is not None:
                init.zeros_(self.bias)


def _shape(sizes: Any) -> tuple[int, ...]:
    return (int(sizes),) if isinstance(sizes, Integral) else tuple(sizes)


class LayerNorm(_Affine):
    """The input, less its mean over the last dimensions and divided by its deviation; then times weight, plus bias.

    `normalized_shape` has the sizes of these dimensions, and is the shape of weight and bias. Without
    `elementwise_affine` there is neither.

    >>> import retrograd as torch
    >>> torch.nn.LayerNorm(2)(torch.tensor([[1., 3.]])).detach()
    tensor([[-1.0000,  1.0000]])

    Raises RuntimeError if the shapes do not fit.
    """

    _options_text = "{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={bias}"

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        shape = self.normalized_shape if elementwise_affine else None
        self._own(shape, shape if bias else None, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.layer_norm` of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(_Affine):
    """The input (N, C, …), less its mean over each of `num_groups` groups of channels, divided by its deviation.

    With `affine` the result is multiplied by weight (C), and bias (C) is added. Raises ValueError if `num_groups` does
    not divide `num_channels`.
    """

    _options_text = "{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={bias}"

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._own((num_channels,) if affine else None, (num_channels,) if affine and bias else None, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.group_norm` of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class RMSNorm(_Affine):
    """The input, divided by the root of its mean square over the last dimensions; then times weight.

    `normalized_shape` has the sizes of these dimensions, and is the shape of the weight.
    """

    _options_text = "{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"

    def __init__(self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        self.register_parameter(
            "weight", uninitialized(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """`functional.rms_norm` of the input."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class LocalResponseNorm(Layer):
    """The input (N, C, …), divided by (k + alpha * m) ** beta. m is the mean square of the `size` nearest channels."""

    _options_text = "{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """`functional.local_response_norm` of the input."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(Layer):
    """`LocalResponseNorm` of images (N, C, H, W), as PyTorch had it first.

    Channel 0 belongs to the mean squares of all channels, and the gradient is PyTorch's, which is not quite the
    derivative. Raises ValueError for another number of dimensions.
    """

    _options_text = "{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """The normalized images."""
        result: Tensor = _cross_map_lrn2d.apply(input, self.size, self.alpha, self.beta, self.k)
        return result
