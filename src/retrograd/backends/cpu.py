"""torch.backends.cpu: what the CPU's kernels were made for."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Which instructions PyTorch's own kernels use: "DEFAULT", as there are none of these. NumPy chooses by itself."""
    return "DEFAULT"
