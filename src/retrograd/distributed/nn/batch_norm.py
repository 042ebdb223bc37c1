"""Batch normalization whose batch is that of all processes of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ...autograd.grad_mode import no_grad
from ...foundations.launching import Everyone
from ...foundations.names import missing
from ...tensors.functions.creation.creation import full
from ...tensors.functions.shapes.joining import cat
from ...tensors.tensor import Tensor
from ..groups import ProcessGroup, member
from ..reductions import ReduceOp
from .functional import _AllReduce

__all__ = ["over_processes", "several"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def several(group: ProcessGroup | None) -> bool:
    """Whether the group has several processes."""
    return Everyone.group is not None and member(group).size() > 1


def over_processes(input: Tensor, running_mean: Any, running_var: Any, weight: Any, bias: Any, momentum: float,
                   eps: float, group: ProcessGroup | None) -> Tensor:
    """Normalize `input` by the mean and the variance over all processes. The running statistics move.

    Two sums travel: first of the numbers with their count, then of the squared distances from the mean. The gradients
    are those of the sums, so the backward pass sends two sums, too. Batches may have different sizes.
    """
    dims = [0, *range(2, input.dim())]
    shape = [1, -1] + [1] * (input.dim() - 2)
    local = cast(Tensor, full((1,), input.numel() // input.shape[1], dtype=input.dtype))
    sums = _AllReduce.apply(ReduceOp.SUM, group, cat([input.sum(dims), local]))
    count = sums[-1].detach()
    mean = sums[:-1] / count
    centered = input - mean.view(shape)
    variance = _AllReduce.apply(ReduceOp.SUM, group, centered.square().sum(dims)) / count
    with no_grad():
        for running, found in ((running_mean, mean), (running_var, variance * (count / (count - 1)))):
            if running is not None:
                running.mul_(1 - momentum).add_(found, alpha=momentum)
    result: Tensor = centered * (variance + eps).rsqrt().view(shape)
    if weight is not None:
        result = result * weight.view(shape)
    return result if bias is None else result + bias.view(shape)
