"""Of PyTorch's internal helpers, those that programs use: making tensors of storages again, and one tensor of many."""

from __future__ import annotations

import sys
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .foundations.names import missing
from .nn.parameter import Parameter
from .tensors.arguments.options import layout as Layout, sparse_coo
from .tensors.face.storage import TypedStorage
from .tensors.functions.creation.creation import empty
from .tensors.functions.shapes.geometry import empty_strided
from .tensors.functions.shapes.joining import cat
from .tensors.functions.sparse import sparse_compressed_tensor, sparse_coo_tensor
from .tensors.tensor import Tensor

__all__ = ["ExceptionWrapper", "KeyErrorMessage", "_flatten_dense_tensors",
           "_get_available_device_type", "_get_device_module", "_rebuild_meta_tensor_no_storage",
           "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_sparse_tensor", "_rebuild_tensor",
           "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_reorder_tensors_as", "_take_tensors",
           "_unflatten_dense_tensors"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


def _get_available_device_type() -> str | None:
    """The kind of the accelerator: None, because there is no other device than the CPU."""
    return None


def _get_device_module(device_type: str) -> Any:
    """The module of the package for a kind of device. Raises RuntimeError if there is none.

    >>> _get_device_module("cpu").__name__
    'retrograd.cpu'
    """
    module = getattr(sys.modules[__package__], device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as "
                           f"'torch.{device_type}'.")
    return module


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """A tensor on the memory of a typed storage, from an element on, with these sizes and strides."""
    if storage.untyped().device.type == "meta":
        return _rebuild_meta_tensor_no_storage(storage.dtype, size, stride, False)
    tensor: Any = empty(0, dtype=storage.dtype)
    tensor.set_(storage.untyped(), storage_offset, tuple(size), tuple(stride))
    return tensor  # type: ignore[no-any-return]


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """A tensor on the device meta."""
    tensor: Any = empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)
    return tensor  # type: ignore[no-any-return]


def _rebuild_tensor_v2(storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool,
                       backward_hooks: Any, metadata: Any = None) -> Tensor:
    """As `_rebuild_tensor`, with `requires_grad` and hooks: how PyTorch's pickles make a tensor."""
    tensor: Any = _rebuild_tensor(storage, storage_offset, size, stride)
    if metadata:
        tensor = tensor.conj() if metadata.get("conj") else tensor
        tensor = -tensor if metadata.get("neg") else tensor
    tensor.requires_grad = requires_grad
    tensor._backward_hooks = backward_hooks
    return tensor  # type: ignore[no-any-return]


def _rebuild_tensor_v3(storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool,
                       backward_hooks: Any, dtype: Any, metadata: Any = None) -> Tensor:
    """As `_rebuild_tensor_v2`, over an untyped storage: how PyTorch's pickles make a tensor of a newer dtype."""
    typed = TypedStorage._of(storage, dtype.dtype)
    return _rebuild_tensor_v2(typed, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _rebuild_sparse_tensor(layout: Layout, data: Any) -> Tensor:
    """The sparse tensor of indices, values and a size, whose indices are checked. COO ends with `is_coalesced`."""
    if layout is sparse_coo:
        indices, values, size, *coalesced = data
        tensor: Any = sparse_coo_tensor(indices, values, size, is_coalesced=coalesced[0] if coalesced else None,
                                   check_invariants=True)
    else:
        tensor = sparse_compressed_tensor(*data, layout=layout, check_invariants=True)
    return tensor  # type: ignore[no-any-return]


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """A parameter over the memory of `data`."""
    parameter = Parameter(data, requires_grad)
    parameter._backward_hooks = backward_hooks
    return parameter


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any,
                                  state: Mapping[str, Any]) -> Parameter:
    """A parameter over the memory of `data`, with attributes."""
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    vars(parameter).update(state)
    return parameter


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """All elements of several tensors, one after another, in one new tensor of one dimension."""
    return cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Iterable[Any]) -> tuple[Any, ...]:
    """Views of a flat tensor in the shapes of `tensors`, one after another."""
    parts, start = [], 0
    for tensor in tensors:
        parts.append(flat.narrow(0, start, tensor.numel()).view_as(tensor))
        start += tensor.numel()
    return tuple(parts)


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterator[list[Any]]:
    """Groups of tensors of one type, each of at most `size_limit` bytes, unless a tensor alone is larger."""
    groups: dict[str, tuple[list[Any], int]] = defaultdict(lambda: ([], 0))
    for tensor in tensors:
        kind, size = tensor.type(), tensor.numel() * tensor.element_size()
        group, total = groups[kind]
        if total + size > size_limit and group:
            yield group
            group, total = [], 0
        groups[kind] = [*group, tensor], total + size
    for group, _ in groups.values():
        if group:
            yield group


def _reorder_tensors_as(tensors: Iterable[Any], ordered_tensors: Iterable[Any]) -> tuple[Any, ...]:
    """The tensors in an order in which each has the type of that in the same place of `ordered_tensors`."""
    of_type: dict[str, list[Any]] = defaultdict(list)
    for tensor in tensors:
        of_type[tensor.type()].append(tensor)
    waiting = {kind: iter(found) for kind, found in of_type.items()}
    return tuple([next(waiting[tensor.type()]) for tensor in ordered_tensors])


class KeyErrorMessage(str):
    """A text that a KeyError shows as it is; of any other it shows the repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as text and type, to be raised in another thread or process with where it happened."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, value, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise the exception again, its message after `Caught KeyError in background.`"""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            exception = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise exception


class classproperty:
    """A decorator that makes a method without a call of it: the class is its argument.

    >>> class Named:
    ...     @classproperty
    ...     def title(cls):
    ...         return cls.__name__
    >>> Named.title
    'Named'
    """

    def __init__(self, func: Any) -> None:
        self._function = func

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._function(owner)
