"""Calls of a Python function for each element: `apply_`, `map_` and `map2_`. They are slow, and not recorded.

As in PyTorch, versions do not count these writes, so a backward pass does not notice that a saved value has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import letter
from ..arguments.options import check_tensors
from ..recording.public import public
from ..state.base import TensorBase, requires
from ..state.writable import unlock


@public(method=True)
def apply_(self: TensorBase, callable: Callable[[Any], Any]) -> TensorBase:
    """Replace each element by `callable(element)`. Raises RuntimeError if the tensor requires grad.

    >>> import retrograd as torch
    >>> torch.tensor([1., 4.]).apply_(lambda a: a + 1)
    tensor([2., 5.])
    """
    return _put(self, "apply_", callable)


@public(method=True)
def map_(self: TensorBase, other: TensorBase, callable: Callable[[Any, Any], Any]) -> TensorBase:
    """Replace each element by `callable(element, other_element)`, with the element of `other` at the same place."""
    return _put(self, "map_", callable, other=other)


@public(method=True)
def map2_(self: TensorBase, x: TensorBase, y: TensorBase, callable: Callable[[Any, Any, Any], Any]) -> TensorBase:
    """`map_` with two other tensors."""
    return _put(self, "map2_", callable, x=x, y=y)


def _put(tensor: TensorBase, name: str, function: Callable[..., Any], **others: Any) -> TensorBase:
    check_tensors(name, **others)
    array = tensor._array
    if any(map(requires, (tensor, *others.values()))):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    for argument, other in others.items():
        if other.dtype is not tensor.dtype:
            which = f"'{argument}'" if argument == "other" else f"argument '{argument}'"
            raise TypeError(f"{name}: expected torch.{tensor.dtype.legacy}Tensor for {which} (got "
                            f"torch.{other.dtype.legacy}Tensor)")
    sources = [other.expand(array.shape)._array for other in others.values()]
    target = unlock(array)
    kind: Any = {"f": float, "c": complex, "b": bool}.get(letter(array.dtype), int)
    values = [function(*elements) for elements in zip(array.ravel().tolist(), *(s.ravel().tolist() for s in sources))]
    for value in values:
        if isinstance(value, str) or (not hasattr(value, "__float__") and not isinstance(value, complex)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
    target[...] = np.array([kind(value) for value in values], array.dtype).reshape(array.shape)
    return tensor
