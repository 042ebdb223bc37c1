"""torch.distributed.fsdp: modules whose parameters are cut over all processes, and whole while a module computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.names import missing
from .fully import (
    CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, UnshardHandle, fully_shard,
    register_fsdp_forward_method)

__all__ = ["CPUOffloadPolicy", "FSDPModule", "MixedPrecisionPolicy", "OffloadPolicy", "UnshardHandle", "fully_shard",
           "register_fsdp_forward_method"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
