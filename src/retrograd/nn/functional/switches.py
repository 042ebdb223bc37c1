"""Which of PyTorch's ways to compute attention are allowed. Programs set them by `nn.attention` and `backends`.

On the CPU PyTorch has two ways: one operator ("flash"), and a composition of operators ("math"). The other ways need a
GPU.
"""

from __future__ import annotations

__all__ = ["Allowed"]


class Allowed:
    """The switches of the process. `fastpath` is that of layers, see `MultiheadAttention`."""

    flash = math = mem_efficient = cudnn = overrideable = True
    reduced_sums = False
    fastpath = True
