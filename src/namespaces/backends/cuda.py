"""torch.backends.cuda: switches of kernels on GPUs, and of the ways to compute attention.

The switches of attention are those of `nn.attention`, and matter on the CPU, too. The others may be set, and change
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..foundations.errors import warn
from ..nn.functional.switches import Allowed

__all__ = ["SDPAParams", "allow_fp16_bf16_reduction_math_sdp", "can_use_cudnn_attention",
           "can_use_efficient_attention", "can_use_flash_attention", "cudnn_sdp_enabled", "enable_cudnn_sdp",
           "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled",
           "fp16_bf16_reduction_math_sdp_allowed", "is_built", "is_ck_sdpa_available", "is_flash_attention_available",
           "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled", "sdp_kernel"]


class _Products:
    """`matmul`: the precision of products on a GPU."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """Whether this build supports GPUs: no."""
    return False


def _checked(enabled: bool) -> bool:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(enabled).__name__}")
    return enabled


def flash_sdp_enabled() -> bool:
    """Whether attention may be one operator."""
    return Allowed.flash


def enable_flash_sdp(enabled: bool) -> None:
    """Allow or forbid attention as one operator."""
    Allowed.flash = _checked(enabled)


def math_sdp_enabled() -> bool:
    """Whether attention may be computed by several operators."""
    return Allowed.math


def enable_math_sdp(enabled: bool) -> None:
    """Allow or forbid attention by several operators."""
    Allowed.math = _checked(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether the kernel of a GPU that saves memory is allowed."""
    return Allowed.mem_efficient


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow or forbid the kernel of a GPU that saves memory."""
    Allowed.mem_efficient = _checked(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's kernel is allowed."""
    return Allowed.cudnn


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow or forbid cuDNN's kernel."""
    Allowed.cudnn = _checked(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether sums of numbers of 16 bits may be made with 16 bits."""
    return Allowed.reduced_sums


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allow or forbid sums with 16 bits. They are made with 32 bits all the same."""
    Allowed.reduced_sums = _checked(enabled)


class SDPAParams(NamedTuple):
    """The arguments of attention, for questions about kernels."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool


def is_flash_attention_available() -> bool:
    """Whether GPUs have this kernel: there are no GPUs."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether AMD's GPUs have this kernel: there are no GPUs."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU could compute this attention so: there are no GPUs."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU could compute this attention so: there are no GPUs."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a GPU could compute this attention so: there are no GPUs."""
    return False


@contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
               enable_cudnn: bool = True) -> Iterator[dict[str, object]]:
    """The deprecated form of `nn.attention.sdpa_kernel`."""
    warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. "
         "Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
         FutureWarning)
    before = Allowed.flash, Allowed.math, Allowed.mem_efficient, Allowed.cudnn
    wanted = enable_flash, enable_math, enable_mem_efficient, enable_cudnn
    Allowed.flash, Allowed.math, Allowed.mem_efficient, Allowed.cudnn = wanted
    try:
        yield {}
    finally:
        Allowed.flash, Allowed.math, Allowed.mem_efficient, Allowed.cudnn = before
