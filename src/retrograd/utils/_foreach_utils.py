"""How optimizers sort tensors for torch._foreach_*: by device and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..foundations.devices import device as Device
from ..foundations.dtypes import dtype as DType
from ..foundations.names import missing
from ..tensors.tensor import Tensor

__all__ = ["_device_has_foreach_support", "_get_foreach_kernels_supported_devices",
           "_get_fused_kernels_supported_devices", "_group_tensors_by_device_and_dtype", "_has_foreach_support"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_foreach_supported_types = [Tensor]
Groups = dict[tuple[Device, DType], tuple[list[list[Any]], list[int]]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices, other than the CPU, on which such functions run at once."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices for which PyTorch has fused optimizers."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False) -> Groups:
    """The columns of a table of tensors, sorted by the device and the dtype of the tensor in the first row.

    Other rows may be empty, and may have None for a tensor. `with_indices` also gives the places of the columns.
    """
    if not tensorlistlist or not tensorlistlist[0]:
        raise RuntimeError("Expected a first list of tensors that is not empty")
    first = tensorlistlist[0]
    if any(len(row) not in (0, len(first)) for row in tensorlistlist):
        raise RuntimeError("Expected lists of as many tensors as the first, or empty lists")
    groups: Groups = {}
    for i, tensor in enumerate(first):
        if tensor is None:
            raise RuntimeError("Tensors of the first list of nested Tensor lists are supposed to be defined but the "
                               f"{i}-th Tensor is not.")
        rows, places = groups.setdefault((tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], []))
        for into, row in zip(rows, tensorlistlist):
            into.extend(row[i:i + 1])
        places.extend([i] if with_indices else [])
    return groups


def _device_has_foreach_support(device: Device) -> bool:
    """Whether the functions run on a device."""
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: Sequence[Any], device: Device) -> bool:
    """Whether the functions run for these tensors: for no class derived from Tensor."""
    return _device_has_foreach_support(device) and all(
        tensor is None or type(tensor) in _foreach_supported_types for tensor in tensors)
