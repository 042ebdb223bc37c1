"""torch.distributed.optim: optimizers that several processes share. Programs ask whether an optimizer is one of them.

There is one process, so there are no such optimizers.
"""

from typing import TYPE_CHECKING

from ..names import missing, refused_class
from ..optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)

ZeroRedundancyOptimizer = refused_class("torch.distributed.optim.ZeroRedundancyOptimizer", Optimizer)
