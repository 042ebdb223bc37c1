"""Conditions that a program states and that are checked as it runs: `torch._check` and its like.

A message is a function without arguments, which is called only if the condition does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .foundations.dtypes import bool_
from .foundations.errors import noted, warn
from .foundations.names import missing
from .tensors.state.base import TensorBase

__all__ = ["_assert", "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented",
           "_check_tensor_all", "_check_type", "_check_value"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Message = Callable[[], Any] | None


def _assert(condition: Any, message: Any) -> Any:
    """Python's `assert`, as a function that a value of a traced program takes over."""
    taken = getattr(type(condition), "__torch_function__", None)
    if taken is not None and not isinstance(condition, TensorBase):
        return taken(_assert, (type(condition),), (condition, message), {})
    assert condition, message
    return None


def _assert_async(input: Any, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """Raise RuntimeError if the single element of a tensor is 0."""
    if not isinstance(input, TensorBase):
        raise TypeError("_assert_async(): argument 'input' (position 1) must be Tensor, not "
                        f"{type(input).__name__}")
    if not input:
        raise RuntimeError(assert_msg)


def _require(kind: type[Exception], cond: Any, message: Message) -> None:
    """Raise an error of this type if the condition is False."""
    if isinstance(cond, TensorBase):
        raise TypeError("cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() "
                        "to assert that all elements are true.")
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise noted(
            kind("Expected cond to be True, but got False. (Could this error message be improved? If so, please report "
                 "an enhancement request to PyTorch.)"), instead="give a message that says what is expected")
    if not callable(message):
        raise TypeError("message must be a callable")
    raise kind(str(message()))


def _check(cond: Any, message: Message = None) -> None:
    """Raise RuntimeError if the condition is False."""
    _require(RuntimeError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raise ValueError if the condition is False."""
    _require(ValueError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """Raise IndexError if the condition is False."""
    _require(IndexError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """Raise TypeError if the condition is False."""
    _require(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """Raise NotImplementedError if the condition is False."""
    _require(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: int | None = None) -> None:
    """Raise RuntimeError if a number is negative, or larger than `max`."""
    warn("_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     Use "
         "_check(i >= 0) instead.", FutureWarning)
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raise RuntimeError if an element of a tensor of bools is False."""
    if not isinstance(cond, TensorBase):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check(bool(cond._array.all()), message)
