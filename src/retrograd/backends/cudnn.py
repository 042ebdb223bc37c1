"""torch.backends.cudnn: NVIDIA's library of kernels, which retrograd does not use. Its switches change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags", "is_available", "version"]

allow_tf32 = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
enabled = True


def is_available() -> bool:
    """Whether the library is available: no."""
    return False


def version() -> int | None:
    """The version of the library: None, as there is none."""
    return None


@contextmanager
def flags(enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
          allow_tf32: bool = True, fp32_precision: str = "none") -> Iterator[None]:
    """A context with other switches. It changes nothing."""
    yield
