"""torch.distributed.algorithms: uneven numbers of batches, and hooks that send the gradients of a module."""

from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from .join import Join

__all__ = ["Join"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "ddp_comm_hooks"}, __name__))
