"""How tensors and parameters are made again of storages. Pickles name these functions as PyTorch does.

PyTorch has them in `torch._utils` and `torch._tensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..foundations.dtypes import Shape, dtype as torch_dtype
from ..foundations.names import PACKAGE
from ..nn.parameter import Parameter
from ..tensors.arguments.options import layout as Layout, sparse_coo
from ..tensors.face.storage import TypedStorage
from ..tensors.face.subclassing import make_wrapper_subclass
from ..tensors.functions.creation.creation import empty
from ..tensors.functions.shapes.geometry import empty_strided
from ..tensors.functions.sparse import sparse_compressed_tensor, sparse_coo_tensor
from ..tensors.tensor import Tensor


def _rebuild_tensor(storage: TypedStorage, storage_offset: int, size: Shape, stride: Shape) -> Tensor:
    """A tensor on the memory of a typed storage, from an element on, with these sizes and strides."""
    if storage.untyped().device.type == "meta":
        return _rebuild_meta_tensor_no_storage(storage.dtype, size, stride, False)
    tensor: Any = empty(0, dtype=storage.dtype, device="cpu")
    tensor.set_(storage.untyped(), storage_offset, tuple(size), tuple(stride))
    return tensor  # type: ignore[no-any-return]


def _rebuild_meta_tensor_no_storage(dtype: torch_dtype, size: Shape, stride: Shape, requires_grad: bool) -> Tensor:
    """A tensor on the device meta."""
    tensor: Any = empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)
    return tensor  # type: ignore[no-any-return]


def _rebuild_tensor_v2(storage: TypedStorage, storage_offset: int, size: Shape, stride: Shape, requires_grad: bool,
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


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """A parameter over the memory of `data`."""
    parameter = Parameter(data, requires_grad)
    parameter._backward_hooks = backward_hooks
    return parameter


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any,
                                  state: Mapping[str, Any]) -> Parameter:
    """A parameter over the memory of `data`, with attributes."""
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    vars(parameter).update(state)
    return parameter


def _rebuild_wrapper_subclass(cls: type[Any], dtype: Any, size: Any, stride: Any, storage_offset: int, layout: Any,
                              device: Any, requires_grad: bool) -> Tensor:
    """A tensor of a class that wraps other tensors, without its attributes."""
    return make_wrapper_subclass(  # type: ignore[no-any-return]
        cls, size, strides=stride, dtype=dtype, device=device, requires_grad=requires_grad)


def _rebuild_from_type_v2(func: Callable[..., Any], new_type: type[Any], args: tuple[Any, ...],
                          state: dict[str, Any]) -> Any:
    """The tensor that `func(*args)` makes, as an object of a class derived from Tensor, with attributes.

    A class may define `__setstate__` to take the state.
    """
    tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = tensor.as_subclass(new_type)
    if hasattr(new_type, "__setstate__"):
        tensor.__setstate__(state)
    else:
        vars(tensor).update(state)
    return tensor


for _each in (_rebuild_meta_tensor_no_storage, _rebuild_parameter, _rebuild_parameter_with_state,
              _rebuild_sparse_tensor, _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3,
              _rebuild_wrapper_subclass):
    _each.__module__ = f"{PACKAGE}._utils"
_rebuild_from_type_v2.__module__ = f"{PACKAGE}._tensor"
