"""torch.version: of this package, and of the libraries for GPUs that PyTorch may be built with; here there are none.

`cuda`, `hip`, `rocm` and `xpu` are None, which programs ask for.
"""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "hip", "rocm", "xpu"]

__version__ = "0.1.0"
debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
