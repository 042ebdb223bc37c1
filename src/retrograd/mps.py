"""torch.mps, for programs that can run without Apple's GPU: there is none."""

from .cuda import device_count, is_available, manual_seed

__all__ = ["device_count", "is_available", "manual_seed"]
