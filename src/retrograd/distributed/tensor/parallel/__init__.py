"""torch.distributed.tensor.parallel: layers whose weights lie on several processes, and their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....foundations.names import missing
from .plans import loss_parallel, parallelize_module
from .preparing import PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput
from .styles import ColwiseParallel, ParallelStyle, RowwiseParallel, SequenceParallel

__all__ = ["ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput",
           "RowwiseParallel", "SequenceParallel", "loss_parallel", "parallelize_module"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
