"""The arrays of tensors as MPI takes them: memory row by row, and a type that MPI knows.

An array that lies row by row goes to MPI without a copy. Another one is copied into a packed array, and copied back
if MPI wrote over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundations.dtypes import Array, dtype
from ..kernels.kinds import with_numbers
from ..tensors.tensor import Tensor
from .reductions import refuse

__all__ = ["Buffer", "array_of", "checked", "checked_list", "facts_of", "sendable"]

# MPI has no numbers of 16 bits and no bools of NumPy, so it moves them as integers of their size.
_MOVED_AS: dict[int, Any] = {1: np.uint8, 2: np.uint16}


def checked(tensor: Any, name: str = "tensor") -> Tensor:
    """The argument, if it is a tensor. Raises TypeError otherwise."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             "
                        f"but got {type(tensor)} instead.")
    return tensor


def checked_list(tensors: Any, name: str) -> list[Tensor]:
    """The argument, if it is a list of tensors. Raises TypeError otherwise."""
    listed = isinstance(tensors, (list, tuple))
    if not listed or not all([isinstance(each, Tensor) for each in tensors]):
        found = f"with elements of type {[type(each) for each in tensors]}." if listed else "instead."
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(tensors)} {found}")
    return [*tensors]


def array_of(tensor: Tensor) -> Array:
    """The array of a tensor. Raises NotImplementedError for a tensor whose numbers are elsewhere."""
    array = with_numbers(tensor._array)
    if type(array) is not np.ndarray:
        raise NotImplementedError(f"Collectives take dense tensors on the CPU, and this tensor is {tensor.layout} on "
                                  f"{tensor.device}. Call to_dense(), or run the collective outside of the transform.")
    return array


def sendable(tensor: Tensor) -> Array:
    """The array of a tensor of a dtype that collectives send. Raises RuntimeError for other dtypes."""
    refuse(tensor.dtype)
    return array_of(tensor)


def facts_of(tensor: Tensor) -> tuple[Any, ...]:
    """The shape and the dtype of a tensor, which all processes must share."""
    array = array_of(tensor)
    return array.shape, dtype.of[array.dtype].name


class Buffer:
    """The memory of an array for MPI: `flat` has one dimension, and `wire` is what MPI gets."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.packed = not array.flags.c_contiguous
        self.flat = (np.ascontiguousarray(array) if self.packed else array).reshape(-1)
        kind = array.dtype
        moved = kind.kind == "b" or kind.itemsize == 2
        self.wire = self.flat.view(_MOVED_AS[kind.itemsize]) if moved else self.flat

    def unpack(self) -> None:
        """Copy what MPI wrote to the array, unless MPI wrote there."""
        if self.packed:
            np.copyto(self.array, self.flat.reshape(self.array.shape))
