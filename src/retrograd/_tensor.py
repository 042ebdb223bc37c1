"""The class `Tensor` under PyTorch's name of its module, and how a pickle makes a tensor with attributes again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .foundations.names import missing
from .tensors.tensor import Tensor

__all__ = ["Tensor", "_rebuild_from_type_v2"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


def _rebuild_from_type_v2(func: Callable[..., Any], new_type: type[Any], args: tuple[Any, ...], state: Any) -> Any:
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
