"""The class of tensors on the device `meta`, and how calls of public functions with such tensors run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import unwrap
from typing import Any, NoReturn

import numpy as np

from ...foundations.devices import META, DeviceLike, device as Device, on_meta
from ...foundations.dtypes import Array, Shape, default_floating, dtype as torch_dtype
from ...foundations.modes import FOR_THE_PACKAGE, local
from ...foundations.names import reached
from ...graph.versions import writing
from ...kernels.layout import empty_strided, row_by_row, steps
from ...kernels.meta import MetaArray, strided, without_memory
from ..arguments.dims import not_a_tensor
from ..arguments.options import element_type
from ..face import interop
from ..face.data import incompatible
from ..face.other_arrays import OtherArrayMethods, derived
from ..face.printing import facts_text
from ..face.storage import TypedStorage, UntypedStorage, is_storage, set_
from ..face.subclassing import leaf_of
from ..recording.inplace import written
from ..recording.overriding import tensors_in
from ..state.base import TensorBase, plain, plain_class, requires
from ..state.dispatch import DISPATCH, UNHANDLED
from .inference import infer, inferring
from .refusals import LEAVING, no_data, other_storage, refuse


class MetaMethods(OtherArrayMethods):
    """What a tensor without memory has of its own."""

    __slots__ = ()

    is_meta = True
    is_cpu = False

    @property
    def device(self) -> Device:
        """The device `meta`."""
        return META

    # These ask about the number of elements, and then for the element, which is not there.
    item, __int__, __float__, __complex__, __index__ = map(
        unwrap, (interop.item, interop.to_int, interop.to_float, interop.to_complex, interop.to_index))

    def __bool__(self) -> bool:
        if self._array.size != 1:
            said = "no values" if not self._array.size else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {said} is ambiguous")
        return bool(self.item())                             # which raises

    def tolist(self) -> NoReturn:
        """Raises NotImplementedError, since there are no numbers."""
        raise no_data()

    def cpu(self, memory_format: Any = None) -> NoReturn:
        """Raises NotImplementedError, since there are no numbers."""
        raise no_data()

    def numpy(self, *, force: bool = False) -> Any:
        """Raises TypeError, since there are no numbers."""
        return self._array.__array__()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._array.__array__()

    def data_ptr(self) -> int:
        """0, since there is no memory."""
        return 0

    const_data_ptr = data_ptr

    def untyped_storage(self) -> MetaStorage:
        """The storage that has a size, but no memory."""
        return MetaStorage.of(self._array.base, self._array.nbytes)

    @property
    def data(self) -> Any:
        """A tensor of the same geometry without history."""
        this: Any = self
        return this.detach()

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, MetaMethods):
            raise incompatible("one of them is on the device meta")
        self._array = value._array

    def set_(self, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Any:
        """Give the tensor the memory of another meta tensor, or of a storage: a geometry, and nothing else."""
        return set_(self, _source(source, self._array.dtype, storage_offset, size, stride))  # type: ignore[arg-type]

    def storage(self) -> TypedStorage:
        """The storage that has a size, but no memory, as elements of the tensor's type."""
        return TypedStorage._of(self.untyped_storage(), self._array.dtype)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, such as 'torch.meta.FloatTensor'; or the tensor in another type."""
        this: Any = self
        return this.to(dtype) if dtype is not None else f"torch.meta.{torch_dtype.of[self._array.dtype].legacy}Tensor"

    def share_memory_(self) -> NoReturn:
        """Raises RuntimeError, since there is no memory."""
        raise RuntimeError("_share_fd_: only available on CPU")

    def pin_memory(self, device: DeviceLike | None = None) -> NoReturn:
        """Raises RuntimeError, since there is no memory."""
        raise RuntimeError(f"cannot pin 'Meta{torch_dtype.of[self._array.dtype].legacy}Type' only dense CPU tensors "
                           "can be pinned")

    def _text(self) -> str:
        return text_of(self)

    def _copied(self) -> MetaArray:
        return without_memory(self._array.shape, self._array.dtype, steps(self._array))

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return rebuilt, (plain_class(type(self)), *_parts(self), dict(vars(self)))


def _source(source: Any, dtype: np.dtype[Any], offset: int, size: Any, stride: Any) -> Any:
    """A meta tensor that lies as the arguments of `set_` say."""
    if source is None:
        return faced(plain(without_memory((0,), dtype)))  # type: ignore[arg-type]
    if not isinstance(source, TensorBase) and not is_storage(source):
        raise not_a_tensor("set_", source, "source", 1)
    if not on_meta(source.device):
        raise other_storage("meta", "cpu")
    if isinstance(source, TensorBase) and size is None:
        return source
    memory: Any = source.untyped_storage() if isinstance(source, TensorBase) else source.untyped()
    shape = (memory.nbytes() // dtype.itemsize,) if size is None else tuple(size)
    array: Any = strided(memory.elements(dtype), shape, row_by_row(shape) if stride is None else tuple(stride), offset)
    return faced(plain(array))


def _parts(tensor: Any) -> tuple[Any, Any, Any, Any]:
    """The arguments that make a meta tensor again: its shape, dtype and strides, and whether it requires grad."""
    array = tensor._array
    return array.shape, torch_dtype.of[array.dtype], steps(array), tensor.requires_grad


def rebuilt(kind: Any, shape: tuple[int, ...], dtype: torch_dtype, strides: Shape, requires_grad: bool,
            state: dict[str, Any]) -> Any:
    """A meta tensor from its pickle."""
    reached("tensors.meta.public")                       # the pickle may be all that this process knows of such tensors
    tensor = leaf_of(kind, without_memory(shape, element_type("tensor", dtype), strides), requires_grad,
                     local.thread.inference)
    vars(tensor).update(state)
    return tensor


class MetaStorage(UntypedStorage):
    """A storage without memory: it has a size."""

    __module__ = "retrograd.storage"
    __slots__ = ("_base", "_size")
    _base: Any
    _size: int

    @classmethod
    def of(cls, base: Array, size: int) -> MetaStorage:
        """The storage of meta arrays over `base`."""
        storage = object.__new__(cls)
        storage._base, storage._size = base, size
        storage._elements = np.broadcast_to(np.zeros((), np.uint8), (size,))
        return storage

    def elements(self, dtype: np.dtype[Any]) -> MetaArray:
        """An array without memory over this storage, from its start."""
        base = self._base if self._base.dtype == dtype else np.empty(1, dtype)
        return MetaArray(base, base, self._size)

    def _of_type(self, dtype: np.dtype[Any]) -> Any:
        return np.broadcast_to(np.zeros((), dtype), (self._size // dtype.itemsize,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetaStorage) and self._base is other._base

    __hash__ = UntypedStorage.__hash__

    @property
    def device(self) -> Device:
        """The device `meta`."""
        return META

    def nbytes(self) -> int:
        """The size that the memory would have."""
        return self._size

    __len__ = size = nbytes

    def data_ptr(self) -> int:
        """0, since there is no memory."""
        return 0

    def __getitem__(self, index: Any) -> NoReturn:
        raise NotImplementedError("Not available for 'meta' device type")

    def __repr__(self) -> str:
        return f"...\n[torch.storage.UntypedStorage(device=meta) of size {self._size}]"


def text_of(tensor: Any) -> str:
    """The text of a meta tensor."""
    array, node = tensor._array, tensor.grad_fn
    facts = ["device='meta'", f"size={array.shape}"]
    if array.dtype != default_floating():
        facts.append(f"dtype={torch_dtype.of[array.dtype]!r}")
    if node is not None:
        facts.append(f"grad_fn=<{type(node).__name__}>")
    elif tensor.requires_grad:
        facts.append("requires_grad=True")
    return facts_text("tensor(...", facts)


def faced(result: Any) -> Any:
    """The result of a call. Each tensor over a meta array in it gets the class of such tensors."""
    for tensor in tensors_in([result]):
        array: Any = tensor._array
        if type(array) is MetaArray and not isinstance(tensor, MetaMethods):
            kind: Any = type(tensor)
            tensor.__class__ = derived(MetaMethods, kind)
    return result


def dispatch(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a public function that was called with a meta tensor; UNHANDLED if no argument is one."""
    given = tensors_in((*args, *kwargs.values()))
    if local.thread.transform is infer or not any([isinstance(x, MetaMethods) for x in given]):
        return UNHANDLED
    name: str = function.__name__
    if name in LEAVING and not isinstance(given[0], MetaMethods) and not (local.thread.grad and any(
            [requires(x) for x in given])):
        return _left_alone(function, args, kwargs)
    refuse(function, name, args, kwargs, given)
    device = kwargs.get("device")
    if device is not None and not on_meta(device):
        return _on_cpu(function, name, args, kwargs)
    if name in ("to", "type_as") and len(args) > 1 and _leaves_meta(args[1]):
        raise no_data()
    if device is not None:
        kwargs = {key: value for key, value in kwargs.items() if key != "device"}
    with inferring():
        result = function(*args, **kwargs)
    if name == "new_tensor":
        return faced(plain(without_memory(result._array.shape, result._array.dtype)))  # type: ignore[arg-type]
    return faced(result)


