"""The memory of tensors as storages of bytes or of elements; and functions that give a tensor other memory.

The memory is represented by the array that owns it. A storage is a view of that array in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np

from ...foundations import dtypes
from ...foundations.devices import CPU, device
from ...foundations.dtypes import C_NAMES, F32, Array, Shape, dtype as torch_dtype
from ...foundations.errors import noted, warn
from ...foundations.inherited import name_inherited
from ...foundations.modes import local
from ...graph.locks import moment
from ...graph.node import ENGINE, OtherNode
from ...graph.versions import inherit, new_lineage
from ...kernels.kinds import with_numbers
from ...kernels.layout import address, owner_of, row_by_row, spanned, strided
from ...kernels.mapping import mapped
from ..arguments.data import new_array
from ..arguments.dims import array_of, not_a_tensor
from ..functions.shapes.shape import sizes_of
from ..recording.inplace import check_writable, rebase, written
from ..recording.public import public
from ..state.base import TensorBase, edge_of, note_kind, refuse_tangents
from ..state.dispatch import is_wrapper
from ..transforms.batched import is_batch
from ..transforms.refusals import STORAGE, unbatched

BYTE = np.dtype(np.uint8)


class SharedBytes:
    """Memory that other processes can map, as `face.sharing` makes it."""


def shared_bytes(array: Any) -> Any:
    """The shared memory under an array, if there is any."""
    while array is not None and not isinstance(array, SharedBytes):
        array = getattr(array, "base", None)
    return array


class _Storage:
    """What both kinds of storages do with their elements. The elements of an untyped storage are its bytes."""

    __slots__ = ("_elements",)
    _elements: Array

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._elements.nbytes

    def size(self) -> int:
        """The number of elements."""
        return self._elements.size

    __len__ = size

    def __sizeof__(self) -> int:
        """The number of bytes of the object and of its elements, for `sys.getsizeof`."""
        return super().__sizeof__() + self.nbytes()

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return self._elements.itemsize

    def data_ptr(self) -> int:
        """The address of the first element; 0 without elements."""
        return address(self._elements) if self._elements.size else 0

    @property
    def device(self) -> device:
        """The device of the memory."""
        return CPU

    def is_shared(self) -> bool:
        """Whether other processes can share the memory."""
        return shared_bytes(self._elements) is not None

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        numbers: list[Any] = self._elements.tolist()
        return numbers

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self._elements[_place(index, len(self))].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements[index if isinstance(index, slice) else _place(index, len(self))] = value

    def fill_(self, value: Any) -> Self:
        """Set all elements to one number."""
        self._elements.fill(value)
        return self

    def _text(self, facts: str) -> str:
        return "".join(f" {n}\n" for n in self.tolist()) + (
            f"[torch.storage.{type(self).__name__}({facts}) of size {len(self)}]")


class StorageBase:
    """What untyped storages are, under PyTorch's name. It has no instances of its own."""

    __module__ = "torch"
    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Raise RuntimeError for this class itself."""
        if cls is StorageBase:
            raise RuntimeError("Cannot directly construct StorageBase; subclass it and then construct that")
        return super().__new__(cls)


class UntypedStorage(_Storage, StorageBase):
    """Memory as bytes. Tensors over the same memory have the same storage object while a program holds it.

    It is made from a number of bytes, from a sequence of bytes, or by `Tensor.untyped_storage()`.

    >>> import retrograd as torch
    >>> x = torch.zeros(2, 3)
    >>> x.untyped_storage().nbytes(), x.T[1].untyped_storage() is x.untyped_storage()
    (24, True)
    """

    __module__ = "retrograd.storage"                         # the module under which programs know the class
    __slots__ = ("__weakref__",)

    def __init__(self, data: Any = 0) -> None:
        self._elements = np.zeros(data, BYTE) if isinstance(data, int) else new_array([*data], BYTE)

    @classmethod
    def _over(cls, memory: Array) -> UntypedStorage:
        storage = object.__new__(cls)
        storage._elements = memory
        return storage

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first bytes of a file, which are read when they are used.

        If `shared`, writes to the storage change the file, and a shorter file grows. Otherwise writes stay in memory.
        Raises RuntimeError if there is no such file, or if the file is too short.
        """
        return cls._over(mapped(filename, shared, nbytes))

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU: always False."""
        return False

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return UntypedStorage._over(self._elements[index])
        return super().__getitem__(index)

    def _of_type(self, dtype: np.dtype[Any]) -> Array:
        """The memory as elements of a type."""
        return self._elements.view(dtype)

    def copy_(self, source: UntypedStorage) -> UntypedStorage:
        """Copy the bytes of another storage. Raises RuntimeError if the sizes differ."""
        if len(source) != len(self):
            raise RuntimeError(f"size does not match, self was {len(self)} bytes but src was {len(source)} bytes")
        self._elements[...] = source._elements
        return self

    def clone(self) -> UntypedStorage:
        """The same bytes in new memory."""
        return UntypedStorage._over(self._elements.copy())

    def cpu(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def __repr__(self) -> str:
        return self._text("device=cpu")


class TypedStorage(_Storage):
    """Memory as elements of one type. PyTorch has deprecated it in favor of `UntypedStorage`."""

    __module__ = "retrograd.storage"
    __slots__ = ("_untyped",)

    def __init__(self, data: Any = 0, *, dtype: torch_dtype | None = None) -> None:
        target = F32 if dtype is None else dtype.dtype
        self._elements = np.zeros(data, target) if isinstance(data, int) else new_array([*data], target)
        self._untyped = UntypedStorage._over(self._elements.view(BYTE))

    @classmethod
    def _of(cls, untyped: UntypedStorage, dtype: np.dtype[Any]) -> TypedStorage:
        storage = object.__new__(cls)
        storage._untyped, storage._elements = untyped, untyped._of_type(dtype)
        return storage

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped

    @property
    def dtype(self) -> torch_dtype:
        """The type of the elements."""
        return torch_dtype.of[self._elements.dtype]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def clone(self) -> TypedStorage:
        """The same elements in new memory."""
        return TypedStorage._of(self._untyped.clone(), self._elements.dtype)

    def __repr__(self) -> str:
        return self._text(f"dtype={self.dtype!r}, device=cpu")


class _OfOneType(type):
    """The type of the old classes of storages. Their objects are typed storages with the dtype of the class."""

    dtype: torch_dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def __call__(cls, data: Any = 0) -> TypedStorage:
        return TypedStorage(data, dtype=cls.dtype)


def _of_one_type(element: torch_dtype) -> _OfOneType:
    return _OfOneType(f"{element.legacy}Storage", (), {
        "dtype": element, "__module__": "retrograd",
        "__doc__": f"The old name of `TypedStorage(dtype={element!r})`. PyTorch's files say it."})


HalfStorage, FloatStorage, DoubleStorage = map(_of_one_type, (dtypes.float16, dtypes.float32, dtypes.float64))
ComplexFloatStorage, ComplexDoubleStorage = map(_of_one_type, (dtypes.complex64, dtypes.complex128))
Storage = FloatStorage
CharStorage, ShortStorage, IntStorage, LongStorage = map(
    _of_one_type, (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64))
ByteStorage, BoolStorage, BFloat16Storage = map(_of_one_type, (dtypes.uint8, dtypes.bool_, dtypes.bfloat16))
STORAGE_TYPES = {kind.dtype: kind for kind in (
    HalfStorage, FloatStorage, DoubleStorage, ComplexFloatStorage, ComplexDoubleStorage, CharStorage, ShortStorage,
    IntStorage, LongStorage, ByteStorage, BoolStorage, BFloat16Storage)}


def _place(index: Any, size: int) -> int:
    """An index into a storage, counted from the front."""
    if not isinstance(index, int):
        raise TypeError(f"can't index a storage with {type(index).__name__}")
    if not -size <= index < size:
        raise IndexError(f"index {index} out of range for storage of size {size}")
    return index % size


# The storages that programs hold, by address and size of their memory: slices of a NumPy array may begin at one place.
_storages: WeakValueDictionary[tuple[int, int], UntypedStorage] = WeakValueDictionary()


@public(method=True)
def untyped_storage(self: TensorBase) -> UntypedStorage:
    """The memory of the tensor, as bytes. All tensors over that memory have the same storage."""
    if is_batch(self._array):
        raise unbatched(STORAGE, NotImplementedError)
    if is_wrapper(self):
        return self._array.storage()  # type: ignore[attr-defined, no-any-return]
    owner = owner_of(with_numbers(self._array))
    with moment:
        memory = _bytes_of(owner)
        storage = _storages.get(place := (address(owner), memory.nbytes))
        if storage is None or not storage.nbytes() or not owner.size:
            _storages[place] = storage = UntypedStorage._over(memory)
        return storage


def _bytes_of(owner: Array) -> Array:
    """The whole memory of the array that owns it, as bytes."""
    if not owner.size:
        return np.empty(0, BYTE)
    if owner.flags.forc:
        return (owner if owner.flags.c_contiguous else owner.T).reshape(-1).view(BYTE)
    return spanned(owner)


@public(method=True)
def storage(self: TensorBase) -> TypedStorage:
    """The memory of the tensor, as elements of its type."""
    warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
         "storage class. This should only matter to you if you are using storages directly.  To access "
         "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()", UserWarning)
    return TypedStorage._of(untyped_storage(self), self._array.dtype)


@public(method=True)
def storage_type(self: TensorBase) -> Any:
    """The old class of the tensor's storage, such as `torch.FloatStorage`."""
    return STORAGE_TYPES[torch_dtype.of[self._array.dtype]]


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, _Storage)


