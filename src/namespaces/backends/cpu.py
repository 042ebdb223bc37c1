"""torch.backends.cpu: the instruction set of the CPU's kernels."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The instruction set of PyTorch's kernels: "DEFAULT", as there are no such kernels here. NumPy chooses its own."""
    return "DEFAULT"
