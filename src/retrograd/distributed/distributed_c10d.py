"""The group of all processes, of which there is one: how it begins and ends, and what programs ask about it."""

from __future__ import annotations

import os
from datetime import timedelta
from enum import Enum
from typing import Any, ClassVar, TypeAlias

from ..errors import warn

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "ReduceOp", "default_pg_timeout", "destroy_process_group",
    "get_backend", "get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks", "get_rank",
    "get_world_size", "group", "init_process_group", "is_available", "is_backend_available", "is_gloo_available",
    "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available",
    "is_xccl_available", "new_group"]

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in small letters. Raises ValueError if it is no str."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    def __new__(cls, name: Any) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class RedOpType(Enum):
    """How the tensors of all processes become one. Of one process, each gives the tensor itself."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class _Kinds(type):
    """The type of `ReduceOp`, by which the members count as its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RedOpType)


class ReduceOp(metaclass=_Kinds):
    """The names of `RedOpType`, as programs say them: `ReduceOp.SUM`."""

    RedOpType: TypeAlias = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __new__(cls, op: RedOpType) -> RedOpType:  # type: ignore[misc]
        """The operation itself."""
        return op


class ProcessGroup:
    """A group of processes, which has one member: this process."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    def rank(self) -> int:
        """The place of this process in the group: 0."""
        return 0

    def size(self) -> int:
        """The number of processes: 1."""
        return 1


class _Groups(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        return GroupMember.world


class GroupMember(metaclass=_Groups):
    """The group of all processes as `WORLD`, and what stands for a group that this process is not in."""

    world: ClassVar[ProcessGroup | None] = None
    NON_GROUP_MEMBER: ClassVar[int] = -100


class group(metaclass=_Groups):
    """`group.WORLD` is the group of all processes, or None before `init_process_group`."""


def member(group: ProcessGroup | None = None) -> ProcessGroup:
    """The group; for None the group of all processes. Raises ValueError if there is none yet."""
    found = GroupMember.world if group is None else group
    if GroupMember.world is None or found is None:
        raise ValueError("Default process group has not been initialized, please make sure to call "
                         "init_process_group.")
    return found


def _announced(scheme: str, name: str, said: str, value: int) -> int:
    """A number that the program or the environment must give. Raises ValueError if it is not given."""
    if value >= 0:
        return value
    problem = f"Error initializing torch.distributed using {scheme} rendezvous: {said}"
    if scheme != "env://" or name not in os.environ:
        raise ValueError(problem)
    return int(os.environ[name])


def _place(init_method: str | None, world_size: int, rank: int, store: Any) -> tuple[int, int]:
    """The rank of this process and the number of processes, as PyTorch finds them."""
    if store is not None:
        for name, given in (("world_size", world_size > 0), ("rank", rank >= 0)):
            if not given:
                raise AssertionError(f"{name} must be {'positive' if name == 'world_size' else 'non-negative'} if "
                                     "using store")
        if init_method is not None:
            raise AssertionError("Cannot specify both init_method and store.")
        return rank, world_size
    scheme = (init_method or "env://").partition("://")[0] + "://"
    if scheme not in ("env://", "tcp://", "file://"):
        raise RuntimeError(f"No rendezvous handler for {scheme}")
    by_name = scheme == "env://"
    rank = _announced(scheme, "RANK", "environment variable RANK expected, but not set" if by_name else
                      "rank parameter missing", rank)
    world_size = _announced(scheme, "WORLD_SIZE", "environment variable WORLD_SIZE expected, but not set" if by_name
                            else "world size parameter missing", world_size)
    for name in ("MASTER_ADDR", "MASTER_PORT") if by_name else ():
        if name not in os.environ:
            raise ValueError("Error initializing torch.distributed using env:// rendezvous: environment variable "
                             f"{name} expected, but not set")
    return rank, world_size


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "",
                       pg_options: Any = None, device_id: Any = None) -> None:
    """Begin the group of all processes. Its size must be 1, by `world_size` or by the environment variable WORLD_SIZE.

    Nothing is opened and nobody is waited for. Raises ValueError if the group has begun or if rank or size are not
    said, and RuntimeError for more than one process and for the backends "nccl" and "mpi".
    """
    if GroupMember.world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    chosen = Backend("undefined" if backend is None else backend)
    if chosen in ("nccl", "mpi", "ucc", "xccl"):
        raise RuntimeError(f"Distributed package doesn't have {chosen.upper()} built in. Use the backend 'gloo'.")
    if chosen not in ("undefined", "gloo"):
        warn(f"Device capability of {chosen} unknown, assuming `cpu` and `cuda`. You can specify it in "
             "`device:backend` format in `init_process_group` call.", UserWarning)
        raise AssertionError(f"Unknown backend type {chosen}")
    rank, world_size = _place(init_method, world_size, rank, store)
    if world_size != 1:
        raise RuntimeError(f"retrograd computes in one process, but world_size is {world_size}: start the program "
                           "once, with WORLD_SIZE=1.")
    if rank != 0:
        raise RuntimeError(f"rank < size. {rank} vs {world_size}")
    GroupMember.world = ProcessGroup(chosen)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End the group. Raises AssertionError if it has not begun."""
    if GroupMember.world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is GroupMember.world:
        GroupMember.world = None


def new_group(ranks: Any = None, timeout: timedelta | None = None, backend: Any = None, pg_options: Any = None,
              use_local_synchronization: bool = False, group_desc: str | None = None, device_id: Any = None,
              sort_ranks: bool = True) -> ProcessGroup:
    """Another group of this process. Raises ValueError for other ranks than 0."""
    world = member()
    if ranks is not None and len(ranks) > 1:
        raise ValueError("the new group's world size should be less or equal to the world size set by "
                         "init_process_group")
    for rank in ranks or ():
        if rank != 0:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to 0 (world_size=1)")
    return ProcessGroup(world.backend if backend is None else Backend(backend))


# What programs ask


def _rank_not_in_group(group: ProcessGroup | int | None) -> bool:
    """Whether this process is outside the group. `GroupMember.NON_GROUP_MEMBER` stands for such a group."""
    return group == GroupMember.NON_GROUP_MEMBER


def is_available() -> bool:
    """Whether the package can be used: yes, by one process."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return GroupMember.world is not None


def is_gloo_available() -> bool:
    """Whether "gloo" may be named as the backend: yes."""
    return True


def is_nccl_available() -> bool:
    """Whether there is NVIDIA's library for GPUs: no."""
    return False


def is_mpi_available() -> bool:
    """Whether there is the backend MPI: no."""
    return False


def is_ucc_available() -> bool:
    """Whether there is the backend UCC: no."""
    return False


def is_xccl_available() -> bool:
    """Whether there is the backend for Intel's GPUs: no."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether this name may be given as the backend: only "gloo"."""
    return backend.lower() == "gloo"


def is_torchelastic_launched() -> bool:
    """Whether torchelastic started this process, by its environment variable."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group: ProcessGroup | None = None) -> int:
    """The place of this process in the group: 0. Raises ValueError before `init_process_group`."""
    return member(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes: 1. Raises ValueError before `init_process_group`."""
    return member(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of the backend. Raises ValueError before `init_process_group`."""
    return member(group).backend


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks of a group's members: [0]."""
    return [member(group).rank()]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all processes of a rank in the group."""
    return group_rank


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in the group of a rank among all processes."""
    return global_rank


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The environment variable LOCAL_RANK, or `fallback_rank`. Raises RuntimeError if there is neither."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work.")
    return fallback_rank
