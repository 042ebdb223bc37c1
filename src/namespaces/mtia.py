"""torch.mtia, for programs that can run without Meta's accelerators: there are none."""

from .cuda import device_count, is_available, manual_seed, manual_seed_all

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]
