"""Checks before a write: whether the call also reads the memory, and whether elements of the memory coincide."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...foundations.errors import noted, warn_once
from ...foundations.modes import local
from ...kernels.kinds import placed
from ...kernels.layout import address, dense


def refuse_inference(meta: Any) -> None:
    """Raise RuntimeError for a write, outside of inference mode, to a tensor that was made in inference mode."""
    if meta.inference and not local.thread.inference:
        raise noted(
            RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
                         "clone to get a normal tensor before doing inplace update.See "
                         "https://github.com/pytorch/rfcs/pull/17 for more details."),
            "tensors#inference-tensor-written")


def refuse_overlap(target: Array, other: Array, whole: bool = False) -> None:
    """Raise RuntimeError if `target` shares memory with `other`, unless they are the same elements and not `whole`."""
    if type(target) is not np.ndarray or type(other) is not np.ndarray:
        target, other = placed(target), placed(other)
        if type(target) is not np.ndarray or type(other) is not np.ndarray:
            return                                       # other addresses are known beyond the seam only
    if (target is other or np.may_share_memory(target, other)) and overlap(target, other, whole):
        raise noted(
            RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer "
                         "to a single memory location. Please clone() the tensor before performing the operation."),
            "in-place#partly-overlapping-memory")


def overlap(target: Array, other: Array, whole: bool) -> bool:
    """Whether arrays that may share memory are other elements of it, or are `whole`.

    Like PyTorch, it finds shared memory only if both arrays are dense.
    """
    if not (dense(target) and dense(other)):
        return False
    return whole or address(target) != address(other) or target.shape != other.shape or target.dtype != other.dtype or (
        any([n != 1 and a != b for n, a, b in zip(target.shape, target.strides, other.strides)]))


def unlock(target: Array) -> Array:
    """A writable array over the same memory, if it is read-only because elements of a view coincide.

    Raises RuntimeError if elements of this array plainly coincide. If windows overlap, PyTorch writes them in order.
    """
    if target.size and repeats(target.shape, target.strides):
        raise repeated()
    return unlocked(target)


def repeated() -> RuntimeError:
    """The error for a write to elements that plainly coincide."""
    return noted(
        RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                     "memory location. Please clone() the tensor before performing the operation."),
        "in-place#overlapping-memory")


def repeats(shape: Shape, strides: Shape) -> bool:
    """Whether elements of such an array are repeated, as by `expand`."""
    return any([step == 0 and size > 1 for step, size in zip(strides, shape)])


def unlocked(target: Array) -> Array:
    """A writable array over the same memory, for a write of one number, which may go to a place several times.

    Raises RuntimeError if the memory itself is read-only, such as that of a file that NumPy has mapped for reading.
    """
    if not target.size:                                    # nothing is written, so any memory will do
        return np.empty_like(target)
    writable = target.view()
    try:
        writable.flags.writeable = True
    except ValueError:
        raise noted(
            RuntimeError("unsupported operation: the written-to tensor refers to memory that is read-only. Please "
                         "clone() the tensor before performing the operation."), "in-place#read-only-memory") from None
    return writable


def warn_of_expanded(name: str, array: Array, example: str) -> None:
    """Warn once of a write to an array with several elements in one place of the memory, which `expand` makes."""
    if not array.flags.writeable and repeats(array.shape, array.strides):
        warn_once(f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
                  f"operation. This also applies to advanced indexing e.g. {example}")


def may_share_memory(a: Array, b: Array) -> bool:
    """Whether a write to one array may change the other. For arrays that are not NumPy's, the answer is always yes."""
    return type(a) is not np.ndarray or type(b) is not np.ndarray or np.may_share_memory(a, b)
