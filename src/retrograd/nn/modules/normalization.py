"""Layers that normalise: over the batch, each element of it, the last dimensions, groups of channels, neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ...dtypes import default_floating
from ...errors import warn
from ...tensors.state.base import plain
from .. import init
from ..functional import norms as functional
from ..members import Member
from ..module import Module
from .linear import uninitialized

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
           "InstanceNorm3d", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _Affine(Module):
    """A layer that may have a weight, which starts with ones, and a bias, which starts with zeros."""

    weight = Member("_parameters")
    bias = Member("_parameters")

    def _register(self, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any) -> None:
        self.register_parameter("weight", uninitialized(shape, device, dtype) if weight else None)
        self.register_parameter("bias", uninitialized(shape, device, dtype) if weight and bias else None)

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
            if "bias" in self._parameters and self.bias is not None:
                init.zeros_(self.bias)


class _Norm(_Affine):
    """A layer with a mean and a variance for each channel, which may be tracked."""

    _version = 2
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    running_mean = Member("_buffers")
    running_var = Member("_buffers")
    num_batches_tracked = Member("_buffers")
    _ranks: tuple[int, ...] = ()

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._register((num_features,), affine, bias, device, dtype)
        kind = default_floating() if dtype is None else dtype.dtype
        start = {"running_mean": np.zeros(num_features, kind), "running_var": np.ones(num_features, kind),
                 "num_batches_tracked": np.zeros((), np.int64)}
        for name, value in start.items():
            self.register_buffer(name, plain(value) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what was tracked."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget what was tracked, and set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        """Raises ValueError for a wrong number of dims."""
        if input.dim() not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, local_metadata: Mapping[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """What was saved before version 2 has no `num_batches_tracked`."""
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict = {**state_dict, key: self.num_batches_tracked}
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class _BatchNorm(_Norm):
    def forward(self, input: Any) -> Any:
        """`functional.batch_norm`; in training it moves the running statistics, with momentum None to their mean."""
        self._check_input_dim(input)
        tracked, factor = self.track_running_stats, self.momentum or 0.0
        if self.training and tracked and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        used = tracked or not self.training
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        return functional.batch_norm(input, self.running_mean if used else None, self.running_var if used else None,
                                     self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) less its mean, divided by its deviation; then times weight, plus bias.

    In training these are the batch's own, and the running ones move towards them; in evaluation the running ones.

    >>> import retrograd as torch
    >>> torch.nn.BatchNorm1d(2)
    BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """As BatchNorm1d, of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """As BatchNorm1d, of (N, C, D, H, W)."""

    _ranks = (5,)


class _InstanceNorm(_Norm):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device: Any = None, dtype: Any = None, *,
                 bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Any) -> Any:
        """`functional.instance_norm`, also of an input without the dim of the batch."""
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
    """Each channel of each element of (N, C, L), or of (C, L), less its mean, divided by its deviation."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """As InstanceNorm1d, of (N, C, H, W) or (C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """As InstanceNorm1d, of (N, C, D, H, W) or (C, D, H, W)."""

    _ranks = (4, 5)


def _shape(sizes: Any) -> tuple[int, ...]:
    return (int(sizes),) if isinstance(sizes, Integral) else tuple(sizes)


class LayerNorm(_Affine):
    """The input less its mean over the last dims, of sizes `normalized_shape`, divided by its deviation.

    It is then multiplied by a weight plus a bias of that shape, unless `elementwise_affine` is False.
    """

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        self._register(self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """`functional.layer_norm` of the input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class GroupNorm(_Affine):
    """The input (N, C, …) less its mean over each of `num_groups` groups of channels, divided by its deviation.

    It is then multiplied by a weight plus a bias for each channel, unless `affine` is False.
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register((num_channels,), affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """`functional.group_norm` of the input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(_Affine):
    """The input, divided by the root of the mean of its squares over the last dims; times a weight."""

    def __init__(self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        self.register_parameter(
            "weight", uninitialized(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.reset_parameters()

    def forward(self, x: Any) -> Any:
        """`functional.rms_norm` of the input."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """The input (N, C, …), divided by a power of the mean of the squares of `size` channels around each."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        """`functional.local_response_norm` of the input."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
