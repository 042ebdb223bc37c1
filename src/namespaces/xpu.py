"""torch.xpu, for programs that can run without Intel's GPU: there is none."""

from typing import TYPE_CHECKING

from .cuda import device_count, is_available, manual_seed, manual_seed_all
from .foundations.names import missing

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
