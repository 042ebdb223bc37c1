"""torch.xpu, for programs that can run without Intel's GPU: there is none."""

from .cuda import device_count, is_available, manual_seed, manual_seed_all

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]
