"""torch.distributed.tensor: how tensors would lie on several processes. retrograd has no such tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "placement_types"}, __name__))
