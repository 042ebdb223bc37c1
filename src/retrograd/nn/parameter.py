"""Parameters: the tensors that a module owns and an optimiser changes. Must not know modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import DIFFERENTIABLE, default_floating
from ..tensor import printing
from ..tensor.state import State, plain
from ..tensor.tensor import Tensor

__all__ = ["Buffer", "Parameter"]


def _over(cls: type[Any], data: Any) -> Any:
    """A leaf of class `cls` over the memory of the tensor `data`; empty where it is None."""
    if data is None:
        data = plain(np.empty(0, default_floating()))
    elif not isinstance(data, State):
        raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach': {cls.__name__} takes a "
                             "tensor. Make one with torch.tensor(...).")
    leaf = object.__new__(cls)
    leaf._array, leaf._edge, leaf._meta = data._array, None, None
    return leaf


class Parameter(Tensor):
    """A tensor that registers itself when it is assigned to an attribute of a `Module`, and requires grad by default.

    It is a leaf over the memory of `data` (a tensor of any shape). What is computed from it is an ordinary tensor.

    >>> import retrograd as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)

    Raises RuntimeError where `data` is of an integer or bool dtype and `requires_grad` is true.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        parameter: Parameter = _over(cls, data)
        if requires_grad and parameter._array.dtype not in DIFFERENTIABLE:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients. "
                               f"This one is {parameter.dtype!r}: use .float(), or requires_grad=False.")
        parameter.requires_grad = requires_grad
        return parameter

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """All is done by `__new__`; this takes the place of the constructor that makes a tensor from data."""

    def __repr__(self) -> str:
        return printing.parameter_text(super().__repr__())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(plain(self._array.copy(order="K")), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.detach(), self.requires_grad, dict(self.__dict__))


class _BufferType(type):
    """Lets `isinstance(tensor, Buffer)` ask the tensor, since its class is Tensor."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """A tensor that registers itself as a buffer when it is assigned to an attribute of a `Module`.

    With `persistent=False` it is left out of the module's `state_dict`.
    """

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        buffer = _over(Tensor, data)
        buffer.persistent, buffer._is_buffer = persistent, True
        return buffer


def _rebuilt(cls: type[Parameter], data: Any, requires_grad: bool, attributes: dict[str, Any]) -> Parameter:
    """A pickled parameter again."""
    parameter = cls(data, requires_grad)
    parameter.__dict__.update(attributes)
    return parameter
