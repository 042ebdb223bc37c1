"""The memory of a tensor in another shape: the same memory, or larger memory if the tensor is its only holder."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...graph.ownership import ALONE, hold
from ...graph.versions import inherit
from ...kernels.kinds import with_numbers
from ...kernels.layout import address, check_size, owner_of


def reshape_memory(tensor: Any, shape: tuple[int, ...]) -> None:
    """Give the tensor this shape, row-major from its start in its memory. The elements in memory stay.

    Raises RuntimeError if the memory is too small and others hold it too, since a NumPy array cannot grow.
    """
    if hasattr(tensor._array, "resized"):                   # an array without memory
        tensor._array = tensor._array.resized(shape)
        return
    array = tensor._array = with_numbers(tensor._array)
    check_size(shape, array.itemsize)
    owner = owner_of(array)
    start = address(array) - address(owner) if array.size else 0
    block = owner if owner.flags.c_contiguous else owner.T
    if start + math.prod(shape) * array.itemsize <= owner.nbytes and block.flags.c_contiguous and start >= 0:
        tensor._array = np.ndarray(shape, array.dtype, block, start)
        return
    alone, tensor._array = [array], None
    del owner, block, array
    if alone[0].size and hold(alone, 0) != ALONE:
        tensor._array = alone[0]
        raise noted(
            RuntimeError("Trying to resize storage that is not resizable"), "in-place#storage-not-resizable",
            because="others hold this memory too (a view, a NumPy array, a graph), and a NumPy array cannot grow: "
                    "resize a clone() instead")
    try:
        tensor._array = _grown(alone[0], shape)
    except MemoryError:
        tensor._array = alone[0]
        raise


def only_in_rows(array: Any) -> bool:
    """Whether an array of another shape lies row by row: some arrays have no order of axes to choose."""
    return not hasattr(array, "transpose")


def _grown(array: Array, shape: tuple[int, ...]) -> Array:
    """New memory that starts with the elements of the array."""
    fresh = np.empty(shape, array.dtype)
    fresh.reshape(-1)[:array.size] = array.reshape(-1)
    inherit(fresh, array)
    return fresh
