"""torch.fft: Fourier transforms. The functions are in the modules of this package, over `ops.fourier`."""

from __future__ import annotations

__all__: list[str] = []
