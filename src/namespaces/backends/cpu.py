"""torch.backends.cpu: the instruction set of the CPU's kernels."""

from __future__ import annotations

import numpy as np

__all__ = ["get_cpu_capability"]


_NEEDED = {"AVX512": ("AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL"), "AVX2": ("AVX2", "FMA3")}


def get_cpu_capability() -> str:
    """The widest instructions of this processor that NumPy and PyTorch have kernels for: "AVX512", "AVX2", "DEFAULT".

    Programs ask in order to choose a way to compute.
    """
    found = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return next((name for name, needed in _NEEDED.items() if all([found.get(each) for each in needed])), "DEFAULT")
