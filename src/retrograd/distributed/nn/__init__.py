"""torch.distributed.nn: operations of all processes together, through which gradients flow."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import functional
from .functional import (
    all_gather, all_reduce, all_to_all, all_to_all_single, broadcast, gather, reduce, reduce_scatter, scatter)

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "functional", "gather",
           "reduce", "reduce_scatter", "scatter"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
