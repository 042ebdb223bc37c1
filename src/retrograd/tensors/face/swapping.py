"""Tensors that take over the place of others: `torch.utils.swap_tensors`, and what `load_state_dict` swaps in."""

from __future__ import annotations

import weakref
from typing import Any

from ...foundations.errors import noted
from ...graph.hooks import register
from ...graph.node import hooks_of
from ..recording.public import public
from ..state.base import TensorBase

__all__ = ["module_load", "swap_tensors"]


@public(method=True)
def module_load(self: TensorBase, other: TensorBase, assign: bool = False) -> TensorBase:
    """What takes the place of this parameter or buffer when a module loads `other` and swaps tensors.

    With `assign` the result shares the memory of `other`, otherwise that of `self`, which takes the values of `other`.
    """
    result: TensorBase = other.detach() if assign else self.copy_(other).detach()
    return result


def _slots(tensor: TensorBase) -> list[str]:
    """The slots that classes derived from Tensor add."""
    names = [getattr(cls, "__slots__", ()) for cls in type(tensor).__mro__ if cls not in TensorBase.__mro__]
    return sorted({name for slots in names for name in ([slots] if isinstance(slots, str) else slots)})


def swap_tensors(t1: TensorBase, t2: TensorBase) -> None:
    """Exchange two tensors: their memory, class, gradient, node and attributes. Both objects stay where they are.

    >>> import retrograd as torch
    >>> a, b = torch.zeros(1), torch.ones(2)
    >>> torch.utils.swap_tensors(a, b)
    >>> a
    tensor([1., 1.])

    The backward pass of a graph that was made before raises RuntimeError.

    Raises RuntimeError if a weak reference to one of them exists, or if their classes have different slots.
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not isinstance(tensor, TensorBase):
            raise noted(
                AttributeError(f"'{type(tensor).__name__}' object has no attribute '_use_count'"),
                because="swap_tensors takes two tensors")
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = _slots(t1)
    if slots != _slots(t2):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for tensor in (t1, t2):
        _poison(tensor)
    for name in ("__class__", "__dict__", "_array", "_edge", "_grad_meta", *slots):
        _exchange(t1, t2, name)


def _poison(tensor: TensorBase) -> None:
    """Let a graph that would add into the gradient of this leaf raise an error instead."""
    meta = tensor._grad_meta
    for reference in () if meta is None else (meta.accumulator, meta.dormant):
        node = None if reference is None else reference()
        if node is not None:
            register(hooks_of(node).pre, _poisoned)
    if meta is not None:
        meta.accumulator = meta.dormant = None               # a new graph gets a new node


def _poisoned(*grads: Any) -> None:
    raise RuntimeError("Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when "
                       "you try to run backward on a tensor that was swapped. For a module m with "
                       "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the device "
                       "or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and backward. To "
                       "resolve this, please only change the device/dtype before running forward (or after both "
                       "forward and backward).")


def _exchange(t1: TensorBase, t2: TensorBase, name: str) -> None:
    """Exchange one attribute, which both or none may have."""
    missing = object()
    first, second = getattr(t1, name, missing), getattr(t2, name, missing)
    for tensor, value in ((t1, second), (t2, first)):
        if value is not missing:
            setattr(tensor, name, value)
        elif hasattr(tensor, name):
            delattr(tensor, name)
