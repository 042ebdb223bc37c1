"""Tensors over foreign memory: of a NumPy array, of a buffer, of a file, of another library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import Array, dtype as torch_dtype
from ...foundations.errors import kind_of, no_kernel, noted, warn_once
from ...graph.versions import apart
from ...kernels.layout import address
from ...kernels.mapping import mapped
from ...ops.basic import clone
from ..arguments.data import checked_array, new_array
from ..arguments.options import asked, element_type, made, require_grad, strided
from ..functions.creation.creation import tensor
from ..recording.calls import recorded
from ..recording.overriding import DisableTorchFunctionSubclass
from ..recording.public import public
from ..state.base import TensorBase, meta_of, plain, requires, set_leaf
from ..state.inference import refuse_inference_leaf
from .conversion import to
from .interop import detach

_clone = recorded(clone)


@public(for_modes=True)
def from_numpy(ndarray: Array) -> TensorBase:
    """A tensor over the memory of an array. A write to either changes both.

    Raises TypeError for a value that is no array and for types that tensors do not have, ValueError for negative
    strides and foreign byte orders.
    """
    array: Any = ndarray
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {kind_of(array)})")
    return _over(array)


def _over(ndarray: Array, copied: bool = False) -> TensorBase:
    """A tensor over the memory of an array, with a warning if nobody may write there, unless the tensor is copied."""
    array = checked_array(ndarray)
    if not array.flags.writeable and not copied:
        _warn_of_constant("NumPy array")
    return plain(apart(array))  # type: ignore[no-any-return]


def _warn_of_constant(kind: str) -> None:
    warn_once(f"The given {kind} is not writable, and PyTorch does not support non-writable tensors. Writing to this "
              f"tensor will fail: copy the {kind.rpartition(' ')[2]} first if you want to write to it.")


@public(for_modes=True)
def as_tensor(data: Any, dtype: torch_dtype | None = None, device: DeviceLike | None = None) -> TensorBase:
    """`data` as a tensor: a tensor of that type itself, an array of that type as shared memory, all else as a copy.

    A conversion of a tensor is recorded.
    """
    if isinstance(data, np.ndarray):
        data = _over(data)
    if isinstance(data, TensorBase):
        return to(data, device=device, dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


@public(for_modes=True)
def asarray(obj: Any, *, dtype: torch_dtype | None = None, device: DeviceLike | None = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> TensorBase:
    """`obj` as a tensor, over the same memory if `obj` is a tensor, an array, a buffer, or an array of another library.

    With `copy=True` it always copies. With `copy=False` it raises ValueError if a copy is needed. A tensor keeps its
    history, unless `requires_grad=False` is given: then a leaf itself requires no gradient any more.
    """
    required = requires_grad is not None and asked(requires_grad)
    shared = _shared(obj, dtype, bool(copy), required)
    if shared is None:
        if copy is False and isinstance(obj, np.generic):
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        if copy is False:
            raise noted(
                ValueError("can't alias arbitrary sequence into a tensor."), because=f"it is a {type(obj).__name__}")
        target = None if dtype is None else element_type("asarray", dtype)
        data = np.asarray(obj) if isinstance(obj, np.generic) else obj
        if copy and isinstance(obj, np.generic) and target is not None:
            _check_alias(checked_array(data).dtype, target)                   # as in PyTorch
        return made(new_array(data, target), device, required)
    with DisableTorchFunctionSubclass():                    # a conversion makes no subclass
        result = to(shared, device=device, dtype=dtype)
    if copy is False:
        _check_alias(shared._array.dtype, result._array.dtype)
    if copy and result is shared:
        result = _clone(shared, "K")
    if requires_grad is None and requires(shared):
        warn_once("torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                  "requires_grad=False explicitly to get the old behavior and silence this warning.")
        required = True
    if required:
        if not requires(result):
            refuse_inference_leaf(result)
            require_grad(result)
        return result
    if result._edge is not None and result._edge.node is not None:
        return detach(result)
    if requires(result):
        set_leaf(meta_of(result), False)
    return result


def _check_alias(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    if dtype != target:
        raise ValueError(f"can't alias tensor with dtype '{torch_dtype.of[dtype].legacy}' into dtype "
                         f"'{torch_dtype.of[target].legacy}'.")


def _shared(obj: Any, dtype: torch_dtype | None, copied: bool, requires_grad: bool) -> TensorBase | None:
    """A tensor over the memory of `obj`; None if `obj` has no memory to share."""
    if isinstance(obj, TensorBase):
        return obj
    if isinstance(obj, np.ndarray):
        return _over(obj, copied or (dtype is not None and dtype.dtype != obj.dtype))
    if isinstance(obj, np.generic):
        return None
    if hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        return from_dlpack(obj)
    if type(obj) in (list, tuple) or not _is_buffer(obj):
        return None
    return frombuffer(obj, dtype=dtype, requires_grad=requires_grad)


def _is_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


@public(for_modes=True)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> TensorBase:
    """A one-dimensional tensor over the memory of a buffer: `count` elements from the byte `offset` on."""
    target = element_type("frombuffer", dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    if not view.c_contiguous:
        raise RuntimeError("could not retrieve buffer from object")
    if view.readonly:
        _warn_of_constant("buffer")
    length, after = view.nbytes, view.nbytes - offset
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} "
                         "bytes) minus 1")
    if count < 0 and after % target.itemsize:
        raise ValueError(f"buffer length ({after} bytes) after offset ({offset} bytes) must be a multiple of "
                         f"element size ({target.itemsize})")
    if count * target.itemsize > after:
        raise ValueError(f"requested buffer length ({count} * {target.itemsize} bytes) after offset ({offset} bytes) "
                         f"must not be greater than actual buffer length ({length} bytes)")
    return made(np.frombuffer(buffer, target, max(count, -1), offset), None, requires_grad)


@public("from_file(str filename, bool? shared=None, int? size=0, *, dtype dtype=None, layout layout=None, device "
        "device=None, bool pin_memory=False, bool requires_grad=False)", strict=True)
def from_file(filename: str, shared: bool | None = None, size: int | None = 0, *, dtype: torch_dtype | None = None,
              layout: Any = None, device: DeviceLike | None = None, pin_memory: bool = False,
              requires_grad: bool = False) -> TensorBase:
    """A one-dimensional tensor over the first `size` numbers of a file. Writes reach the file if `shared`.

    If `shared`, a file that is too short grows, and a file that does not exist is made. Raises RuntimeError if the
    file cannot be opened, or is too short and not `shared`.
    """
    target = element_type("from_file", dtype)
    if layout is not None and layout is not strided:
        raise no_kernel("aten::from_file", "SparseCPU", instead="leave the layout out")
    checked(device)
    return made(mapped(filename, bool(shared), (size or 0) * target.itemsize).view(target), None, requires_grad)


class _Source:
    """An object with the methods of DLPack, for another object that has them, or for a capsule that already exists.

    `has_flags` says whether the capsule that was taken can say that nobody may write to its memory.
    """

    def __init__(self, given: Any) -> None:
        self.given, self.has_flags, self.is_capsule = given, True, not hasattr(given, "__dlpack__")
        if self.is_capsule and (type(given).__name__ != "PyCapsule" or '"used_' in repr(given)):
            raise noted(
                RuntimeError("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed "
                             "only once, so you might have already constructed a tensor from it once."),
                given=type(given).__name__)

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.given if self.is_capsule else self.given.__dlpack__(**options)
        self.has_flags = '"dltensor"' not in repr(capsule)  # the name of capsules before DLPack 1.0
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.is_capsule else self.given.__dlpack_device__()                 # the CPU


class _Writable:
    """The memory of an array that NumPy takes for constant, as memory to write to."""

    def __init__(self, array: Array) -> None:
        self.array, self.__array_interface__ = array, array.__array_interface__ | {"data": (address(array), False)}


def from_dlpack(ext_tensor: Any) -> TensorBase:
    """A tensor over the memory of another library's array, which must support DLPack, or of a DLPack capsule."""
    source = _Source(ext_tensor)
    if isinstance(ext_tensor, TensorBase):
        source.__dlpack_device__()                         # which refuses the device meta
    array = np.from_dlpack(source)
    if not source.has_flags:
        array = np.asarray(_Writable(array))
    return plain(checked_array(array))  # type: ignore[no-any-return]
