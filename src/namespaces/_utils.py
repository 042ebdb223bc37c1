"""PyTorch's internal helpers that programs use: they rebuild tensors from storages, and join many tensors to one."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .foundations.dtypes import dtype as torch_dtype
from .foundations.names import missing
from .serialization.rebuilding import (
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    _rebuild_wrapper_subclass,
)
from .tensors.functions.shapes.joining import cat
from .tensors.tensor import Tensor
from .utils.caught import ExceptionWrapper, KeyErrorMessage

__all__ = ["ExceptionWrapper", "KeyErrorMessage", "_element_size", "_flatten_dense_tensors",
           "_get_available_device_type", "_get_device_module", "_rebuild_meta_tensor_no_storage",
           "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_sparse_tensor", "_rebuild_tensor",
           "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_wrapper_subclass", "_reorder_tensors_as",
           "_take_tensors", "_unflatten_dense_tensors"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


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


def _element_size(dtype: Any) -> int:
    """The number of bytes of an element. Raises RuntimeError for a value that is no dtype.

    >>> import retrograd as torch
    >>> _element_size(torch.float64)
    8
    """
    if not isinstance(dtype, torch_dtype):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """All elements of several tensors, one after another, in one new tensor of one dimension."""
    return cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Any]) -> tuple[Any, ...]:
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
