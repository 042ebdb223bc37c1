"""torch.backends.mkldnn: Intel's library of layers (oneDNN), which retrograd does not use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["allow_tf32", "deterministic", "enabled", "flags", "is_available"]

enabled = True
deterministic = False
allow_tf32: bool | None = None


def is_available() -> bool:
    """Whether kernels use the library: no, they use NumPy."""
    return False


@contextmanager
def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True,
          fp32_precision: str = "none") -> Iterator[None]:
    """A context with other switches. It changes nothing."""
    yield
