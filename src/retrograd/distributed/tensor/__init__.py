"""torch.distributed.tensor: tensors whose parts lie on several processes, and how they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from ...serialization.safe import add_safe_globals
from ..device_mesh import DeviceMesh, _again, init_device_mesh
from .dtensor import DTensor, rebuilt
from .making import distribute_module, distribute_tensor, empty, full, ones, rand, randn, zeros
from .placement_types import Partial, Placement, Replicate, Shard, _StridedShard

__all__ = ["DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard", "distribute_module",
           "distribute_tensor", "empty", "full", "init_device_mesh", "ones", "rand", "randn", "zeros"]
# What `load` may use in a file that is read as data.
add_safe_globals([_again, rebuilt, Partial, Replicate, Shard, _StridedShard])
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "experimental parallel placement_types"}, __name__))
