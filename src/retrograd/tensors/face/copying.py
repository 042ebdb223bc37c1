"""Copies and pickles of tensors: they keep memory, attributes and gradients, but not history or hooks.

A pickle holds memory, numbers and names of classes. Reading a pickle runs no code of the program that wrote it, except
the methods of the classes that it names.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib import array_utils

from ...foundations.dtypes import NARROW, Array, dtype as torch_dtype
from ...foundations.errors import noted
from ...foundations.modes import local
from ...kernels.indexing.indexing import overlaps
from ...kernels.kinds import with_numbers
from ...kernels.layout import address, bytes_between, owner_of, window
from ..arguments.data import checked_array
from ..recording.public import methods, public
from ..state.base import TensorBase, meta_of
from ..transforms.batched import parts
from .subclassing import leaf_of


@public(name="__deepcopy__")
def deepcopy(self: TensorBase, memo: dict[int, Any]) -> TensorBase:
    """A copy of a leaf, with its `.grad` and attributes. Tensors that share memory still share it in the copy.

    Raises RuntimeError for a tensor that is no leaf.
    """
    apart = getattr(self._array, "deepcopied", None)             # of a wrapper
    if apart is not None:
        return apart(self, memo)  # type: ignore[no-any-return]
    return copy_of_leaf(self, memo, lambda: (type(self), copied_memory(self._array, memo)))


def copy_of_leaf(self: TensorBase, memo: dict[int, Any], make: Callable[[], tuple[type[Any], Any]]) -> TensorBase:
    """The copy of a leaf that `memo` has, or a new one: `make` gives its class and its array."""
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    if local.thread.functions:
        _check_outside(self)
    if not self.is_leaf:
        raise noted(
            RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
                         "the moment.  If you were attempting to deepcopy a module, this may be because of a "
                         "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"),
            "tensors#deepcopy-of-non-leaf", instead="copy a computed tensor with .clone(), or .detach() it first")
    new: TensorBase = leaf_of(*make(), self.requires_grad, local.thread.inference)
    memo[id(self)] = new
    meta = self._grad_meta
    if meta is not None and meta.grad is not None:
        meta_of(new).grad = copy.deepcopy(meta.grad, memo)
    for name, value in vars(self).items():
        new.__dict__[name] = copy.deepcopy(value, memo)
    return new


def _check_outside(tensor: TensorBase) -> None:
    """Raise NotImplementedError for a value of a transform: the copy of its numbers would have no derivative."""
    batched = bool(parts(tensor._array)[1])
    if batched or any([level.moves(tensor._array) for level in local.thread.levels]) or (
            tensor.requires_grad and not getattr(tensor, "_is_param", False)):
        raise noted(
            NotImplementedError(f"Cannot access storage of {'BatchedTensorImpl' if batched else 'TensorWrapper'}"),
            instead="inside of a transform, copy with .clone()")


def copied_memory(array: Array, memo: dict[int, Any]) -> Array:
    """A copy of the array, over a copy of the whole memory that it is a part of. Copies share it through `memo`."""
    array = with_numbers(array)
    root = owner_of(array)
    if not root.size or not root.flags.forc:
        return np.array(array, order="K")
    known = memo.get(id(root))
    if known is None:
        known = memo[id(root)] = root, np.array(root, order="K").ravel("K")     # `root` too, so that its id stays valid
    part = window(known[1], array.shape, array.dtype, address(array) - address(root), array.strides)
    part.flags.writeable = not overlaps(part)
    return part


def shallow_copy(self: TensorBase) -> TensorBase:
    """A leaf over the same memory. The writes to the copy are counted apart."""
    new: TensorBase = leaf_of(type(self), self.data._array, self.requires_grad, local.thread.inference)
    new.__dict__.update(vars(self))
    return new


def recognized(array: Array) -> Array:
    """An array from a pickle, with the object that this process compares types with."""
    known = torch_dtype.all.get(array.dtype.name)        # if it is rare, this process may not have used it so far
    return array if known is not None and known.dtype in NARROW else checked_array(array)


def writable(memory: Array) -> Array:
    """An array from a pickle, or a copy of it if it is read-only, as it may be from protocol 5 on."""
    return memory if memory.flags.writeable else memory.copy()


def _rebuilt(kind: type[Any], memory: Array, layout: tuple[Any, ...] | None, requires_grad: bool, state: Any) -> Any:
    """A tensor from its pickle. A class derived from Tensor may define `__setstate__` to take the state."""
    memory = writable(memory)
    array = memory if layout is None else np.ndarray(layout[0], memory.dtype, memory, 0, layout[1])
    array = recognized(array)
    if layout is not None:
        array.flags.writeable = not overlaps(array)
    tensor = leaf_of(kind, array, requires_grad, local.thread.inference)
    if hasattr(kind, "__setstate__"):
        tensor.__setstate__(state)
    else:
        tensor.__dict__.update(state)
    return tensor


@public(name="__reduce_ex__")
def reduced(self: TensorBase, protocol: Any) -> tuple[Any, ...]:
    """The contents of a pickle: the elements and their strides, `requires_grad`, and the attributes.

    It has no history and no `.grad`, so a tensor that is read is a leaf. A class derived from Tensor may define
    `__getstate__` to choose the state.
    """
    if local.thread.functions:
        _check_outside(self)
    apart = getattr(self._array, "reduced", None)
    if apart is not None:
        return apart(self)  # type: ignore[no-any-return]
    array, layout = np.asarray(self._array), None
    if not array.flags.c_contiguous:
        layout = array.shape, array.strides
        array = bytes_between(*array_utils.byte_bounds(array), array).view(array.dtype)
    chosen = type(self).__getstate__ is not object.__getstate__
    state = self.__getstate__() if chosen else dict(vars(self))
    return _rebuilt, (type(self), array, layout, self.requires_grad, state)


methods(deepcopy, reduced, __copy__=shallow_copy)
