"""Instance normalization as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import norms as functional
from .batchnorm import _LazyNormBase, _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
           "LazyInstanceNorm3d"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _InstanceNorm(_NormBase):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device: DeviceLike | None = None, dtype: torch_dtype | None = None,
                 *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """`functional.instance_norm` of the input, which may lack the dimension of the batch."""
        self._check_input_dim(input)
        alone = input.dim() == self._ranks[0]
        dim = 0 if alone else 1
        if input.shape[dim] != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={dim} to match num_features ({self.num_features}), but "
                                 f"got: {input.shape[dim]}.")
            warn(f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing "
                 "in num_features, which is not used because affine=False", UserWarning)
        result = functional.instance_norm(
            input.unsqueeze(0) if alone else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum or 0.0, self.eps)
        return result.squeeze(0) if alone else result


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) or (C, L), less its mean and divided by its deviation.

    With `affine` the result is multiplied by weight (C), and bias (C) is added. With `track_running_stats` evaluation
    uses the running mean and variance. Raises ValueError for another number of dimensions and if each channel has one
    value.
    """

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`InstanceNorm1d` for images (N, C, H, W) or (C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm1d` for volumes (N, C, D, H, W) or (C, D, H, W)."""

    _ranks = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """An `InstanceNorm1d` that takes `num_features` from its first input. By default it has all its options."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """An `InstanceNorm2d` that takes `num_features` from its first input. By default it has all its options."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """An `InstanceNorm3d` that takes `num_features` from its first input. By default it has all its options."""

    cls_to_become = InstanceNorm3d
