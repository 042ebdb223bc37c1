"""Operations of all processes together, as nodes of the graph. Where there is one process, each gives a copy back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...autograd.function import Function
from ...errors import warn
from ...names import missing
from ...tensors.tensor import Tensor
from .. import collectives
from ..distributed_c10d import ProcessGroup, RedOpType, ReduceOp

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
           "reduce_scatter", "scatter"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


class _OfOneProcess(Function):
    """The last arguments are the tensors of this process. Their gradients are those of the results."""

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        options = len(ctx.needs_input_grad) - len(gradients)
        return (None,) * options + gradients


class _Broadcast(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result


class _Gather(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, dst: int, group: ProcessGroup | None, tensor: Tensor) -> tuple[Tensor, ...]:
        results = [tensor.new_zeros(tensor.shape)]
        collectives.gather(tensor, results, dst, group)
        return tuple(results)


class _Scatter(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup | None, *tensors: Tensor) -> Tensor:
        result = tensors[0].new_zeros(tensors[0].shape)
        collectives.scatter(result, list(tensors), src, group)
        return result


class _Reduce(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, dst: int, op: RedOpType, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        result = tensor.clone()
        collectives.reduce(result, dst, op, group)
        return result


class _Reduce_Scatter(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, op: RedOpType, group: ProcessGroup | None, output: Tensor, *tensors: Tensor) -> Tensor:
        collectives.reduce_scatter(output, list(tensors), op, group)
        return output


class _AllGather(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, tensor: Tensor) -> tuple[Tensor, ...]:
        results = [tensor.new_zeros(tensor.shape)]
        collectives.all_gather(results, tensor, group)
        return tuple(results)


class _AlltoAll(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, outputs: list[Tensor], *tensors: Tensor) -> tuple[Tensor, ...]:
        collectives.all_to_all(outputs, list(tensors), group)
        return tuple(outputs)


class _AlltoAllSingle(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, output: Tensor, sizes: tuple[Any, Any], tensor: Tensor) -> Tensor:
        collectives.all_to_all_single(output, tensor, *sizes, group)
        return output


class _AllReduce(_OfOneProcess):
    @staticmethod
    def forward(ctx: Any, op: RedOpType, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        result = tensor.clone()
        collectives.all_reduce(result, op, group)
        return result


def _deprecated(name: str, other: str = "") -> None:
    warn(f"torch.distributed.nn.functional.{name} is deprecated, use torch.distributed._functional_collectives."
         f"{other or name} instead.", FutureWarning)


def broadcast(tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Tensor:
    """Give all processes the tensor of the process `src`. Returns a copy."""
    _deprecated("broadcast")
    result: Tensor = _Broadcast.apply(src, group, tensor)
    return result


def gather(tensor: Tensor, dst: int = 0, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """Collect the tensors of all processes in the process `dst`. Returns them as a tuple."""
    result: tuple[Tensor, ...] = _Gather.apply(dst, group, tensor)
    return result


def scatter(tensors: Any, src: int = 0, group: ProcessGroup | None = None) -> Tensor:
    """Give each process one of the tensors of the process `src`. Returns the tensor of this process."""
    result: Tensor = _Scatter.apply(src, group, *tensors)
    return result


def reduce(tensor: Tensor, dst: int, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> Tensor:
    """Combine the tensors of all processes in the process `dst`. Returns the result."""
    result: Tensor = _Reduce.apply(dst, op, group, tensor)
    return result


def reduce_scatter(output: Tensor, input_list: Any, op: RedOpType = ReduceOp.SUM,
                   group: ProcessGroup | None = None) -> Tensor:
    """Combine lists of tensors over all processes, and write the item of this process into `output`."""
    _deprecated("reduce_scatter", "reduce_scatter_single")
    result: Tensor = _Reduce_Scatter.apply(op, group, output, *input_list)
    return result


def all_gather(tensor: Tensor, group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """Collect the tensors of all processes. Returns them as a tuple."""
    _deprecated("all_gather", "all_gather_single")
    result: tuple[Tensor, ...] = _AllGather.apply(group, tensor)
    return result


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: Any,
               group: ProcessGroup | None = None) -> tuple[Tensor, ...]:
    """Send one tensor to each process, and receive one from each. Returns the received tensors as a tuple."""
    result: tuple[Tensor, ...] = _AlltoAll.apply(group, output_tensor_list, *input_tensor_list)
    return result


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
                      group: ProcessGroup | None = None) -> Tensor:
    """Send a part of a tensor to each process, and write the received parts into `output`."""
    _deprecated("all_to_all_single")
    result: Tensor = _AlltoAllSingle.apply(group, output, (output_split_sizes, input_split_sizes), input)
    return result


def all_reduce(tensor: Tensor, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None) -> Tensor:
    """Combine the tensors of all processes. Returns the result; `tensor` keeps its numbers.

    >>> import warnings
    >>> import retrograd as torch
    >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1, store={})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.distributed.nn.all_reduce(torch.ones(2, requires_grad=True))
    tensor([1., 1.], grad_fn=<_AllReduceBackward>)
    >>> torch.distributed.destroy_process_group()
    """
    _deprecated("all_reduce")
    result: Tensor = _AllReduce.apply(op, group, tensor)
    return result
