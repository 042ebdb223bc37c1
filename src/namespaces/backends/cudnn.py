"""torch.backends.cudnn: NVIDIA's library of kernels, which retrograd does not use. Its switches change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled", "flags", "is_acceptable",
           "is_available", "set_flags", "version"]

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


def is_acceptable(tensor: object) -> bool:
    """Whether the library can compute with a tensor: no."""
    return False


def set_flags(_enabled: bool | None = None, _benchmark: bool | None = None, _benchmark_limit: int | None = None,
              _deterministic: bool | None = None, _allow_tf32: bool | None = None, _fp32_precision: str = "none",
              ) -> tuple[bool, bool, int | None, bool, bool, str]:
    """Set switches that are not None. Returns the values before. They change nothing."""
    global enabled, benchmark, benchmark_limit, deterministic, allow_tf32
    before = enabled, benchmark, benchmark_limit, deterministic, allow_tf32, "none"
    enabled = enabled if _enabled is None else _enabled
    benchmark = benchmark if _benchmark is None else _benchmark
    benchmark_limit = benchmark_limit if _benchmark_limit is None else _benchmark_limit
    deterministic = deterministic if _deterministic is None else _deterministic
    allow_tf32 = allow_tf32 if _allow_tf32 is None else _allow_tf32
    return before


@contextmanager
def flags(enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False,
          allow_tf32: bool = True, fp32_precision: str = "none") -> Iterator[None]:
    """A context with other switches, which change nothing."""
    before = set_flags(enabled, benchmark, None, deterministic, allow_tf32)  # the limit is the library's
    try:
        yield
    finally:
        set_flags(*before)
