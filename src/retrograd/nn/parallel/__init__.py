"""torch.nn.parallel: modules on several devices, which here are modules on the CPU, in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from .data_parallel import DataParallel, data_parallel
from .scatter_gather import gather, parallel_apply, replicate, scatter

if TYPE_CHECKING:                                            # imported when a program first names them
    from .distributed import (
        DistributedDataParallel as DistributedDataParallel, DistributedDataParallelCPU as DistributedDataParallelCPU)

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate",
           "scatter"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({
        "": "distributed", "distributed": "DistributedDataParallel DistributedDataParallelCPU"}, __name__))
