"""torch.distributed: groups of processes that compute together.

A program that nobody launched is one process, which is the whole group. `retrograd launch`, mpiexec and srun start
several processes, and MPI moves their tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from .collectives import (
    all_gather, all_gather_into_tensor, all_gather_single, all_reduce, all_reduce_coalesced, barrier, broadcast, gather,
    monitored_barrier, reduce, reduce_scatter, reduce_scatter_single, reduce_scatter_tensor, scatter)
from .distributed_c10d import (
    _rank_not_in_group as _rank_not_in_group, default_pg_timeout, destroy_process_group, init_process_group,
    new_group, new_subgroups, new_subgroups_by_enumeration, split_group)
from .debugging import DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env
from .exchanges import all_to_all, all_to_all_single
from .faults import DistBackendError, DistError, DistNetworkError, DistStoreError
from .groups import (
    Backend, GroupMember, ProcessGroup, get_backend, get_backend_config, get_default_backend_for_device,
    get_global_rank, get_group_rank, get_node_local_rank, get_pg_count, get_process_group_ranks, get_rank,
    get_world_size, group, is_available, is_backend_available, is_gloo_available, is_initialized, is_mpi_available,
    is_nccl_available, is_torchelastic_launched, is_ucc_available, is_xccl_available)
from .messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .objects import (
    all_gather_object, allow_pickled_objects, broadcast_object_list, gather_object, recv_object_list,
    scatter_object_list, send_object_list)
from .reducer import GradBucket
from .reductions import ReduceOp, supports_complex
from .team import Work

__all__ = [
    "Backend", "DebugLevel", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "GradBucket",
    "GroupMember", "P2POp", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single",
    "allow_pickled_objects", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list",
    "default_pg_timeout", "destroy_process_group", "gather", "gather_object", "get_backend", "get_backend_config",
    "get_debug_level", "get_default_backend_for_device", "get_global_rank", "get_group_rank", "get_node_local_rank",
    "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv",
    "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend",
    "monitored_barrier", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list",
    "reduce", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor", "scatter", "scatter_object_list",
    "send", "send_object_list", "set_debug_level", "set_debug_level_from_env", "split_group", "supports_complex",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({
        "": "algorithms autograd checkpoint constants device_mesh distributed_c10d fsdp nn optim rpc tensor",
        "device_mesh": "DeviceMesh init_device_mesh"}, __name__))
