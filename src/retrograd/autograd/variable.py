"""torch.autograd.Variable, from the time when tensors could not require grad themselves. Every tensor is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..foundations.dtypes import default_floating
from ..foundations.errors import noted, warn
from ..tensors.recording.gradients import queue_callback
from ..tensors.state.base import TensorBase, plain, with_edge


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, TensorBase)


class _EngineBase:
    """The engine as programs name it, to have something called at the end of a backward pass."""

    __slots__ = ()
    __module__ = "torch._C"

    def queue_callback(self, callback: Callable[[], Any], /) -> None:
        """Call `callback()` at the end of the backward pass under way. Raises RuntimeError outside of one."""
        queue_callback(callback)


class Variable(metaclass=_VariableMeta):
    """A tensor over the memory of `data`, without its history. Use `torch.tensor(..., requires_grad=True)` instead.

    >>> import retrograd as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine: ClassVar[_EngineBase] = _EngineBase()

    def __new__(cls, data: TensorBase | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile and requires_grad:
            raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning)
        if data is None:
            return plain(np.zeros(0, default_floating()))
        if not isinstance(data, TensorBase):
            raise noted(
                TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}"),
                "tensors#data-of-variable")
        variable = with_edge(data._array, None)
        if requires_grad:
            variable.requires_grad = True
        return variable
