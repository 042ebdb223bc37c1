"""torch.distributed for programs that run as one process: the group of all processes has one member.

So every collective operation returns what this process has. Operations that need another process raise RuntimeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..names import missing
from .collectives import (
    Work, all_gather, all_gather_into_tensor, all_gather_object, all_reduce, all_to_all, all_to_all_single, barrier,
    broadcast, broadcast_object_list, gather, gather_object, irecv, isend, monitored_barrier, recv, reduce,
    reduce_scatter, reduce_scatter_tensor, scatter, scatter_object_list, send)
from .distributed_c10d import (
    Backend, GroupMember, ProcessGroup, ReduceOp, _rank_not_in_group as _rank_not_in_group, default_pg_timeout,
    destroy_process_group, get_backend, get_global_rank, get_group_rank, get_node_local_rank,
    get_process_group_ranks, get_rank, get_world_size, group,
    init_process_group, is_available, is_backend_available, is_gloo_available, is_initialized, is_mpi_available,
    is_nccl_available, is_torchelastic_launched, is_ucc_available, is_xccl_available, new_group)

__all__ = [
    "Backend", "GroupMember", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single", "barrier", "broadcast",
    "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather", "gather_object", "get_backend",
    "get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks", "get_rank",
    "get_world_size", "group", "init_process_group", "irecv", "is_available", "is_backend_available",
    "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group", "recv", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=[
        "algorithms", "autograd", "constants", "distributed_c10d", "nn", "optim", "rpc"])
