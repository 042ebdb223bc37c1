"""Predicates of the kinds of tensors that PyTorch has and retrograd lacks; and names of types.

Programs branch on them. Here the answers are fixed: tensors are dense, strided, on the CPU, in memory of one process.
"""

from __future__ import annotations

from typing import Any

from ...names import public as public_name
from ..arguments.options import check_tensor
from ..recording.public import methods, public, public_property
from ..state.base import TensorBase
from .conversion import get_device as _get_device, to
from .layout import data_ptr


@public()
def typename(obj: Any, /) -> str:
    """The name of a type: for a tensor, that of `type()`; for a class, a function or an instance, the dotted name.

    >>> import retrograd as torch
    >>> typename(torch.ones(2)), typename(torch.nn.functional.relu), typename(3)
    ('torch.FloatTensor', 'torch.nn.functional.activation.relu', 'int')
    """
    if isinstance(obj, TensorBase):
        found: str = obj.type()
        return found
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or "builtins"
    return named.__qualname__ if module == "builtins" else f"{public_name(module)}.{named.__qualname__}"


@public()
def get_device(input: TensorBase) -> int:
    """The number of the device: -1 for the CPU."""
    check_tensor("get_device", input)
    return _get_device(input)


@public()
def is_inference(input: TensorBase) -> bool:
    """Whether the tensor was made under `inference_mode`."""
    check_tensor("is_inference", input)
    return input.is_inference()  # type: ignore[no-any-return]


@public(method=True)
def is_distributed(input: TensorBase) -> bool:
    """Whether parts of the tensor are in other processes: False."""
    check_tensor("is_distributed", input)
    return False


def _false(self: TensorBase) -> bool:
    """False: every tensor is dense, strided, and on the CPU."""
    return False


def _none(self: TensorBase) -> None:
    """None: tensors have no names."""


def is_shared(self: TensorBase) -> bool:
    """Whether other processes share its memory: False."""
    return False


@public(method=True)
def share_memory_(self: TensorBase) -> TensorBase:
    """The tensor itself. Its memory belongs to this process; other processes get a copy, by pickling."""
    return self


@public(method=True)
def is_pinned(self: TensorBase, device: Any = None) -> bool:
    """Whether its memory is pinned for a GPU: False."""
    return False


@public(method=True)
def pin_memory(self: TensorBase, device: Any = None) -> TensorBase:
    """Raises RuntimeError, since there is no GPU to pin memory for."""
    raise RuntimeError("Cannot access accelerator device when none is available. Memory is pinned for a GPU.")


@public(method=True)
def to_dense(self: TensorBase, dtype: Any = None, *, masked_grad: bool | None = None) -> TensorBase:
    """The tensor itself, since it is dense; or a conversion to `dtype`, if that is given."""
    return self if dtype is None else to(self, dtype)


is_nested = is_sparse_csr = is_mkldnn = is_vulkan = public_property(_false)
is_ipu = is_maia = is_mtia = is_xla = is_xpu = public_property(_false)
methods(
    is_shared, is_nested=is_nested, is_sparse_csr=is_nested, is_mkldnn=is_nested, is_vulkan=is_nested, is_ipu=is_ipu,
    is_maia=is_ipu, is_mtia=is_ipu, is_xla=is_ipu, is_xpu=is_ipu, name=public_property(_none), const_data_ptr=data_ptr)
