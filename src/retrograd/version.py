"""torch.version: the version of PyTorch that is followed, and of PyTorch's libraries for GPUs: none.

`__version__` begins with the version of PyTorch, so that programs that ask for a version find the one whose behavior
they get. The part after `+` is retrograd's own version, which `retrograd` names alone. `cuda`, `hip`, `rocm` and `xpu`
are None. Programs test these.
"""

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

retrograd = "0.1.0"
__version__ = f"2.13.0+retrograd{retrograd}"
debug = False
git_version = "Unknown"                                      # as in a PyTorch that was not built from its repository
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
