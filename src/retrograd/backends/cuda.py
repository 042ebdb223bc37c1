"""torch.backends.cuda: switches of matrix products on GPUs, which may be set, and change nothing."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


class _Products:
    """`matmul`: how exact products may be on a GPU."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """Whether GPUs were provided for: no."""
    return False
