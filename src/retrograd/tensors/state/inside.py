"""What functions ask about a tensor: whether it is sparse, or a sample of a batch, and what its memory carries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...foundations.modes import local
from ...kernels.kinds import OtherArray
from ...tensors.state.base import TensorBase

_LOOP = 'call vmap(..., fallback="loop"), which calls the function once for each sample'
_NO_RULE = "Batching rule not implemented for aten::{}. We could not generate a fallback."

NO_WRITE = "Batching rule not implemented for aten::{}; the fallback path doesn't work on out= or view ops."


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse tensor."""
    return isinstance(value, TensorBase) and isinstance(value._array, OtherArray)


def is_sample(tensor: TensorBase) -> bool:
    """Whether a tensor is a sample of a batch, at any level of `vmap` that is in effect."""
    return any([level.holds(tensor._array) for level in local.thread.levels])


def refuse_samples(name: str, *tensors: Any, said: str = _NO_RULE) -> None:
    """Raise RuntimeError if a tensor is a sample of a batch, for whose numbers the function `name` asks."""
    if local.thread.levels and any([is_sample(tensor) for tensor in tensors]):
        raise no_batch(name, said)


def no_batch(name: str, said: str = _NO_RULE) -> RuntimeError:
    """The error for a function `name` that cannot compute a batch."""
    return noted(RuntimeError(said.format(name)), instead=_LOOP)


def refuse_meta(tensor: Any) -> None:
    """Raise NotImplementedError for a tensor that is to be transformed, if the tensor has no memory."""
    if type(tensor._array) is not np.ndarray and tensor.is_meta:
        raise noted(
            NotImplementedError("transforms of functions take no tensors on the device meta"),
            instead="call the transform with a tensor that has memory, such as torch.empty_like(x, device='cpu')")


def dense_array(tensor: TensorBase) -> Array:
    """The array of a tensor that is to be a batch. Raises RuntimeError for a sparse tensor, NotImplementedError for a
    tensor on the device meta.
    """
    refuse_meta(tensor)
    if is_sparse(tensor):
        raise no_batch("select")                           # which takes a sample out of the batch
    return tensor._array


def keep_tangents(array: Array, former: Array) -> None:
    """Give an array that takes the place of another one the tangents of the other, at each level."""
    for level in local.thread.levels:
        level.carry(array, former)
