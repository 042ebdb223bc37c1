"""torch.distributed.constants: how long processes wait for each other."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from .distributed_c10d import default_pg_timeout

__all__ = ["default_pg_timeout"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
