"""torch.backends.cuda: switches of matrix products and attention on GPUs. They may be set, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["cudnn_sdp_enabled", "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp",
           "flash_sdp_enabled", "is_built", "is_flash_attention_available", "math_sdp_enabled", "matmul",
           "mem_efficient_sdp_enabled", "sdp_kernel"]


class _Products:
    """`matmul`: the precision of products on a GPU."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()
_attention = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built() -> bool:
    """Whether this build supports GPUs: no."""
    return False


def flash_sdp_enabled() -> bool:
    """Whether attention on a GPU may use flash attention."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Choose whether attention on a GPU may use flash attention. It changes nothing on the CPU."""
    _attention["flash"] = enabled


def math_sdp_enabled() -> bool:
    """Whether attention on a GPU may use plain matrix products."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Choose whether attention on a GPU may use plain matrix products. It changes nothing on the CPU."""
    _attention["math"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Whether attention on a GPU may use attention that saves memory."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Choose whether attention on a GPU may use attention that saves memory. It changes nothing on the CPU."""
    _attention["mem_efficient"] = enabled


def cudnn_sdp_enabled() -> bool:
    """Whether attention on a GPU may use cuDNN."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Choose whether attention on a GPU may use cuDNN. It changes nothing on the CPU."""
    _attention["cudnn"] = enabled


def is_flash_attention_available() -> bool:
    """Whether this build has flash attention for GPUs: no."""
    return False


@contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
               enable_cudnn: bool = True) -> Iterator[None]:
    """A context in which attention on a GPU may use only some kernels. It changes nothing on the CPU."""
    before = {**_attention}
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _attention.update(before)
