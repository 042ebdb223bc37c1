"""Groups of processes: how they begin and end, and what programs ask about them.

A program that nobody launched is one process, and its group has one member: no MPI is imported. If mpiexec, srun or
`retrograd launch` started several processes, the groups are MPI's communicators.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn
from zlib import crc32

import numpy as np

from ..extras import installed, remedy
from ..foundations import board
from ..foundations.errors import noted, warn, warn_once
from ..foundations.launching import Everyone, Place, launched, mpi, place
from ..foundations.modes import before_message
from .debugging import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env
from .faults import DistBackendError, Notices
from .groups import (
    Backend as Backend,
    GroupMember as GroupMember,
    ProcessGroup as ProcessGroup,
    _rank_not_in_group as _rank_not_in_group,
    get_backend,
    get_backend_config,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    member,
)
from .meeting import Meeting, address_of, joined
from .reductions import RedOpType as RedOpType, ReduceOp, supports_complex
from .team import Team

__all__ = [
    "Backend", "DebugLevel", "GroupMember", "ProcessGroup", "ReduceOp", "default_pg_timeout", "destroy_process_group",
    "get_backend", "get_backend_config", "get_debug_level", "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_process_group", "is_available", "is_backend_available", "is_gloo_available", "is_initialized",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
    "new_group", "new_subgroups", "new_subgroups_by_enumeration", "set_debug_level", "set_debug_level_from_env",
    "split_group", "supports_complex"]

default_pg_timeout = timedelta(minutes=30)


_get_default_group = member


def _get_global_rank(group: Any, rank: int) -> int:
    """The old name of `get_global_rank`."""
    warn("`torch.distributed.distributed_c10d._get_global_rank` is deprecated, please use "
         "`torch.distributed.distributed_c10d.get_global_rank` instead", FutureWarning)
    return get_global_rank(group, rank)


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


def _backend(name: str | None) -> Backend:
    """The backend of this name. Raises RuntimeError or AssertionError if programs cannot have it."""
    chosen = Backend("undefined" if name is None else name)
    parts = {part.rpartition(":")[2] for part in chosen.split(",")}
    if parts <= {"undefined", "gloo"} or (parts <= {"undefined", "gloo", "mpi", "nccl"} and launched()):
        found = place()
        if found is not None and found.size > 1 and found.rank == 0 and chosen != "mpi":
            warn_once(f"retrograd carries out the backend {chosen!r} by MPI, on CPUs.", "backend by MPI")
        return chosen
    if chosen == "mpi" and installed("distributed"):
        return chosen
    if chosen in ("nccl", "mpi", "ucc", "xccl"):
        raise noted(
            RuntimeError(f"Distributed package doesn't have {chosen.upper()} built in"),
            instead=remedy("distributed") if chosen == "mpi" else "the backend 'gloo' or 'mpi'")
    warn(f"Device capability of {chosen} unknown, assuming `cpu` and `cuda`. You can specify it in "
         "`device:backend` format in `init_process_group` call.", UserWarning)
    raise AssertionError(f"Unknown backend type {chosen}")


def _seconds(timeout: timedelta | None) -> float:
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return (default_pg_timeout if timeout is None else timeout).total_seconds()


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: timedelta | None = None,
                       world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "",
                       pg_options: Any = None, device_id: Any = None) -> None:
    """Begin the group of all processes.

    `retrograd launch`, mpiexec or srun has started the processes. MPI says their number and the rank of
    this process; `world_size`, `rank`, and the environment variables WORLD_SIZE and RANK must agree with MPI. The
    backends "gloo" and "nccl" are carried out by MPI on CPUs. Processes that nobody launched, such as those of
    `torch.multiprocessing.spawn`, meet at MASTER_ADDR and MASTER_PORT, or at `init_method`.

    A collective that takes longer than `timeout` raises DistBackendError. The default is half an hour.

    Raises ValueError if the group has begun, if rank or size are not said, or if MPI says others. Raises RuntimeError
    for more processes than were launched, and ModuleNotFoundError if mpi4py is missing.
    """
    before_message("the program calls torch.distributed.init_process_group")
    if Everyone.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    chosen, seconds = _backend(backend), _seconds(timeout)
    found = place()
    if found is not None and found.size > 1:
        _check_place(found.rank, found.size, rank, world_size)
    elif found is not None or chosen == "mpi":
        rank, world_size = 0 if rank < 0 else rank, 1 if world_size < 0 else world_size
    else:
        rank, world_size = _place(init_method, world_size, rank, store)
    if found is None and world_size > 1:
        found = _met(init_method if store is None else "store", rank, world_size, seconds)
        _backend(backend)                                  # MPI carries it out, which a warning says
    if found is not None and found.size > 1:
        board.note(found.rank, "meets")
        team = _all(found.size, seconds)
        board.note(found.rank, "met")
        Everyone.group = ProcessGroup(chosen, team.ranks, team)
        return
    if world_size != 1:
        raise RuntimeError(f"This program was started as one process, but world_size is {world_size}. Start all "
                           f"processes together: retrograd launch --nproc {world_size} script.py")
    if rank != 0:
        raise RuntimeError(f"rank < size. {rank} vs {world_size}")
    Everyone.group = ProcessGroup(chosen, [0])


def _met(init_method: str | None, rank: int, size: int, seconds: float) -> Place | None:
    """The place of this process among those that met it at an address; None if no address is said."""
    address = address_of(init_method)
    if address is None or not hasattr(os, "fork") or not 0 <= rank < size:
        return None
    if not installed("distributed"):
        mpi()                                              # raises ModuleNotFoundError, with the remedy
    return joined(address, rank, size, seconds)


def _check_place(rank: int, size: int, said_rank: int, said_size: int) -> None:
    """Raise ValueError if the program or the environment says another rank or another size than MPI."""
    for name, real, said in (("RANK", rank, said_rank), ("WORLD_SIZE", size, said_size)):
        found = said if said >= 0 else int(os.environ.get(name, real))
        if found != real:
            where = f"{name.lower()}={said}" if said >= 0 else f"environment variable {name}={found}"
            raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: {where}, but MPI started "
                             f"{size} processes, and this one has rank {rank}. Leave {name} to the launcher.")


def _all(size: int, seconds: float) -> Team:
    """The team of all processes. Waits until all have come here, at most `seconds`."""
    comm = mpi().COMM_WORLD
    if comm.Get_size() != size:
        raise RuntimeError(f"{size} processes were started, but MPI knows {comm.Get_size()}. The launcher and the "
                           "library of mpi4py are of different MPIs: use `retrograd launch`, or that MPI's mpiexec.")
    requests = [comm.Idup() for _ in range(2 if Notices.current else 3)]
    end = time.monotonic() + seconds
    while not mpi().Request.Testall([request for _, request in requests]):
        if time.monotonic() > end:
            raise DistBackendError(f"Timed out waiting {seconds * 1000:.0f}ms for init_process_group to complete. "
                                   f"Rank {comm.Get_rank()} is here; not all of the {size} processes came.")
        time.sleep(1e-4)
    if Notices.current is None:
        Notices.current = Notices(requests.pop()[0], Meeting.current)
    everyone = [*range(size)]
    return Team(requests[0][0], requests[1][0], _named(everyone), everyone, seconds)


def _named(ranks: list[int]) -> str:
    """The name of a new group of these processes, which is the same in all of them."""
    GroupMember.made[tuple(ranks)] += 1
    return f"{ranks} #{GroupMember.made[tuple(ranks)]}"


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End the group. Raises AssertionError if no group has begun, ValueError if `group` is none."""
    before_message("the program calls torch.distributed.destroy_process_group")
    if _rank_not_in_group(group):
        return
    if Everyone.group is None:
        raise AssertionError("Process group cannot be None")
    if group is not None and not (isinstance(group, ProcessGroup) and group.registered):
        raise ValueError("Invalid process group specified")
    if group is None or group is Everyone.group:
        Everyone.group = None
    else:
        group.ended = True


