"""Operations of all processes together, where there is one process: each gives back what this process has."""

from __future__ import annotations

from typing import Any, NoReturn

from ..autograd.grad_mode import no_grad
from ..tensors.tensor import Tensor
from .distributed_c10d import ProcessGroup, RedOpType, ReduceOp, member

__all__ = [
    "Work", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all",
    "all_to_all_single", "barrier", "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend",
    "monitored_barrier", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter",
    "scatter_object_list", "send"]


class Work:
    """An operation that the program asked for with `async_op=True`. It is complete."""

    def wait(self, timeout: Any = None) -> bool:
        """Wait for the operation. Returns True."""
        return True

    def is_completed(self) -> bool:
        """Whether the operation is complete: yes."""
        return True


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _checked(tensor: Any, name: str = "tensor") -> Tensor:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             "
                        f"but got {type(tensor)} instead.")
    return tensor


def _check_root(operation: str, root: int | None, in_group: int | None) -> None:
    """Raises ValueError if no process is named, RuntimeError for another process than this one."""
    if root is None and in_group is None:
        raise ValueError("Must specify global_rank or group_rank")
    found = in_group if root is None else root
    if found != 0:
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid root rank: {found}")


def _copy(operation: str, outputs: Any, inputs: Any) -> None:
    """Write the tensors that this process gives over the tensors that receive them. One of each is expected."""
    if len(outputs) != 1 or len(inputs) != 1:
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid output tensor list at index 0 (expected length 1, "
                           f"got {len(outputs) if len(outputs) != 1 else len(inputs)})")
    output, given = _checked(outputs[0]), _checked(inputs[0])
    if output.dtype is not given.dtype:
        raise ValueError(f"Invalid usage of tensors with different dtypesFound {output.dtype} and  {given.dtype}")
    if output.shape != given.shape:
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid tensor size at index 0 (expected "
                           f"{tuple(given.shape)}, got {tuple(output.shape)})")
    with no_grad():
        output.copy_(given)


def all_reduce(tensor: Tensor, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Replace the tensor of each process by the sum of all: of one process, by itself.

    >>> import retrograd as torch
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> x = torch.ones(2)
    >>> torch.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises ValueError before `init_process_group`, TypeError if `tensor` is no tensor, RuntimeError for a bitwise
    operation of floats.
    """
    _checked(tensor)
    member(group)
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and tensor.is_floating_point():
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
    return _done(async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """`all_reduce` whose result only the process `dst` receives."""
    _check_root("reduce", dst, group_dst)
    return all_reduce(tensor, op, group, async_op)


def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Replace the tensor of each process by that of the process `src`, which must be 0."""
    _checked(tensor)
    member(group)
    _check_root("broadcast", src, group_src)
    return _done(async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Write the tensors of all processes over those in `tensor_list`, which has one for each process."""
    member(group)
    _copy("allgather", tensor_list, [tensor])
    return _done(async_op)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                           async_op: bool = False) -> Work | None:
    """Write the tensors of all processes, joined, over `output_tensor`."""
    return all_gather([output_tensor], input_tensor, group, async_op)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
           group: ProcessGroup | None = None, async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """Write the tensors of all processes over those in `gather_list`, in the process `dst`."""
    member(group)
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _copy("gather", gather_list, [tensor])
    return _done(async_op)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
            group: ProcessGroup | None = None, async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Write over `tensor` the one in `scatter_list` that is for this process."""
    member(group)
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _copy("scatter", [tensor], scatter_list)
    return _done(async_op)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: RedOpType = ReduceOp.SUM,
                   group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Write over `output` the sum of what all processes have for this one."""
    member(group)
    _copy("reduce_scatter", [output], input_list)
    return _done(async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: RedOpType = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`reduce_scatter` of one tensor, which has the parts for all processes."""
    return reduce_scatter(output, [input], op, group, async_op)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Write over the outputs what each process has for this one."""
    member(group)
    _copy("alltoall", output_tensor_list, input_tensor_list)
    return _done(async_op)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
                      group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`all_to_all` of one tensor, which has the parts for all processes."""
    return all_to_all([output], [input], group, async_op)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None,
            timeout: Any = None) -> Work | None:
    """Wait for all processes."""
    member(group)
    return _done(async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait for all processes."""
    member(group)


# Objects of any kind

def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Put the objects of all processes into `object_list`, which has a place for each process."""
    member(group)
    object_list[0] = obj


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: ProcessGroup | None = None,
                          device: Any = None, group_src: int | None = None) -> None:
    """Replace the objects of each process by those of the process `src`."""
    member(group)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """Put the objects of all processes into `object_gather_list`, in the process `dst`."""
    member(group)
    if object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = obj


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: ProcessGroup | None = None,
                        group_src: int | None = None) -> None:
    """Put into the first list the object of the second that is for this process."""
    member(group)
    if scatter_object_input_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    scatter_object_output_list[0] = scatter_object_input_list[0]


# Messages from process to process

def _alone(named: str, rank: int | None) -> NoReturn:
    member()
    if rank == 0:
        raise ValueError(f"Invalid {named} rank: {named} rank should not be the same as the rank of the current "
                         "process.")
    raise RuntimeError(f"There is no process {rank}: retrograd computes in one process.")


def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_dst: int | None = None) -> None:
    """Send a tensor to another process. Raises ValueError or RuntimeError, as there is none."""
    _alone("destination", group_dst if dst is None else dst)


def isend(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Send a tensor to another process. Raises ValueError or RuntimeError, as there is none."""
    _alone("destination", group_dst if dst is None else dst)


def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_src: int | None = None) -> int:
    """Receive a tensor from another process. Raises ValueError or RuntimeError, as there is none."""
    _alone("source", group_src if src is None else src)


def irecv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Receive a tensor from another process. Raises ValueError or RuntimeError, as there is none."""
    _alone("source", group_src if src is None else src)