@public(method=True)
def is_set_to(self: TensorBase, tensor: TensorBase) -> bool:
    """Whether two tensors consist of the same elements of the same memory."""
    ours, theirs = self._array, array_of("is_set_to", tensor, "tensor")
    same_memory = address(owner_of(ours)) == address(owner_of(theirs))
    return (same_memory and address(ours) == address(theirs) and ours.shape == theirs.shape
            and ours.strides == theirs.strides)


# Giving a tensor other memory

class NotDifferentiable(OtherNode):
    """The node of a tensor that was set to other memory. It has no derivative."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        raise noted(
            RuntimeError("derivative for set_ is not implemented"), "in-place#no-derivative-of-set",
            instead="write with copy_(), so that the former numbers get a gradient of 0")


NotDifferentiable.__name__, NotDifferentiable.namespace = "NotImplemented", ENGINE


@public(method=True)
def set_(self: TensorBase, source: Any = None, storage_offset: int = 0, size: Any = None,
         stride: Any = None) -> TensorBase:
    """Give the tensor the memory of a storage or of another tensor; empty memory without `source`.

    `size`, `stride` and `storage_offset` say how the memory is read; by default, all of it in one dimension. It counts
    as a write. Raises RuntimeError for memory of another type, and for a leaf that requires grad.
    """
    edges = [edge_of(x) for x in (self, source) if isinstance(x, TensorBase)] if local.thread.grad else []
    check_writable(self, any(edges))
    refuse_tangents("set_", (self,), "set the memory of x.detach()")
    put_behind(self, _memory_for(self._array.dtype, source, storage_offset, size, stride))
    written(self)
    if any(edges):
        rebase(self, NotDifferentiable((*edges, None)[:2], self._array.shape, self._array.dtype))
    return self


def _memory_for(dtype: np.dtype[Any], source: Any, offset: int, size: Shape | None, stride: Shape | None) -> Array:
    """The array that the arguments of `set_` describe."""
    if source is None:
        return np.empty(0, dtype)
    if isinstance(source, TensorBase):
        if source._array.dtype != dtype:
            have, want = (C_NAMES[d.name] for d in (source._array.dtype, dtype))
            raise RuntimeError(f"Could not set tensor of type {have} to a tensor of type {want}")
        if size is None:
            return source._array
        source = untyped_storage(source)
    if isinstance(source, TypedStorage):
        if source.dtype.dtype != dtype:
            raise RuntimeError(f"Expected a Storage of type {C_NAMES[dtype.name]} or an UntypedStorage, but "
                               f"got type {source.dtype.legacy} for argument 1 'storage'")
        source = source.untyped()
    if not isinstance(source, UntypedStorage):
        raise not_a_tensor("set_", source, "source", 1)
    whole = source._elements[:source.nbytes() // dtype.itemsize * dtype.itemsize].view(dtype)
    sizes = whole.shape if size is None else sizes_of("set_", (size,))
    strides = row_by_row(sizes) if stride is None else sizes_of("set_", (stride,), "stride")
    if len(sizes) != len(strides):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(strides)})")
    if offset < 0:
        raise noted(
            RuntimeError(f"Tensor: invalid storage offset {offset}"), because="it counts elements from the start")
    return strided(whole, sizes, strides, offset)


def put_behind(tensor: TensorBase, array: Array) -> None:
    """Give a tensor other memory. Its version continues from the present count of writes."""
    lineage = new_lineage(array)
    inherit(lineage, tensor._array)
    tensor._array = lineage
    note_kind(tensor)