def new_group(ranks: Any = None, timeout: timedelta | None = None, backend: Any = None, pg_options: Any = None,
              use_local_synchronization: bool = False, group_desc: str | None = None, device_id: Any = None,
              sort_ranks: bool = True) -> Any:
    """A group of some of the processes, which all processes must make in the same order.

    `ranks` are the members' ranks among all processes; None stands for all. Returns the group, or
    `GroupMember.NON_GROUP_MEMBER` in a process that is no member. With `use_local_synchronization` only the members
    make it. Raises ValueError for ranks that do not exist or come twice.
    """
    before_message("the program calls torch.distributed.new_group")
    world = member()
    listed = [*range(world.size())] if ranks is None else [*ranks]
    if len(listed) > world.size():
        raise ValueError("the new group's world size should be less or equal to the world size set by "
                         "init_process_group")
    for rank in listed:
        if not 0 <= rank < world.size():
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {world.size() - 1} "
                             f"(world_size={world.size()})")
    if len({*listed}) != len(listed):
        raise ValueError(f"ranks list must not contain duplicate entries, got {listed}")
    if sort_ranks:
        listed.sort()
    chosen = world.backend if backend is None else Backend(backend)
    if world.team is None:
        return ProcessGroup(chosen, [0])
    if not use_local_synchronization:
        world.team.run("new_group", (tuple(listed),))
    if world.rank() not in listed:
        _named(listed)
        return GroupMember.NON_GROUP_MEMBER
    if use_local_synchronization:
        _meet(world.team, listed)
    seconds = world.team.timeout if timeout is None else _seconds(timeout)
    name = _named(listed)
    return ProcessGroup(chosen, listed, _part(world.team, listed, name, seconds) if len(listed) > 1 else None)


