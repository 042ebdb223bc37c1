"""The place of this process among all that were started together, and the MPI library, imported when it is needed."""

from __future__ import annotations

import os
from functools import cache
from typing import Any, ClassVar, NamedTuple

from ..extras import imported, remedy


class Everyone:
    """The group of all processes, from `init_process_group` on. Compiled functions ask which one it is."""

    group: ClassVar[Any] = None


class Place(NamedTuple):
    """What the environment says about this process: its rank, the number of processes, and the same on this machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


# The variables of MPICH's and Intel's mpiexec, of Open MPI's, and of Slurm's srun.
_VARIABLES = (
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
)


def place() -> Place | None:
    """The place of this process, if mpiexec or srun started it."""
    said = os.environ
    for rank, size, local_rank, local_size in _VARIABLES:
        if rank in said and size in said:
            return Place(int(said[rank]), int(said[size]), int(said.get(local_rank, said[rank])),
                         int(said.get(local_size, "1")))
    return None


def crowded() -> bool:
    """Whether this machine has more of the processes than processors, so that one that waits keeps others from work."""
    found = place()
    affinity = getattr(os, "sched_getaffinity", None)
    return found is not None and found.local_size > (len(affinity(0)) if affinity else os.cpu_count() or 1)


def launched() -> bool:
    """Whether mpiexec or srun started this process together with others."""
    found = place()
    return found is not None and found.size > 1


@cache
def mpi() -> Any:
    """The module `mpi4py.MPI`. Its first import starts MPI. Raises ImportError if it or the library is absent."""
    try:
        return imported("distributed", "Several processes need", "mpi4py.MPI")
    except ModuleNotFoundError:
        raise
    except (ImportError, RuntimeError) as error:
        raise ImportError(f"mpi4py found no MPI library. {remedy('distributed')}", name="mpi4py") from error
