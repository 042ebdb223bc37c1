"""Operations of all processes together, as nodes of the graph. The gradient of each is such an operation, too.

So all processes must run the same backward passes in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...autograd.function import Function
from ...foundations.errors import warn
from ...foundations.names import missing
from ...tensors.tensor import Tensor
from .. import collectives, exchanges
from ..groups import ProcessGroup, member
from ..reductions import RedOpType, ReduceOp

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce",
           "reduce_scatter", "scatter"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _is(rank: int, group: ProcessGroup | None) -> bool:
    """Whether this process has this rank among all processes."""
    place = member(group)
    return place.ranks[place.rank()] == rank


def _like(tensor: Tensor, group: ProcessGroup | None) -> list[Tensor]:
    """Zeros in the shape of a tensor, for each process of the group."""
    return [tensor.new_zeros(tensor.shape) for _ in range(member(group).size())]


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        found = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, gradient)
        return None, None, found if _is(ctx.src, ctx.group) else found * 0


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: ProcessGroup | None, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.dst, ctx.group = dst, group
        results = _like(tensor, group)
        collectives.gather(tensor.contiguous(), results if _is(dst, group) else None, dst, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *gradients)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup | None, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        if len({tensor.shape for tensor in tensors}) > 1:
            raise AssertionError("the tensors of scatter must have one shape")
        result = tensors[0].new_zeros(tensors[0].shape)
        collectives.scatter(result, list(tensors) if _is(src, group) else None, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, None, *_Gather.apply(ctx.src, ctx.group, gradient)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: RedOpType, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        result = tensor.clone()
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, gradient)


class _Reduce_Scatter(Function):
    @staticmethod
    def forward(ctx: Any, op: RedOpType, group: ProcessGroup | None, output: Tensor, *tensors: Tensor) -> Tensor:
        ctx.group = group
        collectives.reduce_scatter(output, list(tensors), op, group)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, None, None, *_AllGather.apply(ctx.group, gradient)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        results = _like(tensor, group)
        collectives.all_gather(results, tensor, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        into = gradients[0].new_zeros(gradients[0].shape)
        return None, _Reduce_Scatter.apply(ReduceOp.SUM, ctx.group, into, *gradients)


class _AlltoAll(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, outputs: list[Tensor], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.group, ctx.shapes = group, [tensor.shape for tensor in tensors]
        exchanges.all_to_all(outputs, list(tensors), group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        into = [gradients[0].new_zeros(shape) for shape in ctx.shapes]
        return None, None, *_AlltoAll.apply(ctx.group, into, *gradients)


class _AlltoAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup | None, output: Tensor, sizes: tuple[Any, Any], tensor: Tensor) -> Tensor:
        ctx.group, ctx.sizes, ctx.shape = group, sizes, tensor.shape
        exchanges.all_to_all_single(output, tensor, *sizes, group)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        into = gradient.new_zeros(ctx.shape)
        return None, None, None, _AlltoAllSingle.apply(ctx.group, into, ctx.sizes[::-1], gradient)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: RedOpType, group: ProcessGroup | None, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.clone()
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, gradient)


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
