"""Operations of all processes of a group together. Of one process, each gives back what this process has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..foundations.errors import warn
from ..foundations.launching import mpi
from ..foundations.modes import before_message
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from .buffers import Buffer, array_of, checked, checked_list, facts_of, sendable
from .groups import ProcessGroup, _rank_not_in_group, get_group_rank, member
from .reductions import RedOpType, ReduceOp, check, mpi_op
from .team import Team, Work

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_single", "all_reduce", "all_reduce_coalesced", "barrier",
    "broadcast", "copy", "done", "gather", "monitored_barrier", "outside", "rank_of", "reduce", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "root_of", "scatter", "sizes"]


def outside(group: Any, operation: str) -> bool:
    """Whether this process is not in the group. In that case it warns, and the operation does nothing.

    Every operation asks first. If the operation belongs to a call that is compiled, the trace ends here.
    """
    before_message(f"the program calls torch.distributed.{operation}")
    if not _rank_not_in_group(group):
        return False
    warn(f"Running {operation} on global rank {member().rank()} which does not belong to the given group.", UserWarning)
    return True


def root_of(operation: str, place: ProcessGroup, root: int | None, in_group: int | None) -> int:
    """The rank in the group of the process that gives or receives. Raises ValueError or RuntimeError for no process."""
    found = rank_of(place, root, in_group)
    if not 0 <= found < place.size():
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid root rank: {found}")
    return found


def rank_of(place: ProcessGroup, rank: int | None, in_group: int | None) -> int:
    """A rank in a group, which the program names so or by the rank among all processes. Raises ValueError otherwise."""
    if rank is not None and in_group is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if in_group is not None:
        return in_group
    if rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return get_group_rank(place, rank)


def done(async_op: bool, results: Any = None) -> Work | None:
    """What an operation of one process returns."""
    return Work(results=results) if async_op else None


def _match(operation: str, outputs: Sequence[Tensor], inputs: Sequence[Tensor], size: int,
           place: int | None = None) -> None:
    """Raise PyTorch's error unless there is a tensor for each process, all of the same dtype and shape.

    If `place` is given, only the tensor for this process has the shape of the single one.
    """
    listed, single = (outputs, inputs[0]) if len(inputs) == 1 else (inputs, outputs[0])
    if len(listed) != size:
        raise RuntimeError(_counts(operation, len(listed), size))
    for i, each in enumerate(listed):
        if each.dtype is not single.dtype:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {each.dtype} and  {single.dtype}")
        if each.shape != single.shape and place in (None, i):
            raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid tensor size at index {i} (expected "
                               f"{sizes(single)}, got {sizes(each)})")
    sendable(single)


def sizes(tensor: Tensor) -> str:
    """The shape of a tensor as PyTorch's messages write it: (2, 3)."""
    return f"({', '.join(map(str, tensor.shape))})"


def _counts(operation: str, found: int, size: int) -> str:
    if operation in ("gather", "scatter"):
        side = "output" if operation == "gather" else "input"
        return (f"ProcessGroupGloo::{operation}: Incorrect {side} list size {found}. {side.capitalize()} list size "
                f"should be {size}, same as size of the process group.")
    if operation == "reduce_scatter":
        return "invalid input tensor list size, must be world size"
    return (f"ProcessGroupGloo::{operation}: invalid output tensor list at index 0 (expected length {size}, got "
            f"{found})")


def copy(output: Tensor, given: Tensor) -> None:
    """Write one tensor over another, unrecorded."""
    with no_grad():
        output.copy_(given)


def _averaged(buffer: Buffer, op: RedOpType, size: int) -> Callable[[], None]:
    """Finish an average after MPI has written the sum."""
    def finish() -> None:
        if op is RedOpType.AVG:
            np.divide(buffer.flat, np.asarray(size, buffer.flat.dtype), out=buffer.flat)
        buffer.unpack()

    return finish


# One tensor

