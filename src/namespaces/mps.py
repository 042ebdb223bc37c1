"""torch.mps, for programs that can run without Apple's GPU: there is none."""

from typing import TYPE_CHECKING

from .cuda import device_count, is_available, manual_seed
from .foundations.names import missing

__all__ = ["device_count", "is_available", "manual_seed"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
