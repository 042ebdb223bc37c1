"""What memory may be written to: none that is read in other places at once, or that has one place for several elements.

Must not know how a write is made or recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.layout import dense
from ...modes import local


def refuse_inference(meta: Any) -> None:
    """Refuse to write, outside inference mode, to a tensor that was made in it. Raises RuntimeError."""
    if meta.inference and not local.thread.inference:
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed."
                           "You can make a clone to get a normal tensor before doing inplace update.See "
                           "https://github.com/pytorch/rfcs/pull/17 for more details.")


def refuse_overlap(target: np.ndarray[Any, Any], other: np.ndarray[Any, Any], whole: bool = False) -> None:
    """Refuse to write to memory that is also read, unless it is read exactly as it is written (and not `whole`).

    As in PyTorch, only of dense memory is this found out. Raises RuntimeError.
    """
    if type(target) is not np.ndarray or type(other) is not np.ndarray:
        return                                           # others know where they lie only beyond the seam
    if (target is not other and not np.may_share_memory(target, other)) or not (dense(target) and dense(other)):
        return
    same_start = target.__array_interface__["data"][0] == other.__array_interface__["data"][0]
    if whole or not same_start or target.shape != other.shape or target.dtype != other.dtype or any([
            n != 1 and a != b for n, a, b in zip(target.shape, target.strides, other.strides)]):
        raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                           "to a single memory location. Please clone() the tensor before performing the operation.")


def unlock(target: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory for a write, where it is read-only because a view of it has an element in several places.

    Raises RuntimeError where this view plainly is one of those. (Where windows overlap, PyTorch writes in order.)
    """
    if target.size and any([stride == 0 and size > 1 for stride, size in zip(target.strides, target.shape)]):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")
    return unlocked(target)


def unlocked(target: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory for one write of one number, which may go to a place several times."""
    writable = target.view()
    writable.flags.writeable = True
    return writable