def _meet(world: Team, ranks: list[int]) -> None:
    """Wait until all these processes are here. The first of them hears from all others, and then tells them."""
    token, tag = np.zeros(1, np.uint8), crc32(str(ranks).encode()) % 2**14

    def move(peer: int, sends: bool) -> None:
        way = world.control.Isend if sends else world.control.Irecv
        world.message("new_group", (tuple(ranks),), [peer], lambda: way([token, mpi().BYTE], peer, tag)).wait()

    others = ranks[1:] if world.rank == ranks[0] else ranks[:1]
    for sends in (world.rank != ranks[0], world.rank == ranks[0]):
        for peer in others:
            move(peer, sends)


def _part(world: Team, ranks: list[int], name: str, seconds: float) -> Team:
    """The team of some processes, all of which call this function."""
    members = world.comm.Get_group().Incl(ranks)
    comm = world.comm.Create_group(members)
    return Team(comm, comm.Dup(), name, ranks, seconds)


def split_group(parent_pg: ProcessGroup | None = None, split_ranks: Any = None, timeout: timedelta | None = None,
                pg_options: Any = None, group_desc: str | None = None, backend: Any = None) -> NoReturn:
    """Raises RuntimeError: PyTorch splits only groups of accelerators. Raises ValueError without ranks."""
    if split_ranks is None or len(split_ranks) == 0:
        raise ValueError("split_ranks cannot be None or empty")
    member()
    raise noted(
        RuntimeError("No device associated with the default pg, not safe to split any process groups"),
        instead="torch.distributed.new_group for each list of ranks, in all processes")


def new_subgroups(group_size: int | None = None, group: ProcessGroup | None = None, timeout: timedelta | None = None,
                  backend: Any = None, pg_options: Any = None, group_desc: str | None = None) -> tuple[Any, list[Any]]:
    """Groups of `group_size` neighbors each. Returns the group of this process, and all groups."""
    size = member(group).size()
    if group_size is None:
        raise noted(
            ValueError("Default group size only takes effect when a CUDA device is available"),
            instead="pass group_size")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    parts: list[Sequence[int]] = [range(first, first + group_size) for first in range(0, size, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend)


def new_subgroups_by_enumeration(ranks_per_subgroup_list: Sequence[Sequence[int]], timeout: timedelta | None = None,
                                 backend: Any = None, pg_options: Any = None,
                                 group_desc: str | None = None) -> tuple[Any, list[Any]]:
    """A group for each list of ranks. Returns the group of this process, and all groups."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    own, made, seen = None, [], set[int]()
    for ranks in ranks_per_subgroup_list:
        made.append(new_group(ranks, timeout, backend))
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroups")
            seen.add(rank)
        if get_rank() in ranks:
            own = made[-1]
    return own, made
