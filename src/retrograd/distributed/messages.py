"""Messages from process to process: tensors that one process sends and another receives."""

from __future__ import annotations

from collections.abc import Callable

from ..foundations.launching import mpi
from ..tensors.tensor import Tensor
from .buffers import Buffer, array_of, checked, facts_of
from .collectives import outside, rank_of
from .faults import DistBackendError
from .groups import ProcessGroup, get_global_rank, member
from .team import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(named: str, place: ProcessGroup, rank: int | None, in_group: int | None) -> int:
    """The rank in the group of the other process. Raises ValueError for this process, RuntimeError if there is none."""
    found = rank_of(place, rank, in_group)
    if found == place.rank():
        raise ValueError(f"Invalid {named} rank: {named} rank should not be the same as the rank of the current "
                         "process.")
    if not 0 <= found < place.size():
        raise RuntimeError(f"There is no process {found}: the group has {place.size()}.")
    return found


def _contiguous(tensor: Tensor) -> Buffer:
    checked(tensor)
    buffer = Buffer(array_of(tensor))
    if buffer.packed:
        raise RuntimeError("input tensor has to be contiguous")
    return buffer


# The dtype of a message travels beside it, on the communicator for announcements, where new groups use lower tags.
_FIRST_TAG = 1 << 14
_NAME_BYTES = 16


def _named(tensor: Tensor) -> bytearray:
    """The name of a dtype, in a fixed number of bytes."""
    return bytearray(tensor.dtype.name.encode().ljust(_NAME_BYTES))


def isend(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Begin to send a tensor to the process `dst`. The tensor must not change before `wait` of the result.

    Raises ValueError for this process itself, and RuntimeError if there is no such process.
    """
    checked(tensor)
    if outside(group, "isend"):
        return None
    place = member(group)
    peer, buffer = _peer("destination", place, dst, group_dst), _contiguous(tensor)
    assert place.team is not None
    comm, name = place.team.comm, _named(tensor)
    place.team.notices.keep(place.team.control.Isend([name, mpi().BYTE], peer, tag + _FIRST_TAG), name)
    return place.team.message("send", (*facts_of(tensor), f"to {place.ranks[peer]}"), [place.ranks[peer]],
                              lambda: comm.Isend([buffer.flat.view("u1"), mpi().BYTE], peer, tag), results=[tensor])


def irecv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Begin to receive a tensor from the process `src`, or from any. `tensor` has the shape and dtype of the sender's.

    Raises ValueError for this process itself, and RuntimeError if there is no such process. The wait raises
    DistBackendError for a message of another size or dtype.
    """
    checked(tensor)
    if outside(group, "irecv"):
        return None
    place = member(group)
    anyone = src is None and group_src is None and place.size() > 1
    peer, buffer = -1 if anyone else _peer("source", place, src, group_src), _contiguous(tensor)
    assert place.team is not None
    comm, control, memory, name = place.team.comm, place.team.control, buffer.flat.view("u1"), _named(tensor)
    sent = bytearray(_NAME_BYTES)
    coming = None if anyone else control.Irecv([sent, mpi().BYTE], peer, tag + _FIRST_TAG)
    source = mpi().ANY_SOURCE if anyone else peer
    peers = [rank for rank in place.ranks if rank != place.ranks[place.rank()]] if anyone else [place.ranks[peer]]

    def finish() -> None:
        if work.received != memory.nbytes:
            raise DistBackendError(f"The message from rank {work.source_rank()} has {work.received} bytes, but "
                                   f"{memory.nbytes} were expected in {work.text}.")
        came = control.Irecv([sent, mpi().BYTE], work.source, tag + _FIRST_TAG) if coming is None else coming
        came.Wait()
        if sent != name:
            raise DistBackendError(f"Rank {work.source_rank()} sent {sent.decode().strip()}, but {tensor.dtype.name} "
                                   f"was expected in {work.text}.")

    work = place.team.message("recv", (*facts_of(tensor), f"from {'any' if anyone else place.ranks[peer]}"), peers,
                              lambda: comm.Irecv([memory, mpi().BYTE], source, tag), finish, [tensor])
    return work


def send(tensor: Tensor, dst: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_dst: int | None = None) -> None:
    """Send a tensor to the process `dst`. Returns when the tensor may change again. See `isend` for the errors."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0,
         group_src: int | None = None) -> int:
    """Receive a tensor from the process `src`, or from any. Returns the rank of the sender, -1 outside the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return work.source_rank()


class P2POp:
    """A message to send or receive in `batch_isend_irecv`: `op` is `isend` or `irecv`, `peer` the other process."""

    def __init__(self, op: Callable[..., Work | None], tensor: Tensor, peer: int | None = None,
                 group: ProcessGroup | None = None, tag: int = 0, group_peer: int | None = None) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                             "``torch.distributed.irecv``.")
        self.op, self.tensor = op, checked(tensor)
        self.group, self.tag, self.group_peer = group, tag, rank_of(member(group), peer, group_peer)
        self.peer = get_global_rank(member(group), self.group_peer)

    def __repr__(self) -> str:
        place = member(self.group)
        own, other = place.rank(), self.group_peer
        src, dst = (own, other) if self.op is isend else (other, own)
        return (f"P2POp({self.op.__name__} pg={place.ranks}, group_src={src}, group_dst={dst},  {self.tensor.shape}, "
                f"{self.tensor.dtype})")


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin all these messages. Returns the work of each."""
    if not isinstance(p2p_op_list, list) or not all([isinstance(each, P2POp) for each in p2p_op_list]):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type "
                         "``torch.distributed.P2POp``.")
    works = [each.op(each.tensor, None, each.group, each.tag, each.group_peer) for each in p2p_op_list]
    return [work for work in works if work is not None]
