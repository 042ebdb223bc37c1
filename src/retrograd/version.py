"""torch.version: the version of this package, and of PyTorch's libraries for GPUs, of which there are none here.

`cuda`, `hip`, `rocm` and `xpu` are None. Programs test these.
"""

__all__ = ["__version__", "cuda", "debug", "hip", "rocm", "xpu"]

__version__ = "0.1.0"
debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
