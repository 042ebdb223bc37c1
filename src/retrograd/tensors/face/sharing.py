"""Memory that several processes share, and tensors over such memory.

The memory is a file without a name, as large as the storage of one tensor. Each process maps the file. The file is
gone when no process has a tensor over the memory any more.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.lib import array_utils

from ...foundations.dtypes import Array, dtype as torch_dtype
from ...kernels.indexing.indexing import overlaps
from ...kernels.layout import address, bytes_between, owner_of, window
from ..recording.public import methods, public
from ..state.base import TensorBase
from .copying import writable
from .storage import SharedBytes, put_behind, shared_bytes, untyped_storage

# The shared memory of this process by its name. A memory that comes back from another process is found here.
_known: WeakValueDictionary[str, SharedMemory] = WeakValueDictionary()


class SharedMemory(SharedBytes):
    """Bytes that other processes can map. NumPy takes the object as an array of bytes.

    `multiprocessing` can send the object to another process, which then has the same bytes.
    """

    def __init__(self, size: int, name: str | None = None, arena: Any = None) -> None:
        # These modules are imported late, because few programs need them, and their import takes a while.
        self.size = size
        self.name = import_module("uuid").uuid4().hex if name is None else name
        self.arena = import_module("multiprocessing.heap").Arena(max(size, 1)) if arena is None else arena
        start = address(np.frombuffer(self.arena.buffer, np.uint8))
        self.__array_interface__ = {"data": (start, False), "shape": (size,), "typestr": "|u1", "version": 3}
        _known[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        file = _file_of(self.arena)
        return _received, (self.size, self.name, file)


def _file_of(arena: Any) -> Any:
    """What another process needs to map the memory: a descriptor of the file, or in Windows the name of the memory."""
    return import_module("multiprocessing.reduction").DupFd(arena.fd) if hasattr(arena, "fd") else arena._state


def _received(size: int, name: str, file: Any) -> SharedMemory:
    """The memory with this name in the process that receives it."""
    memory = _known.get(name)
    if memory is None:
        memory = SharedMemory(size, name, _mapped(size, file))
    return memory


def _mapped(size: int, file: Any) -> Any:
    kind = import_module("multiprocessing.heap").Arena
    if not isinstance(file, tuple):
        return kind(max(size, 1), file.detach())
    arena = kind.__new__(kind)
    arena.__setstate__(file)
    return arena


def is_shared(self: TensorBase) -> bool:
    """Whether other processes can share the memory of the tensor: see `share_memory_`."""
    return shared_bytes(self._array) is not None


@public(method=True)
def share_memory_(self: TensorBase) -> TensorBase:
    """Move the whole storage of the tensor into memory that other processes can share. Returns the tensor.

    A process that is started afterwards, or that gets the tensor through a queue of `torch.multiprocessing`, sees each
    write to the tensor. Other tensors over the old memory, such as views, keep the old memory.
    """
    if not is_shared(self):
        array, elements = self._array, untyped_storage(self)._elements
        memory = np.asarray(SharedMemory(elements.nbytes))
        memory[...] = elements
        start = address(array) - address(elements) if array.size else 0
        put_behind(self, window(memory, array.shape, array.dtype, start, array.strides))
    return self


def parts(tensor: TensorBase) -> tuple[Any, ...]:
    """What another process needs to make the tensor: its shared memory, or its elements, its dtype and its layout."""
    array = np.asarray(tensor._array)
    start = address(array) - address(owner_of(array)) if array.size else 0
    memory, element = shared_bytes(array), torch_dtype.of[array.dtype]
    if memory is not None:
        return memory, element, array.shape, start, array.strides
    if array.flags.c_contiguous:
        return array, element
    spanned = bytes_between(*array_utils.byte_bounds(array), array)
    return spanned, element, array.shape, 0, array.strides


def from_parts(memory: Any, element: torch_dtype, *layout: Any) -> Array:
    """The array that `parts` describes. Its type is the object that this process compares types with."""
    memory = memory if isinstance(memory, SharedMemory) else writable(memory)
    if not layout:
        return memory.view(element.dtype)  # type: ignore[no-any-return]  # the elements themselves
    shape, start, strides = layout
    array = window(np.asarray(memory), shape, element.dtype, start, strides)
    array.flags.writeable = not overlaps(array)
    return array


methods(is_shared)
