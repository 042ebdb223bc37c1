"""torch._C._functorch: questions about tensors inside transforms of functions. No tensor here is inside of one."""

from __future__ import annotations

from typing import Any

__all__ = ["is_batchedtensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor",
           "maybe_get_bdim", "maybe_get_level"]


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor is inside a `vmap`: no."""
    return False


is_gradtrackingtensor = is_functorch_wrapped_tensor = is_batchedtensor


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension of the batch: -1, as there is none."""
    return -1


maybe_get_level = maybe_get_bdim
