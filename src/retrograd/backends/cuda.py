"""torch.backends.cuda: switches of matrix products on GPUs. They may be set, and change nothing."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


class _Products:
    """`matmul`: the precision of products on a GPU."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True


matmul = _Products()


def is_built() -> bool:
    """Whether this build supports GPUs: no."""
    return False
