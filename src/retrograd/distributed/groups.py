"""Groups of processes, and what programs ask about them."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, ClassVar

from ..extras import installed
from ..foundations.devices import device as torch_device
from ..foundations.errors import noted
from ..foundations.launching import Everyone, place
from .team import Team

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "get_backend", "get_backend_config", "get_default_backend_for_device",
    "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank",
    "get_world_size",
    "group", "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "member"]


# The backends that PyTorch takes for devices.
_DEFAULTS = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "mps": "gloo"}


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


class ProcessGroup:
    """A group of processes. `ranks` are the members' ranks among all processes, in the order of the group.

    `team` is the group's way to the other processes; None if this process is the only member. A group ends with
    `destroy_process_group`, and with the group of all processes that there was when it began.
    """

    def __init__(self, backend: Backend, ranks: list[int], team: Team | None = None) -> None:
        self.backend, self.ranks, self.team = backend, ranks, team
        self.world, self.ended = Everyone.group, False

    @property
    def registered(self) -> bool:
        """Whether the group has not ended."""
        return self is Everyone.group or (self.world is Everyone.group and not self.ended)

    def rank(self) -> int:
        """The place of this process in the group."""
        return 0 if self.team is None else self.team.rank

    def size(self) -> int:
        """The number of processes."""
        return len(self.ranks)

    def name(self) -> str:
        """The name of the backend."""
        return str(self.backend)


class _Groups(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        found: ProcessGroup | None = Everyone.group
        return found


class GroupMember(metaclass=_Groups):
    """The group of all processes as `WORLD`, and what stands for a group that this process is not in."""

    made: ClassVar[Counter[tuple[int, ...]]] = Counter()   # the groups that this process has made, by their ranks
    NON_GROUP_MEMBER: ClassVar[int] = -100


class group(metaclass=_Groups):
    """`group.WORLD` is the group of all processes, or None before `init_process_group`."""


def member(group: ProcessGroup | None = None) -> ProcessGroup:
    """The group; for None the group of all processes. Raises ValueError if there is none yet."""
    found = Everyone.group if group is None else group
    if Everyone.group is None or found is None:
        raise ValueError("Default process group has not been initialized, please make sure to call "
                         "init_process_group.")
    if not isinstance(found, ProcessGroup):
        raise ValueError("Invalid process group specified")
    if not found.registered:
        raise noted(
            ValueError(f"Group {found} is not registered, please create group with torch.distributed.new_group API"),
            because="destroy_process_group has ended this group, or all groups")
    return found


# What programs ask


def _rank_not_in_group(group: ProcessGroup | int | None) -> bool:
    """Whether this process is outside the group. `GroupMember.NON_GROUP_MEMBER` stands for such a group."""
    return group == GroupMember.NON_GROUP_MEMBER


def is_available() -> bool:
    """Whether the package can be used: yes. Several processes need the package mpi4py."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return Everyone.group is not None


def is_gloo_available() -> bool:
    """Whether "gloo" may be named as the backend: yes."""
    return True


def get_default_backend_for_device(device: Any) -> str:
    """The backend that PyTorch takes for a kind of device. Raises ValueError for a kind that has none."""
    kind = device.type if isinstance(device, torch_device) else torch_device(device).type
    if kind not in _DEFAULTS:
        raise ValueError(f"Default backend not registered for device : {device}")
    return _DEFAULTS[kind]


def is_nccl_available() -> bool:
    """Whether there is NVIDIA's library for GPUs: no."""
    return False


def is_mpi_available() -> bool:
    """Whether there is the backend MPI: if the package mpi4py is installed."""
    return installed("distributed")


def is_ucc_available() -> bool:
    """Whether there is the backend UCC: no."""
    return False


def is_xccl_available() -> bool:
    """Whether there is the backend for Intel's GPUs: no."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether this name may be given as the backend: "gloo", and "mpi" if the package mpi4py is installed."""
    return backend.lower() == "gloo" or (backend.lower() == "mpi" and installed("distributed"))


def is_torchelastic_launched() -> bool:
    """Whether torchelastic started this process, by its environment variable."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group: ProcessGroup | None = None) -> int:
    """The place of this process in the group, or -1 outside. Raises ValueError before `init_process_group`."""
    return -1 if _rank_not_in_group(group) else member(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes, or -1 outside the group. Raises ValueError before `init_process_group`."""
    return -1 if _rank_not_in_group(group) else member(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of the backend. Raises ValueError before `init_process_group`."""
    return member(group).backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The backend of each kind of device."""
    name = member(group).backend
    return str(name) if ":" in name else f"cpu:{name},cuda:{name}"


def get_pg_count() -> int:
    """The number of groups that this program has made."""
    return GroupMember.made.total()


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The members' ranks among all processes; none outside of the group."""
    return [] if _rank_not_in_group(group) else [*member(group).ranks]


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all processes of a rank in the group. Raises ValueError for others, but not of all processes."""
    ranks = member(group).ranks
    if group is Everyone.group:
        return group_rank
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in the group of a rank among all processes. Raises ValueError for others, but not of all processes."""
    ranks = member(group).ranks
    if group is Everyone.group:
        return global_rank
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The environment variable LOCAL_RANK, what the launcher says, or `fallback_rank`.

    Raises RuntimeError if there is none of them.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    found = place()
    if found is not None:
        return found.local_rank
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
                           "and want the code to run locally instead.")
    return fallback_rank
