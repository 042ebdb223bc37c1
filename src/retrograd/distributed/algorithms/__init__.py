"""torch.distributed.algorithms: uneven numbers of batches, and hooks that send the gradients of a module."""

from typing import TYPE_CHECKING

from ...names import missing
from .join import Join

__all__ = ["Join"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=["ddp_comm_hooks"])
