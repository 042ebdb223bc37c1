"""Batch normalization as modules, and what these share with instance normalization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype, int64
from ...foundations.names import reached
from ...tensors.functions.creation.creation import empty, zeros
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import norms as functional
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .lazy import LazyModuleMixin
from .module import Module
from .module.members import Member
from .normalization import _Affine

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
           "SyncBatchNorm"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _NormBase(_Affine):
    """A module with a mean and a variance for each channel, which may be tracked."""

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
    _options_text = ("{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                     "bias={bias}, track_running_stats={self.track_running_stats}")

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike | None = None, dtype: torch_dtype | None = None,
                 *, bias: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, shape, kind in (("running_mean", (num_features,), dtype), ("running_var", (num_features,), dtype),
                                  ("num_batches_tracked", (), int64)):
            buffer: Any = empty(shape, dtype=kind, device=device) if track_running_stats else None
            self.register_buffer(name, buffer)
        self._own((num_features,) if affine else None, (num_features,) if affine and bias else None, device, dtype)

    def reset_running_stats(self) -> None:
        """Set the tracked mean to 0 and the tracked variance to 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset what is tracked, and set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        """Raises ValueError for another number of dimensions."""
        if input.dim() not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, local_metadata: Mapping[str, Any],
                              strict: bool, missing_keys: list[str], unexpected_keys: list[str],
                              error_msgs: list[str]) -> None:
        """A state that was saved before version 2 has no `num_batches_tracked`."""
        key = f"{prefix}num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict = {**state_dict, key: self.num_batches_tracked}
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """`functional.batch_norm` of the input. In training the running statistics move.

        With `momentum=None` they are the means over all batches.
        """
        self._check_input_dim(input)
        tracked, factor = self.track_running_stats, self.momentum or 0.0
        if self.training and tracked and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        used = tracked or not self.training
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        return self._normalized(input, self.running_mean if used else None, self.running_var if used else None,
                                by_batch, factor)

    def _normalized(self, input: Tensor, mean: Tensor | None, variance: Tensor | None, by_batch: bool,
                    factor: float) -> Tensor:
        return functional.batch_norm(input, mean, variance, self.weight, self.bias, by_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L), less its mean and divided by its deviation; then times weight, plus bias.

    In training the mean and the variance are those of the batch, and the running ones move towards them by `momentum`.
    In evaluation the running ones are used. Weight and bias have shape (C).

    >>> import retrograd as torch
    >>> norm = torch.nn.BatchNorm1d(2)
    >>> norm
    BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    >>> norm(torch.tensor([[1., 10.], [3., 30.]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])

    Raises ValueError for another number of dimensions, and in training if each channel has one value.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`BatchNorm1d` for images (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm1d` for volumes (N, C, D, H, W)."""

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm1d` for any number of dimensions, whose batch is that of all processes of `process_group`.

    In training, all processes of the group must call the module, and run its backward pass, the same number of times.
    Before `torch.distributed.init_process_group`, and in evaluation, it is like `BatchNorm1d`.

    >>> import retrograd as torch
    >>> torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm2d(3))
    SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group: Any = None, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _normalized(self, input: Tensor, mean: Any, variance: Any, by_batch: bool, factor: float) -> Tensor:
        if by_batch and self.training:
            over = reached("distributed.nn.batch_norm")
            if over.several(self.process_group):
                found: Tensor = over.over_processes(input, mean, variance, self.weight, self.bias, factor, self.eps,
                                                    self.process_group)
                return found
        return super()._normalized(input, mean, variance, by_batch, factor)

    def _check_input_dim(self, input: Tensor) -> None:
        """Raises ValueError for an input without channels."""
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with a `SyncBatchNorm` in place of each batch normalization. They share their parameters."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine,
                                      module.track_running_stats, process_group, bias=module.bias is not None)
            for name in ("weight", "bias"):
                if getattr(module, name) is not None:
                    setattr(converted, name, getattr(module, name))
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(converted, name, getattr(module, name))
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _LazyNormBase(LazyModuleMixin):
    """What lazy batch and instance normalization share."""

    num_features: int
    affine: bool
    track_running_stats: bool
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(self, eps: float = 1e-5, momentum: Any = 0.1, affine: bool = True, track_running_stats: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None, *, bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = zeros((), dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """Reset everything that has a shape."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()                                            # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Give parameters and buffers the number of channels of the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if is_lazy(tensor):
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A `BatchNorm3d` that takes `num_features` from its first input."""

    cls_to_become = BatchNorm3d
