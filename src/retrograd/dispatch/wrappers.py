"""`torch.Tensor._make_wrapper_subclass`: a tensor that has a geometry, and whose class computes with what it wraps."""

from __future__ import annotations

from typing import Any

from ..foundations.devices import device as Device
from ..foundations.dtypes import DIFFERENTIABLE
from ..tensors.arguments.options import element_type, order_of_shape, strided
from ..tensors.state.base import TensorBase, meta_of
from .modes import has_handler
from .wrapped import WrapperArray


def make_wrapper_subclass(cls: type[Any], size: Any, strides: Any = None, storage_offset: Any = None,
                          memory_format: Any = None, dtype: Any = None, layout: Any = strided, device: Any = None,
                          pin_memory: bool = False, requires_grad: bool = False,
                          dispatch_sizes_strides_policy: Any = None, dispatch_device: bool = False,
                          dispatch_layout: bool = False, _extra_dispatch_keys: Any = None,
                          storage_size: Any = None) -> Any:
    """A wrapper of the class `cls`, which is derived from Tensor and has a `__torch_dispatch__`.

    It has the size, the strides, the dtype and the device that are given, and no memory. Raises RuntimeError for a
    class without a `__torch_dispatch__`, and if gradients are asked for and the dtype has none.
    """
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
                        f"Make sure your class inherits from Tensor. This one is {cls!r}.")
    from_class: Any = cls
    if not has_handler(from_class):
        raise RuntimeError("torch_dispatch_key_set must be set: the class needs a __torch_dispatch__")
    shape, kind = tuple([int(n) for n in size]), element_type("_make_wrapper_subclass", dtype)
    if requires_grad and kind not in DIFFERENTIABLE:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    lie = None if strides is None else tuple([int(n) for n in strides])
    if lie is None and memory_format is not None:
        order = order_of_shape("_make_wrapper_subclass", memory_format, shape)
        lie = order if isinstance(order, tuple) else None
    made = object.__new__(cls)
    array = WrapperArray(shape, kind, lie, Device("cpu") if device is None else Device(device), layout)
    made._array, made._edge, made._grad_meta = array, None, None  # type: ignore[assignment]
    array.belong(made)
    if requires_grad:
        meta_of(made).leaf = True
    return made
