"""The dispatch keys of PyTorch's operators, and sets of them. retrograd has no dispatcher: programs only name them."""

from __future__ import annotations

import enum
from typing import Any

from ..foundations.names import refused_class

__all__ = ["DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard"]

DispatchKey = enum.Enum("DispatchKey", [
    "Undefined", "CPU", "CUDA", "XPU", "MPS", "Meta", "SparseCPU", "QuantizedCPU", "NestedTensorCPU", "BackendSelect",
    "Python", "Functionalize", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA", "AutogradXPU", "AutogradMPS",
    "AutogradMeta", "AutogradOther", "Autograd", "AutocastCPU", "AutocastCUDA", "AutocastXPU", "AutocastMPS",
    "FuncTorchBatched", "CompositeExplicitAutograd", "CompositeImplicitAutograd"], module="torch._C")
# A program's kernel of a key for autocast would use it, and autocast calls no such kernels here.
_ExcludeDispatchKeyGuard = refused_class("torch._C._ExcludeDispatchKeyGuard")


class DispatchKeySet:
    """A set of dispatch keys.

    >>> import retrograd as torch
    >>> keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
    >>> (keys | torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)).has(torch._C.DispatchKey.CPU)
    True
    """

    def __init__(self, *keys: Any) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys | other._keys)

    def has(self, key: Any) -> bool:
        """Whether a key is in the set."""
        return key in self._keys