def _left_alone(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The tensor with memory that a function was to write to with operands without numbers: it stays as it is.

    Raises the errors that the call would have on meta tensors.
    """
    tensor = args[0]
    array = tensor._array
    writing(array)
    with inferring():
        function(faced(plain(without_memory(array.shape, array.dtype, steps(array)))),  # type: ignore[arg-type]
                 *args[1:], **kwargs)
    written(tensor)
    return tensor


def _leaves_meta(place: Any) -> bool:
    """Whether an argument of `to` names the CPU."""
    if isinstance(place, TensorBase):
        return not isinstance(place, MetaMethods)
    return isinstance(place, (str, Device)) and not on_meta(place)


def _on_cpu(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a function that makes a tensor on the CPU of the size of a meta tensor. Raises NotImplementedError
    for a function that would need its numbers.
    """
    if not (name.endswith("_like") or name.startswith("new_")):
        raise no_data()
    array = args[0]._array
    return function(plain(empty_strided(array.shape, steps(array), array.dtype)), *args[1:], **kwargs)


def begin() -> None:
    """Let tensors over meta arrays have their class, and send calls with them to `dispatch`."""
    MetaArray.face = staticmethod(partial(derived, MetaMethods))
    DISPATCH.add_fallback(dispatch)
    FOR_THE_PACKAGE.add(infer)