def all_reduce(tensor: Tensor, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Replace the tensor of each process by the sum of all, or by what `op` makes of them.

    All processes give tensors of the same shape and dtype.

    >>> import retrograd as torch
    >>> torch.distributed.init_process_group(store=object(), rank=0, world_size=1)
    >>> x = torch.ones(2)
    >>> torch.distributed.all_reduce(x)
    >>> x
    tensor([1., 1.])
    >>> torch.distributed.destroy_process_group()

    Raises ValueError before `init_process_group`, TypeError if `tensor` is no tensor, RuntimeError for a bitwise
    operation of floats, and DistBackendError if the processes do not agree.
    """
    checked(tensor)
    if outside(group, "all_reduce"):
        return None
    place = member(group)
    check("all_reduce", op, tensor.dtype)
    array = sendable(tensor)
    if place.team is None:
        return done(async_op, [tensor])
    buffer, comm = Buffer(array), place.team.comm
    return place.team.run(
        "all_reduce", (*facts_of(tensor), op.name),
        lambda: comm.Iallreduce(mpi().IN_PLACE, buffer.wire, mpi_op(op, array.dtype)),
        _averaged(buffer, op, place.size()), async_op, [tensor])


def all_reduce_coalesced(tensors: list[Tensor], op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None,
                         async_op: bool = False) -> Work | None:
    """`all_reduce` of each tensor of a list."""
    warn("`torch.distributed.all_reduce_coalesced` will be deprecated. If you must use it, please revisit our "
         "documentation later at https://pytorch.org/docs/main/distributed.html#collective-functions", FutureWarning)
    works = [all_reduce(tensor, op, group, True) for tensor in checked_list(tensors, "tensors")]
    if not async_op:
        for work in works:
            assert work is not None
            work.wait()
        return None
    return works[-1] if works else None


def reduce(tensor: Tensor, dst: int | None = None, op: RedOpType = ReduceOp.SUM, group: ProcessGroup | None = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """`all_reduce` whose result only the process `dst` receives."""
    checked(tensor)
    if outside(group, "reduce"):
        return None
    place = member(group)
    root = root_of("reduce", place, dst, group_dst)
    check("reduce", op, tensor.dtype)
    array = sendable(tensor)
    if place.team is None:
        return done(async_op, [tensor])
    buffer, comm, receives = Buffer(array), place.team.comm, root == place.rank()
    send, into = (mpi().IN_PLACE, buffer.wire) if receives else (buffer.wire, None)
    return place.team.run(
        "reduce", (*facts_of(tensor), op.name, f"to {root}"),
        lambda: comm.Ireduce(send, into, mpi_op(op, array.dtype), root),
        _averaged(buffer, op, place.size()) if receives else None, async_op, [tensor])


def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Replace the tensor of each process by that of the process `src`."""
    checked(tensor)
    if outside(group, "broadcast"):
        return None
    place = member(group)
    root = root_of("broadcast", place, src, group_src)
    array = sendable(tensor)
    if place.team is None:
        return done(async_op, [tensor])
    buffer, comm = Buffer(array), place.team.comm
    return place.team.run("broadcast", (*facts_of(tensor), f"from {root}"), lambda: comm.Ibcast(buffer.wire, root),
                          buffer.unpack, async_op, [tensor])


# Lists of tensors, one for each process

def _joined(tensors: Sequence[Tensor]) -> Buffer:
    """A packed array with room for all tensors, one after the other."""
    return Buffer(np.empty((len(tensors), *tensors[0].shape), tensors[0]._array.dtype))


def _filled(tensors: Sequence[Tensor]) -> Buffer:
    found = _joined(tensors)
    for place, tensor in enumerate(tensors):
        np.copyto(found.array[place, ...], sendable(tensor))               # also of no dimension
    return found


def _spread(buffer: Buffer, tensors: Sequence[Tensor]) -> Callable[[], None]:
    def finish() -> None:
        for place, tensor in enumerate(tensors):
            copy(tensor, plain(buffer.array[place, ...]))

    return finish


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Write the tensors of all processes over those in `tensor_list`, which has one for each process."""
    outputs = checked_list(tensor_list, "tensor_list")
    checked(tensor)
    if outside(group, "all_gather"):
        return None
    place = member(group)
    _match("allgather", outputs, [tensor], place.size())
    if place.team is None:
        copy(outputs[0], tensor)
        return done(async_op, outputs)
    given, into, comm = Buffer(sendable(tensor)), _joined(outputs), place.team.comm
    return place.team.run("all_gather", facts_of(tensor), lambda: comm.Iallgather(given.wire, into.wire),
                          _spread(into, outputs), async_op, outputs)


def all_gather_single(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """Write the tensors of all processes, one after the other, over `output_tensor`.

    `output_tensor` has as many elements as all inputs together: they are joined along the first dimension, or stacked.
    """
    output, given = checked(output_tensor, "output_tensor"), checked(input_tensor, "input_tensor")
    if outside(group, "all_gather_single"):
        return None
    place = member(group)
    if output.dtype is not given.dtype:
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid tensor type at index 0 (expected {given.dtype}, got "
                           f"{output.dtype})")
    if output.numel() != given.numel() * place.size():
        last = output.numel() - given.numel() * (place.size() - 1)
        raise RuntimeError(f"ProcessGroupGloo::allgather: invalid tensor size at index {place.size() - 1} (expected "
                           f"({given.numel()}), got ({last}))")
    array = sendable(output)
    if place.team is None:
        copy(output, given.reshape(output.shape))
        return done(async_op, [output])
    source, into, comm = Buffer(sendable(given)), Buffer(array), place.team.comm
    return place.team.run("all_gather_single", facts_of(given), lambda: comm.Iallgather(source.wire, into.wire),
                          into.unpack, async_op, [output])


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                           async_op: bool = False) -> Work | None:
    """The old name of `all_gather_single`."""
    warn("`torch.distributed.all_gather_into_tensor` is deprecated. Please use `torch.distributed.all_gather_single` "
         "instead.", FutureWarning)
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _one_sided(operation: str, tensor: Tensor, given: Any, group: ProcessGroup | None, root: int | None,
               in_group: int | None) -> tuple[ProcessGroup, int, list[Tensor]]:
    """The group, the rank of the process that gives or receives, and its list, which is empty in other processes.

    Raises ValueError if the list is missing there, or given elsewhere.
    """
    place = member(group)
    found = root_of(operation, place, 0 if root is None and in_group is None else root, in_group)
    listed, side = ("gather_list", "destination") if operation == "gather" else ("scatter_list", "source")
    if found != place.rank():
        if given:
            raise ValueError(f"Argument ``{listed}`` must NOT be specified on non-{side} ranks.")
        return place, found, []
    if given is None:
        raise ValueError(f"Argument ``{listed}`` must be specified on {side} rank.")
    tensors = checked_list(given, listed)
    if tensors:
        _match(operation, tensors, [tensor], place.size())
    return place, found, tensors


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
           group: ProcessGroup | None = None, async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """Write the tensors of all processes over those in `gather_list`, in the process `dst`."""
    checked(tensor)
    if outside(group, "gather"):
        return None
    place, root, outputs = _one_sided("gather", tensor, gather_list, group, dst, group_dst)
    given = Buffer(sendable(tensor))
    if place.team is None:
        copy(outputs[0], tensor)
        return done(async_op, outputs)
    into, comm = _joined(outputs) if outputs else None, place.team.comm
    return place.team.run(
        "gather", (*facts_of(tensor), f"to {root}"), lambda: comm.Igather(given.wire, into and into.wire, root),
        _spread(into, outputs) if into else None, async_op, outputs)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
            group: ProcessGroup | None = None, async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Write over `tensor` the one in `scatter_list` of the process `src` that is for this process."""
    checked(tensor)
    if outside(group, "scatter"):
        return None
    place, root, inputs = _one_sided("scatter", tensor, scatter_list, group, src, group_src)
    into = Buffer(sendable(tensor))
    if place.team is None:
        copy(tensor, inputs[0])
        return done(async_op, [tensor])
    given, comm = _filled(inputs) if inputs else None, place.team.comm
    return place.team.run(
        "scatter", (*facts_of(tensor), f"from {root}"), lambda: comm.Iscatter(given and given.wire, into.wire, root),
        into.unpack, async_op, [tensor])


def _scattered(team: Team, name: str, facts: tuple[Any, ...], given: Buffer, output: Tensor, op: RedOpType,
               counts: list[int], async_op: bool) -> Work | None:
    into, kind = Buffer(sendable(output)), given.array.dtype
    return team.run(name, (*facts, op.name), lambda: team.comm.Ireduce_scatter(
        given.wire, into.wire, counts, mpi_op(op, kind)), _averaged(into, op, team.size), async_op, [output])


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: RedOpType = ReduceOp.SUM,
                   group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Write over `output` the sum of what all processes have for this one. The shapes may differ between processes."""
    checked(output, "output")
    inputs = checked_list(input_list, "input_list")
    if outside(group, "reduce_scatter"):
        return None
    place = member(group)
    check("reduce_scatter", op, output.dtype)
    _match("reduce_scatter", inputs, [output], place.size(), place.rank())
    if place.team is None:
        copy(output, inputs[0])
        return done(async_op, [output])
    given = Buffer(np.concatenate([array_of(each).reshape(-1) for each in inputs]))
    shapes = tuple([tuple(each.shape) for each in inputs])
    return _scattered(place.team, "reduce_scatter", (shapes, output.dtype.name), given, output, op,
                      [each.numel() for each in inputs], async_op)


def reduce_scatter_single(output: Tensor, input: Tensor, op: RedOpType = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`reduce_scatter` of one tensor, which has the parts for all processes one after the other."""
    checked(output, "output")
    checked(input, "input")
    if outside(group, "reduce_scatter_single"):
        return None
    place = member(group)
    check("reduce_scatter_single", op, output.dtype)
    if output.dtype is not input.dtype or output.numel() * place.size() != input.numel():
        raise RuntimeError(f"Check failed: the input has {place.size()} times the elements of the output, and their "
                           f"dtype. Got {sizes(input)} {input.dtype} and {sizes(output)} {output.dtype}.")
    if place.team is None:
        copy(output, input.reshape(output.shape))
        return done(async_op, [output])
    return _scattered(place.team, "reduce_scatter_single", facts_of(output), Buffer(sendable(input)), output, op,
                      [output.numel()] * place.size(), async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: RedOpType = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """The old name of `reduce_scatter_single`."""
    warn("`torch.distributed.reduce_scatter_tensor` is deprecated. Please use "
         "`torch.distributed.reduce_scatter_single` instead.", FutureWarning)
    return reduce_scatter_single(output, input, op, group, async_op)


# Without tensors

def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None,
            timeout: Any = None) -> Work | None:
    """Wait for all processes. Raises DistBackendError if one does not come within `timeout`."""
    if outside(group, "barrier"):
        return None
    place = member(group)
    if place.team is None:
        return done(async_op)
    seconds = None if timeout is None else timeout.total_seconds()
    return place.team.run("barrier", (), async_op=async_op, timeout=seconds)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """`barrier` whose error names the processes that did not come, as all errors of retrograd's collectives do."""
    if not outside(group, "monitored_barrier"):
        barrier(group, timeout=timeout)
